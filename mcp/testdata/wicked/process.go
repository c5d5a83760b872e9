package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

// processModes misbehave as processes.
func processModes() []mode {
	return []mode{
		{"stubborn", "ignores SIGTERM, SIGINT, SIGHUP and the end of its stdin", func([]string) int {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			(&plain{}).serve()
			return waitForEver()
		}},
		{"fork", "starts a child in its process group, which holds its streams open", func([]string) int {
			return forked(false)
		}},
		{"fork-session", "starts a child in a session of its own, which ignores SIGTERM and holds its streams open", func([]string) int {
			return forked(true)
		}},
		{"child", "what fork starts; nothing to be run by hand", func([]string) int {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			return waitForEver()
		}},
		{"exit-each-100", "exits with status 0 after each hundred requests", func([]string) int {
			n := 0
			p := &plain{after: func(*message, string) {
				if n++; n == 100 {
					os.Exit(0)
				}
			}}
			return p.serve()
		}},
		{"leak-files", "opens one more file with each request and never closes it", func([]string) int {
			var open []*os.File
			p := &plain{before: func(*message) {
				f, err := os.Open(os.DevNull)
				if err != nil {
					fmt.Fprintln(os.Stderr, "wicked:", err)
					os.Exit(1)
				}
				open = append(open, f)
			}}
			return p.serve()
		}},
		{"balloon", "takes as many MB as its second argument says, 10 more with each call", balloon},
		{"killed", "dies by SIGKILL on its tenth request, as if the kernel's memory were out", func([]string) int {
			n := 0
			p := &plain{before: func(*message) {
				if n++; n == 10 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					waitForEver()
				}
			}}
			return p.serve()
		}},
	}
}

// forked starts a child and tells its number on stderr, as "child 1234".
func forked(session bool) int {
	program, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "wicked:", err)
		return 4
	}
	child := exec.Command(program, "child")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "wicked:", err)
		return 4
	}
	fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
	return (&plain{}).serve()
}

func balloon(arguments []string) int {
	most := 100
	if len(arguments) > 0 {
		n, err := strconv.Atoi(arguments[0])
		if err != nil || n < 0 || n > math.MaxInt32 {
			fmt.Fprintf(os.Stderr, "wicked: %q is no number of MB\n", arguments[0])
			return 2
		}
		most = n
	}
	const each = 10
	var kept [][]byte
	p := &plain{before: func(m *message) {
		if m.Method != "tools/call" || len(kept)*each >= most {
			return
		}
		block := make([]byte, each<<20)
		for i := 0; i < len(block); i += 1024 {
			block[i] = 1
		}
		kept = append(kept, block)
	}}
	return p.serve()
}
