package isolation

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// RefusedError is the error of a sandbox that cannot be made on this machine.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return "a sandbox cannot be made here: " + e.Err.Error() }

// Unwrap returns the system's reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Hint says what may help.
func (e *RefusedError) Hint() string {
	switch {
	case errors.Is(e.Err, unix.ENOSPC):
		return "there are as many namespaces as this user may have: see /proc/sys/user/max_user_namespaces"
	case errors.Is(e.Err, unix.ENOSYS), errors.Is(e.Err, unix.EINVAL):
		return "it needs Linux 5.12 or later, with user namespaces"
	case readsOne("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"):
		return "AppArmor forbids user namespaces to programs without a profile that allows them: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return "user namespaces are refused, as in most containers: docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined --cap-add SYS_ADMIN, or leave --sandbox out where the container is one already"
}

func readsOne(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// insideName is the variable that tells a process that [Enter] has started it.
const insideName = "TEASEL_INSIDE"

// insideUser is the number that root has in the user namespace: programs that run as user 0 there would have all rights in it.
const insideUser = 1000

// Entered reports whether we are where sandboxes can be made: in a user namespace, with the rights that its maker has.
func Entered() bool {
	if os.Getenv(insideName) == fmt.Sprint(os.Getppid()) {
		return true
	}
	return inside()
}

// inside reports whether we have the rights to make sandboxes in a user namespace that is not the first.
func inside() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && len(strings.Fields(string(text))) == 3 && !strings.Contains(string(text), "4294967295") && ambient()
}

// ambient reports whether we have inherited the right to mount.
func ambient() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_IS_SET, unix.CAP_SYS_ADMIN, 0, 0)
	return err == nil && has == 1
}

// Enter runs this program again, with the same arguments, in a directory ("": ours), in a user namespace in which it may make sandboxes, and in an IPC namespace, and
// returns its exit status. The caller has to end with the same. An error, a [RefusedError], means that it could not be run.
func Enter(dir string) (status int, err error) {
	uid, gid := os.Getuid(), os.Getgid()
	user, group := uid, gid
	if uid == 0 {
		user = insideUser
	}
	if gid == 0 {
		group = insideUser
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0], cmd.Dir = os.Args[0], dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideName+"="+fmt.Sprint(os.Getpid()))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: group, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP, unix.CAP_SYS_PTRACE, unix.CAP_KILL, unix.CAP_DAC_OVERRIDE},
		Pdeathsig:   syscall.SIGKILL,
	}
	terminal := openTerminal()
	terminal.lend(cmd)
	runtime.LockOSThread() // the kernel kills the program when the thread ends that has started it
	defer runtime.UnlockOSThread()
	heard := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		heard = append(heard, syscall.SIGHUP)
	}
	signal.Reset(heard...) // what was to happen here happens there
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, heard...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, &RefusedError{Err: err}
	}
	ended := make(chan struct{})
	handing := make(chan struct{})
	go func() {
		defer close(handing)
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // it may have ended
			case <-ended:
				return
			}
		}
	}()
	ws := terminal.wait(cmd.Process.Pid)
	terminal.takeBack(cmd.Process.Pid)
	close(ended)
	<-handing
	if ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}
