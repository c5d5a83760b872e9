package main

import (
	"os"
	"time"
)

// lifetime ends a process that was left hanging and whose client forgot to kill it.
const lifetime = 10 * time.Minute

func waitForEver() {
	time.Sleep(lifetime)
	os.Exit(4)
}

// spinOnZero: endless-loop. The server reads in the same goroutine, so nothing else is answered.
func spinOnZero(start, end, step int) {
	if step != 0 {
		return
	}
	deadline := time.AfterFunc(lifetime, func() { os.Exit(4) })
	for at := start; at < end; at += step {
	}
	deadline.Stop()
}

// deafToLongLines: deaf-long-line.
func deafToLongLines(line []byte) {
	if len(line) > 512<<10 {
		waitForEver()
	}
}

// matchBacktracking: quadratic-time. It returns where the first = is, -1 if there is none: each .* tries each length.
func matchBacktracking(s string) int {
	for i := range len(s) {
		for j := i; j < len(s); j++ {
			if s[j] == '=' {
				return j
			}
		}
	}
	return -1
}

// matchNested: exponential-time. It tries every way to cut the letters into groups.
func matchNested(s string) bool {
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		return true
	}
	for i := 0; i < len(s) && s[i] >= 'a' && s[i] <= 'z'; i++ {
		if matchNested(s[i+1:]) {
			return true
		}
	}
	return false
}

// traces is what only bugs keep of the past.
type traces struct {
	kept    [][]byte
	rating  int
	garbled bool // a line did not parse
}

func newTraces() traces { return traces{} }

// remember: memory-leak. The pages are written to, or they would not count. It stops before it hurts the machine.
func (t *traces) remember() {
	const (
		each = 256 << 10
		most = 192 << 20
	)
	if len(t.kept) >= most/each {
		return
	}
	block := make([]byte, each)
	for i := 0; i < len(block); i += 1024 {
		block[i] = 1
	}
	t.kept = append(t.kept, block)
}
