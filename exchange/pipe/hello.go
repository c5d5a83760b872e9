package pipe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	protocol  = 1 // raised whenever messages change
	helloWord = "teasel-pipe"
	module    = "github.com/teaselfuzz/teasel"
	unknown   = "-" // stands for a version that is not known, and fits every other
)

// ErrVersion is what [Dial] and [Serve] return, wrapped, when the programs at the two ends do not fit together.
var ErrVersion = errors.New("versions differ")

// hello is the line that each end begins with.
type hello struct {
	protocol int
	version  string
}

func (h hello) String() string { return fmt.Sprintf("%s %d %s\n", helloWord, h.protocol, h.version) }

func (c *Config) hello() hello {
	v := c.Version
	if v == "" {
		v = programVersion()
	}
	if v == "" || strings.ContainsAny(v, " \n") {
		v = unknown
	}
	return hello{protocol, v}
}

// programVersion returns the version of this module that the program was built with, "" for one that is being developed.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Replace == nil && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}

// readHello reads the line of the other end, and not a byte more than r holds.
func readHello(r *bufio.Reader) (h hello, err error) {
	text, err := r.ReadSlice('\n')
	if err != nil && (len(text) == 0 || !errors.Is(err, bufio.ErrBufferFull)) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return h, fmt.Errorf("reading the greeting: %w", err)
	}
	word, rest, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	number, version, _ := strings.Cut(rest, " ")
	h.version = version
	if h.protocol, err = strconv.Atoi(number); err != nil || word != helloWord {
		return h, fmt.Errorf("reading the greeting: expected %q, found %.40q", helloWord, text)
	}
	return h, nil
}

// fits returns an error that says how the two ends differ, nil if they do not.
func (h hello) fits(other hello) error {
	switch {
	case h.protocol != other.protocol:
		return fmt.Errorf("%w: protocol %d of teasel %s here, protocol %d of teasel %s there", ErrVersion, h.protocol, h.version, other.protocol, other.version)
	case h.version != other.version && h.version != unknown && other.version != unknown:
		return fmt.Errorf("%w: teasel %s here, teasel %s there", ErrVersion, h.version, other.version)
	}
	return nil
}

// greet exchanges greetings. The worker speaks first; the parent answers also when they do not fit, so that both know why.
func greet(ctx context.Context, rw io.ReadWriteCloser, c *Config, first bool) (*bufio.Reader, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.silence(), fmt.Errorf("%w for %v", errSilent, c.silence()))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	own, r := c.hello(), bufio.NewReaderSize(rw, 4096)
	var other hello
	var err error
	if first {
		_, err = io.WriteString(rw, own.String())
	}
	if err == nil {
		other, err = readHello(r)
	}
	if err == nil && !first {
		_, err = io.WriteString(rw, own.String())
	}
	if !stop() {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		err = own.fits(other)
	}
	return r, err
}
