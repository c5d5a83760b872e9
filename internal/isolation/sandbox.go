package isolation

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Sandbox says what is around a program. The zero value lets it reach nothing but its home and what it needs to start.
type Sandbox struct {
	Network bool     // the program has our network
	Caches  bool     // the caches of package managers in the user's home can be read and written
	Args    []string // the command: what stands there by its path can be read
	Dir     string   // working directory, which can be read; "": ours
	Write   []string // files and folders that can be written to, and read
}

// OutsideWarning is what a program says that starts a server by itself, to show a finding of a campaign with a sandbox.
const OutsideWarning = "the finding was made in a sandbox of teasel's, and this runs the server outside of it: it can read and change your files and reach your network and processes, " +
	"and may behave differently"

// Hides reports whether a path, or the folder of what is to be made there, is outside, and is not in the sandbox. The homes of programs have
// to be among what they may write to.
func (s *Sandbox) Hides(path string) bool {
	m, err := plan("/", s)
	return err == nil && (m.misses(path) || m.misses(filepath.Dir(path)))
}

// namespaces are those around the programs of a home, with one thread of this process in them. A process belongs to the namespaces of
// the thread that has started it. The thread cannot go back, and ends with them.
type namespaces struct {
	thread int
	calls  chan func()
	first  *first // process 1 of the process namespace: when it ends, the kernel kills the others
}

// newNamespaces makes the namespaces. We have to be in the user namespace of [Enter].
func newNamespaces(home string, s *Sandbox) (*namespaces, error) {
	n := &namespaces{calls: make(chan func())}
	ready := make(chan error)
	go n.serve(home, s, ready)
	if err := <-ready; err != nil {
		return nil, &RefusedError{Err: err}
	}
	return n, nil
}

// serve goes into new namespaces and does what it is asked to there until they are closed.
func (n *namespaces) serve(home string, s *Sandbox, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // the first thread does not end before the program does: take another one
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.serve(home, s, ready)
		}()
		<-done
		return
	}
	// A goroutine that ends while it is locked to a thread ends the thread too.
	n.thread = unix.Gettid()
	err := n.enter(home, s)
	ready <- err
	if err != nil {
		return
	}
	for call := range n.calls {
		call()
	}
}

func (n *namespaces) enter(home string, s *Sandbox) error {
	flags := unix.CLONE_NEWNS | unix.CLONE_NEWPID
	if !s.Network {
		flags |= unix.CLONE_NEWNET
	}
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	if !s.Network {
		if err := LoopbackUp(); err != nil {
			return fmt.Errorf("switching the loopback interface on: %w", err)
		}
	}
	m, err := plan(home, s)
	if err == nil {
		err = m.apply()
	}
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up rights: %w", err)
	}
	if n.first, err = startFirst(); err != nil {
		return err
	}
	return m.protect()
}

// do calls f on their thread, which is bound to the cores of the thread that we are called on: a program that is started there has to
// share the core of its worker.
func (n *namespaces) do(f func() error) error {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		return fmt.Errorf("asking for the cores of a worker: %w", err)
	}
	done := make(chan error)
	n.calls <- func() {
		if err := unix.SchedSetaffinity(0, &cores); err != nil {
			done <- fmt.Errorf("binding a thread to the cores of a worker: %w", err)
			return
		}
		done <- f()
	}
	return <-done
}

// sweep empties what the programs share beside their home.
func (n *namespaces) sweep() error {
	return n.do(func() (err error) {
		for _, dir := range emptyPlaces {
			err = errors.Join(err, emptyFiles(dir))
		}
		return err
	})
}

// close kills what is left in them, and ends their thread.
func (n *namespaces) close() error {
	err := n.first.end()
	close(n.calls)
	return err
}

// LoopbackUp switches on the loopback interface of the network namespace that the calling thread is in.
func LoopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// The words of --sandbox-allow that are no paths.
const (
	AllowNetwork = "net"
	AllowCaches  = "cache"
)

// NewSandbox returns the sandbox for a command that allow opens for the network, for caches, and for writing to paths; nil: on is false.
func NewSandbox(on bool, allow, args []string, dir string, write ...string) *Sandbox {
	if !on {
		return nil
	}
	s := &Sandbox{Args: args, Dir: dir, Write: write}
	for _, word := range allow {
		switch word {
		case AllowNetwork:
			s.Network = true
		case AllowCaches:
			s.Caches = true
		default:
			s.Write = append(s.Write, word)
		}
	}
	return s
}
