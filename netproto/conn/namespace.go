package conn

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/internal/isolation"
)

// namespace is a network namespace (see network_namespaces(7)) with a loopback interface and nothing else, so that a server in
// it can have a port that is in use elsewhere on this machine. nil is the network of the program itself. One goroutine at a time
// uses it.
//
// A socket belongs to the namespace that the thread was in which made it, and a process to that of the thread which started it.
// Any thread of a Go program may run any goroutine, so one thread is set apart: it goes into the namespace, makes sockets and starts
// processes there, and ends with it. It cannot go back and be used for something else, because that takes rights in the namespace it
// came from, which a process in a user namespace does not have.
type namespace struct {
	thread int // its number
	id     string
	calls  chan func()
	within func(func() error) error // does so in place of calls where the namespace is a sandbox's; nil: it is ours
	spare  map[socketKind][]int     // sockets that nobody has used
}

type socketKind struct{ family, kind, protocol int }

// spareSockets is how many sockets are made at a time. To have another thread do something takes several times as long as to make
// a socket.
const spareSockets = 16

// threadEnd is how long the kernel may take to end a thread.
const threadEnd = 5 * time.Second

// NamespaceAllowed makes a network namespace and removes it. The error, a [StartError], says why that cannot be done and what would
// help.
func NamespaceAllowed() error {
	n, err := newNamespace(unix.Unshare)
	if err != nil {
		return err
	}
	return n.close()
}

// newNamespace makes a namespace. unshare is the system call.
func newNamespace(unshare func(flags int) error) (*namespace, error) {
	n := &namespace{calls: make(chan func()), spare: map[socketKind][]int{}}
	ready := make(chan error)
	go n.serve(unshare, ready)
	if err := <-ready; err != nil {
		return nil, refused(err)
	}
	return n, nil
}

// joined returns the namespace of a home's sandbox, which ends with that.
func joined(r *isolation.Home) *namespace {
	return &namespace{thread: r.Thread(), within: r.Do, spare: map[socketKind][]int{}}
}

// serve goes into a new namespace and does what it is asked to there until it is closed.
func (n *namespace) serve(unshare func(flags int) error, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // the first thread does not end before the program does: take another one
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.serve(unshare, ready)
		}()
		<-done
		return
	}
	// A goroutine that ends while it is locked to a thread ends the thread too. There is no way back from the namespace.
	n.thread = unix.Gettid()
	err := unshare(unix.CLONE_NEWNET)
	if err == nil {
		err = isolation.LoopbackUp()
	}
	if err == nil {
		n.id, err = os.Readlink(n.file("ns/net"))
	}
	ready <- err
	if err != nil {
		return
	}
	for call := range n.calls {
		call()
	}
}

// refused explains why there can be no namespace.
func refused(err error) error {
	e := &StartError{Reason: fmt.Sprintf("a network namespace cannot be made: %v", err)}
	switch {
	case errors.Is(err, unix.ENOSPC):
		e.Hint = "there are as many as this user may have: see /proc/sys/user/max_net_namespaces"
	case errors.Is(err, unix.EINVAL):
		e.Hint = "the kernel was built without them (CONFIG_NET_NS)"
	case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES):
	case os.Geteuid() == 0:
		e.Hint = "root needs the capabilities SYS_ADMIN and NET_ADMIN, which a container has to be given: docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN"
	default:
		e.Hint = "run teasel as root, or in a user namespace: unshare --map-current-user --keep-caps teasel ..."
	}
	return e
}

// do calls f on a thread that is in the namespace.
func (n *namespace) do(f func() error) error {
	if n == nil {
		return f()
	}
	if n.within != nil {
		return n.within(f)
	}
	done := make(chan error)
	n.calls <- func() { done <- f() }
	return <-done
}

// socket makes a socket in the namespace, as socket(2) does.
func (n *namespace) socket(family, kind, protocol int) (fd int, err error) {
	if n == nil {
		return unix.Socket(family, kind, protocol)
	}
	of := socketKind{family, kind, protocol}
	spare := n.spare[of]
	if len(spare) == 0 {
		err = n.do(func() error {
			for len(spare) < spareSockets {
				fd, err := unix.Socket(family, kind, protocol)
				if err != nil {
					return err
				}
				spare = append(spare, fd)
			}
			return nil
		})
		if len(spare) == 0 {
			return -1, err
		}
	}
	last := len(spare) - 1
	n.spare[of] = spare[:last]
	return spare[last], nil
}

// file returns the path of a file in /proc that says something of the namespace, such as net/tcp. Every thread may read it.
func (n *namespace) file(name string) string {
	if n == nil {
		return "/proc/self/" + name
	}
	return fmt.Sprintf("/proc/self/task/%d/%s", n.thread, name)
}

// close returns when the program has nothing in the namespace any more. The kernel removes it when no process and no socket of
// anybody else's is in it either.
func (n *namespace) close() (err error) {
	if n == nil {
		return nil
	}
	for _, fds := range n.spare {
		for _, fd := range fds {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	if n.within != nil {
		return err
	}
	close(n.calls)
	for deadline, pause := time.Now().Add(threadEnd), 20*time.Microsecond; ; time.Sleep(pause) {
		if id, gone := os.Readlink(n.file("ns/net")); gone != nil || id != n.id {
			return err
		}
		if time.Now().After(deadline) {
			return errors.Join(err, errors.New("leaving a network namespace: its thread does not end"))
		}
	}
}
