package netproto

import (
	"os"
	"syscall"

	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// readOutput discards output that is not a fault report. Where a sanitizer had nothing to tell
// it the names of functions, they are read from the programs.
func (e *executor) readOutput(v *judge.Evidence) {
	if v.Fault < judge.FaultDeath && !judge.Reported(v.Output) {
		v.Output = nil // it logs
	}
	if triage.Reported(v.Output) {
		v.Output = []byte(triage.Reader{Frames: e.symbols.Frames}.Symbolise(string(v.Output)))
	}
}

// noteSignal takes in what is known of a signal that has ended one of the server's processes. Of one that it had forked the
// server goes on as if nothing were: only what the process itself has noted tells of it, or the image of its memory.
func (e *executor) noteSignal(t *talk) {
	v := &e.evidence
	signal, at := e.coverage.fault()
	stack, guessed := frames(at), false
	if signal == 0 && e.server != nil && v.Fault < judge.FaultDeath {
		images := e.server.Fallen()
		signal, stack = e.imaged(images)
		guessed = true
		for _, path := range images {
			_ = os.Remove(path) // the next one is of another process
		}
	}
	switch {
	case signal == 0 || v.Fault == judge.FaultDeath && v.Signal == 0:
		return
	case v.Fault < judge.FaultDeath:
		t.blame(judge.FaultDeath, "")
		v.Signal, v.Forked = signal, true
	}
	if len(stack) > 0 {
		v.Stack, v.Guessed = stack, guessed
	}
}

// imaged returns which signal has ended the process of the last of these images of memory that can be read, and in which
// functions. 0: none can be read.
func (e *executor) imaged(paths []string) (signal syscall.Signal, stack []judge.Frame) {
	for _, path := range paths {
		if ended, at, err := e.symbols.Core(path); err == nil {
			signal, stack = ended, frames(at)
		}
	}
	return signal, stack
}

func frames(stack triage.Stack) (fs []judge.Frame) {
	for _, f := range stack {
		fs = append(fs, judge.Frame(f))
	}
	return fs
}
