package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Image returns the command with which a running process can be started again, and the absolute path of its program: see
// proc_pid_cmdline(5), proc_pid_environ(5) and proc_pid_exe(5). A process may have overwritten its arguments.
func Image(pid int) (c Command, program string, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	args, err := os.ReadFile(dir + "cmdline")
	if err != nil {
		return c, "", err
	}
	env, err := os.ReadFile(dir + "environ")
	if err != nil {
		return c, "", err
	}
	if c.Dir, err = os.Readlink(dir + "cwd"); err != nil {
		return c, "", err
	}
	c.Args, c.Env = texts(args), texts(env)
	if len(c.Args) == 0 {
		return c, "", fmt.Errorf("process %d has no command", pid)
	}
	// A program may behave differently under the name of a symbolic link: Python finds its modules by that name.
	if _, err := os.Stat(c.Args[0]); err == nil && filepath.IsAbs(c.Args[0]) {
		return c, c.Args[0], nil
	}
	program, err = os.Readlink(dir + "exe")
	return c, program, err
}

// texts splits a list of strings that the kernel terminates with a NUL each.
func texts(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// Children returns the child processes of a process, zombies left out.
func Children(pid int) ([]int, error) {
	all, err := listProcesses(nil)
	if err != nil {
		return nil, err
	}
	var pids []int
	for i := range all {
		if all[i].ppid == pid && !all[i].dead() {
			pids = append(pids, all[i].pid)
		}
	}
	return pids, nil
}
