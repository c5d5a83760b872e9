package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Image returns what it takes to start a running process again, and the absolute path of its program: see
// proc_pid_cmdline(5) and its neighbours. A process may have written over its arguments.
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
	// Under the name of a symbolic link a program may be another one: a Python's modules are found by it.
	if _, err := os.Stat(c.Args[0]); err == nil && filepath.IsAbs(c.Args[0]) {
		return c, c.Args[0], nil
	}
	program, err = os.Readlink(dir + "exe")
	return c, program, err
}

// texts takes apart what the kernel ends with a NUL each.
func texts(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// Children returns the processes that a process has started, dead ones left out.
func Children(pid int) ([]int, error) {
	all, err := census(nil)
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
