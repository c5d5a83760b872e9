package plantedtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// script is a dialogue with the server, read from a text file:
//
//	# name        a new dialogue with a new process
//	@ 2025-06-18  the version to initialize, or raw for no initialize; 2025-11-25 without this line
//	> line        a line to send
//	< line        the next line that the server must write; between slashes a regular expression
//	exit 2        the server must end with this status before its stdin does
//	signal NAME   the server must die by this signal
//	stderr REGEXP the server must write a match to stderr; without this line it must write nothing there
//	silent        the server must keep running and must not answer any more
//
// In a dialogue without the last four kinds of line, the server must finally answer a ping, write nothing before that reply, and
// exit with status 0 when its stdin is closed. A line that starts with + applies only to the server with the bug that has the name
// of the dialogue, a line with - only to the server without it. «text*5» stands for five times the text, «hex:ff» for a byte.
type script struct {
	name    string
	version string
	steps   []step
}

type step struct {
	only byte // '+', '-' or 0 for both
	verb string
	text string
}

func readScripts(t *testing.T, file string) []script {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var scripts []script
	for number, line := range strings.Split(string(data), "\n") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			scripts = append(scripts, script{name: name, version: "2025-11-25"})
			continue
		}
		if line == "" {
			continue
		}
		if len(scripts) == 0 {
			t.Fatalf("%s:%d: a step before the first name", file, number+1)
		}
		s := &scripts[len(scripts)-1]
		var st step
		if line[0] == '+' || line[0] == '-' {
			st.only, line = line[0], line[1:]
		}
		st.verb, st.text, _ = strings.Cut(line, " ")
		switch st.verb {
		case "@":
			s.version = st.text
			continue
		case ">", "<", "exit", "signal", "stderr", "silent":
		default:
			t.Fatalf("%s:%d: unknown step: %s", file, number+1, line)
		}
		s.steps = append(s.steps, st)
	}
	return scripts
}

var macro = regexp.MustCompile(`«[^»]*»`)

// expand replaces the macros of a line.
func expand(t *testing.T, line string) string {
	t.Helper()
	return macro.ReplaceAllStringFunc(line, func(m string) string {
		m = strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»")
		if digits, ok := strings.CutPrefix(m, "hex:"); ok {
			b, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		at := strings.LastIndexByte(m, '*')
		n, err := strconv.Atoi(m[at+1:])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Repeat(m[:at], n)
	})
}

// answerTimeout is how long a server may take to answer on the slowest machine; only a hang exceeds it.
const answerTimeout = time.Minute

// server is a running server.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // closed at the end of its stdout
	stderr words
}

// words keeps the first MiB of a server's stderr.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() < 1<<20 {
		w.text.Write(p)
	}
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// start runs a program with a canary above its working directory and another in its environment.
func start(t *testing.T, program string, arguments ...string) *server {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(dir, "canary.txt"), []byte("file canary\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "canary.txt.md"), []byte("file canary\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{t: t, cmd: exec.CommandContext(ctx, program, arguments...), lines: make(chan string, 1024)}
	s.cmd.Dir = work
	s.cmd.Env = append(os.Environ(), "PLANTED_API_TOKEN=env-canary", destroyedEnv+"="+filepath.Join(dir, "destroyed"))
	s.cmd.Stderr = &s.stderr
	in, err1 := s.cmd.StdinPipe()
	out, err2 := s.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	s.in = in
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(s.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				s.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range s.lines {
		}
		<-read
		_ = s.cmd.Wait() // the test may have called it already; the error does not matter
	})
	return s
}

const destroyedEnv = "TEASEL_DESTROYED"

func (s *server) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		s.t.Fatalf("sending: %v", err)
	}
}

// next returns the next line, or false at the end of the server's stdout.
func (s *server) next() (string, bool) {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		return line, ok
	case <-time.After(answerTimeout):
		s.t.Fatal("the server does not answer")
		return "", false
	}
}

// expect reads the next line and compares it.
func (s *server) expect(want string) {
	s.t.Helper()
	got, ok := s.next()
	if !ok {
		s.t.Fatalf("the server's stdout has ended, want\n  %s\nstderr: %s", brief(want), s.stderr.String())
	}
	if len(want) > 2 && want[0] == '/' && want[len(want)-1] == '/' {
		if !regexp.MustCompile(want[1 : len(want)-1]).MatchString(got) {
			s.t.Fatalf("got\n  %s\nwant a match of\n  %s", brief(got), want)
		}
		return
	}
	if got != want {
		s.t.Fatalf("got\n  %s\nwant\n  %s", brief(got), brief(want))
	}
}

func brief(line string) string {
	if len(line) > 600 {
		return line[:600] + "..."
	}
	return line
}

const (
	initialized  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	sentinel     = `{"jsonrpc":"2.0","id":"sentinel","method":"ping"}`
	sentinelBack = `{"jsonrpc":"2.0","id":"sentinel","result":{}}`
)

func (s *server) initialize(version string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version))
	s.expect(`/^\{"jsonrpc":"2\.0","id":"init","result":\{"protocolVersion":"` + version + `",/`)
	s.send(initialized)
}

// finish closes the server's stdin and waits: the server must exit with status 0 and write nothing more.
func (s *server) finish() {
	s.t.Helper()
	if err := s.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		s.t.Fatalf("closing: %v", err)
	}
	if line, ok := s.next(); ok {
		s.t.Fatalf("after the end of stdin the server wrote\n  %s", brief(line))
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ended with %v, want status 0", err)
	}
	if text := s.stderr.String(); text != "" {
		s.t.Errorf("stderr: %s", brief(text))
	}
}

// run performs the dialogue of a script. planted tells whether the server has the bug.
func (sc script) run(t *testing.T, s *server, planted bool) {
	t.Helper()
	if sc.version != "raw" {
		s.initialize(sc.version)
	}
	skip := byte('+')
	if planted {
		skip = '-'
	}
	var ending []step
	for _, st := range sc.steps {
		switch {
		case st.only == skip:
		case st.verb == ">":
			s.send(expand(t, st.text))
		case st.verb == "<":
			s.expect(expand(t, st.text))
		default:
			ending = append(ending, st)
		}
	}
	if len(ending) == 0 {
		s.send(sentinel)
		s.expect(sentinelBack)
		s.finish()
		return
	}
	s.end(ending)
}

// end checks how a server ends that is expected to fail.
func (s *server) end(ending []step) {
	s.t.Helper()
	if ending[0].verb == "silent" {
		s.send(sentinel)
		select {
		case line, ok := <-s.lines:
			s.t.Fatalf("got %s (stdout open: %t), want silence", brief(line), ok)
		case <-time.After(500 * time.Millisecond):
		}
		return
	}
	if line, ok := s.next(); ok {
		s.t.Fatalf("got\n  %s\nwant the server's death", brief(line))
	}
	_ = s.cmd.Wait() // the status is judged below
	status := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	quiet := true
	for _, st := range ending {
		switch st.verb {
		case "exit":
			if got := strconv.Itoa(status.ExitStatus()); got != st.text {
				s.t.Errorf("exit status %s, want %s", got, st.text)
			}
		case "signal":
			if !status.Signaled() || status.Signal().String() != st.text {
				s.t.Errorf("it ended with %v, want death by %s", s.cmd.ProcessState, st.text)
			}
		case "stderr":
			quiet = false
			if !regexp.MustCompile(st.text).MatchString(s.stderr.String()) {
				s.t.Errorf("stderr has no match of %s:\n%s", st.text, brief(s.stderr.String()))
			}
		}
	}
	if text := s.stderr.String(); quiet && text != "" {
		s.t.Errorf("stderr: %s", brief(text))
	}
}
