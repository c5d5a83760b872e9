package conn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/internal/proc"
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

// newPlace makes a folder in scratch, or where temporary files go, for the user with this number and finds a port that nobody listens on.
func newPlace(uid int, scratch string) (p Place, err error) {
	if p.Dir, err = os.MkdirTemp(scratch, "teasel-net-"); err != nil {
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
	p.Port, err = proc.FreePort()
	return p, err
}

// renewPort finds another port if the place's cannot be bound. Connections that a server has ended last there for a minute, and
// until then a server that does not set SO_REUSEADDR cannot listen.
func (p *Place) renewPort() (err error) {
	if !proc.PortIsFree(p.Port) {
		p.Port, err = proc.FreePort()
	}
	return err
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
