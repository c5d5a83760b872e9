package conn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Place is what one server has for itself: {port}, {dir} and {socket} stand for it in commands and addresses.
type Place struct {
	Port   int
	Dir    string // an empty folder that the server's user may write to
	Socket string // a path in Dir that is short enough for a Unix socket
}

// fill replaces the placeholders.
func (p Place) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer("{port}", strconv.Itoa(p.Port), "{dir}", p.Dir, "{socket}", p.Socket).Replace(text)
}

// Ports are taken from below those that the kernel gives to our connections, of which there are thousands a second.
const (
	firstPort = 20000
	portCount = 12000
)

var portsTaken atomic.Uint32

// newPlace makes a folder for the user with this number and finds a port that nobody listens on.
func newPlace(uid int) (p Place, err error) {
	if p.Dir, err = os.MkdirTemp("", "teasel-net-"); err != nil {
		return p, &StartError{Reason: fmt.Sprintf("it needs a folder of its own in %s, where TMPDIR says that temporary files go: %v", os.TempDir(), err),
			Hint: "set TMPDIR to a folder that exists, may be written to and has room"}
	}
	if os.Geteuid() == 0 {
		err := os.Chown(p.Dir, uid, uid)
		if errors.Is(err, unix.EINVAL) {
			return p, &StartError{Reason: fmt.Sprintf("it is to run as user %d, who does not exist in this user namespace", uid), Hint: "use --user root: root is you here, or whoever has made the namespace"}
		}
		if err != nil {
			return p, err
		}
	}
	p.Socket = filepath.Join(p.Dir, "s")
	p.Port, err = freePort()
	return p, err
}

// freePort returns a port that can be bound on TCP and UDP now. Each call begins behind the one before.
func freePort() (int, error) {
	for range portCount {
		port := firstPort + (os.Getpid()*64+int(portsTaken.Add(1)))%portCount
		if bindable(unix.SOCK_STREAM, port) && bindable(unix.SOCK_DGRAM, port) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free")
}

// renewPort finds another port if the place's cannot be bound. Connections that a server has ended last there for a minute, and
// until then a server that does not set SO_REUSEADDR cannot listen.
func (p *Place) renewPort() (err error) {
	if !bindable(unix.SOCK_STREAM, p.Port) || !bindable(unix.SOCK_DGRAM, p.Port) {
		p.Port, err = freePort()
	}
	return err
}

func bindable(kind, port int) bool {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}

// empty removes what a server has left in its folder, so that the next one finds it as the first did.
func (p Place) empty() error {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return fmt.Errorf("emptying the server's folder: %w", err)
	}
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(p.Dir, e.Name())))
	}
	return err
}

// remove removes the folder.
func (p Place) remove() error {
	if p.Dir == "" {
		return nil
	}
	return os.RemoveAll(p.Dir)
}
