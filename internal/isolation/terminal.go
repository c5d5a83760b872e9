package isolation

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is our controlling terminal. A command in a process group of its own is lent it, as sudo does: it reads the keys, and gets the
// terminal's signals, while our job is in the foreground. The zero value is none.
type terminal struct {
	file *os.File
	ours int // process group
}

// openTerminal opens the terminal, if we have one.
func openTerminal() terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return terminal{}
	}
	return terminal{file: file, ours: unix.Getpgrp()}
}

// foreground returns the process group that is in the foreground; 0: there is none.
func (t terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

func (t terminal) setForeground(group int) {
	_ = unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group) // it may be gone by now
}

// lend has a command begin in a process group of its own, in the foreground if we are there.
func (t terminal) lend(cmd *exec.Cmd) {
	cmd.SysProcAttr.Setpgid = true
	if t.file != nil && t.foreground() == t.ours {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(t.file.Fd())
	}
}

// stopTime is how long it may take until a signal that we send ourselves has stopped us.
const stopTime = 100 * time.Millisecond

// wait waits for a command's end. When it is stopped, by a key for example, all of our job is, until the shell continues it.
func (t terminal) wait(pid int) (ws syscall.WaitStatus) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	for {
		_, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil || !ws.Stopped():
			return ws
		case t.file == nil:
			continue
		}
		_ = syscall.Kill(0, syscall.SIGTSTP) // the others in a pipeline too; nobody where there is no shell that could continue us
		select {
		case <-continued:
		case <-time.After(stopTime):
		}
		if t.foreground() == t.ours {
			t.setForeground(pid)
		}
		_ = syscall.Kill(-pid, syscall.SIGCONT)
	}
}

// takeBack takes the terminal back from a command that has ended.
func (t terminal) takeBack(pid int) {
	if t.file == nil {
		return
	}
	if t.foreground() == pid {
		signal.Ignore(syscall.SIGTTOU) // we are in the background
		t.setForeground(t.ours)
	}
	t.file.Close()
}
