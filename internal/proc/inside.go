package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

// StartFixed calls start so that what it starts has fixed addresses, on the thread that on chooses; nil: any.
func StartFixed(on func(start func() error) error, start func() error) error {
	fixed := func() error { return atFixedAddresses(start) }
	if on == nil {
		return fixed()
	}
	return on(fixed)
}

// Inside translates the numbers of processes in another process namespace, in which a program runs that we have started. The zero value
// changes none. Its methods may be called concurrently.
type Inside struct {
	root int           // the program; 0: it is in our namespace
	last atomic.Uint64 // the number there and ours of the process that was looked for last
}

// Start has the numbers translated that a program says which we have started.
func (n *Inside) Start(program int) {
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", program))
	ours, ourErr := os.Readlink("/proc/self/ns/pid")
	if err == nil && ourErr == nil && theirs != ours {
		n.root = program
	}
}

// PID returns our number of the process that calls itself inner, which is the program or descends from it; 0: there is none.
func (n *Inside) PID(inner int) int {
	if n.root == 0 || inner <= 0 {
		return inner
	}
	if last := n.last.Load(); int(last>>32) == inner && numberInside(int(uint32(last))) == inner {
		return int(uint32(last))
	}
	pid := findInside(n.root, inner)
	n.last.Store(uint64(inner)<<32 | uint64(uint32(pid)))
	return pid
}

func findInside(pid, inner int) int {
	if numberInside(pid) == inner {
		return pid
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range bytes.Fields(text) {
			child, _ := strconv.Atoi(string(word))
			if found := findInside(child, inner); found != 0 {
				return found
			}
		}
	}
	return 0
}

// numberInside returns what a process calls itself, 0 if that cannot be read.
func numberInside(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(text, []byte("\nNSpid:"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(words[len(words)-1]))
	return n
}
