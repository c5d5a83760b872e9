package native

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/triage"
)

// Crash is the evidence of a run that did not end by itself.
type Crash struct {
	Rule    string         // id of the rule it breaks
	Signal  syscall.Signal // 0: it exited
	Status  int            // exit status, if it exited
	Access  string         // "read", "write", "execute", "": unknown
	Address uint64         // that was accessed; 0: unknown, or 0
	PC      uint64         // address of the instruction
	Stack   []Frame        // innermost first
	Message string         // one line, of the sanitizer or the C library; "": none
	Report  string         // all that a sanitizer or the program has written
	Trace   uint64         // hash of the edges that it reached, where there is no stack; 0: unknown
	Varies  bool           // the edges differ from one run of the input to the next, and so may Trace
}

// Frame is one function of a stack, inlined ones included.
type Frame struct {
	Function    string // "": unknown
	File        string // "": unknown
	Line        int    // 0: unknown
	Column      int    // as a report says it; 0: unknown
	Module      string // program or library
	Offset      uint64 // address in it
	DebugColumn int    // of the debug information, which tells calls on one line apart; 0: unknown
}

// String returns the frame on one line.
func (f Frame) String() string { return triage.Frame(f).String() }

// set takes over what the stack triage has found out.
func (c *Crash) set(r *triage.Report) {
	c.Rule, c.Message, c.Access, c.Address, c.PC = kind+string(r.Fault), r.Message, r.Access, r.Address, r.PC
	c.Stack = frames(r.Stack)
}

func frames(stack triage.Stack) (fs []Frame) {
	for _, f := range stack {
		fs = append(fs, Frame(f))
	}
	return fs
}

// triage returns what names the crash.
func (c *Crash) triage() *triage.Report {
	r := &triage.Report{Message: c.Message, Access: c.Access, Address: c.Address, PC: c.PC}
	fault, _ := strings.CutPrefix(c.Rule, kind)
	r.Fault = triage.Fault(fault)
	for _, f := range c.Stack {
		r.Stack = append(r.Stack, triage.Frame(f))
	}
	return r
}

// ending is how the process of a run ended.
type ending struct {
	killed proc.Reason // by us
	waited bool        // it was killed because it waited, and had used less processor time than its limit
	status syscall.WaitStatus
}

// explain fills in what such an ending means where a run may take so much time and hold so many bytes. False: a signal has
// ended it that we did not send, of which the caller knows more.
func (e ending) explain(o *teasel.Observation, c *Crash, r *triage.Report, limit time.Duration, memory uint64) bool {
	switch {
	case e.killed == proc.Timeout:
		o.Exit, r.Fault, r.Message = teasel.ExitHang, triage.Hang, fmt.Sprintf("no end within %v of processor time", limit)
		if e.waited {
			r.Message = fmt.Sprintf("no end, and it waits instead of working, far beyond the limit of %v", limit)
		}
	case e.killed == proc.MemoryLimit:
		r.Fault, r.Message = triage.OutOfMemory, fmt.Sprintf("more than %d MiB held", memory>>20)
	case e.status.Exited():
		c.Status = e.status.ExitStatus()
		r.Fault, r.Message = triage.Exit, fmt.Sprintf("exit status %d", c.Status)
	default:
		return false
	}
	return true
}

// died fills in what is known of a death.
func (e *executor) died(o *teasel.Observation, d *sancov.Death, s *sancov.Server) {
	o.Features, o.Exit = o.Features[:0], teasel.ExitCrash
	text := d.Report
	if text == "" {
		text = d.Stderr
	}
	c, r := &Crash{Report: strings.TrimSpace(text)}, &triage.Report{}
	// A sanitizer that dies of the fault that it reports, as when the stack cannot be read after a wild jump, exits.
	noted := d.Fault.Signal != 0 && d.Killed == proc.NotKilled && (d.Status.Signaled() || triage.Reported([]byte(text)))
	if end := (ending{d.Killed, d.Waited, d.Status}); !noted && end.explain(o, c, r, e.target.limit(), e.command.Memory) {
		if o.Exit == teasel.ExitHang {
			r.Stack = e.loop(d.Fault, s)
		}
		r.RustPanic(text)
	} else {
		c.Signal = d.Status.Signal()
		if d.Fault.Signal != 0 {
			c.Signal = d.Fault.Signal // a sanitizer makes another of it
		}
		e.fault(r, c, d.Fault, s)
	}
	reader(&e.symbols).Refine(r, text, d.Stderr)
	if e.confirms {
		c.Report = strings.TrimSpace(reader(&e.symbols).Symbolise(text))
	}
	c.set(r)
	o.Detail, o.Evidence = c.sentence(r), c
}

// reader reads sanitizers' reports of a program with our runtime.
func reader(s *triage.Symbols) triage.Reader {
	return triage.Reader{Frames: s.Frames, Trim: withoutRuntime}
}

// fault explains the signal that has ended a run.
func (e *executor) fault(r *triage.Report, c *Crash, f sancov.Fault, s *sancov.Server) {
	r.Address, r.PC = f.Address, f.PC
	r.Access = [...]string{"", "read", "write", "execute"}[f.Access]
	r.Stack = e.stack(f.Frames, s)
	r.Message = triage.AbortMessage(c.Report)
	if r.Fault = signalFault(r, c.Signal, c.Report, f); r.Fault == triage.Signal {
		r.Message = signalName(c.Signal)
	}
	r.RustPanic(c.Report)
	if r.Stack.Top() == nil && triage.AbortFault(c.Report) == triage.StackOverflow { // it has returned to what was written there
		r.Fault, r.Access = triage.StackOverflow, ""
	}
}

// stack returns the frames of addresses in the program.
func (e *executor) stack(addresses []uint64, s *sancov.Server) (stack triage.Stack) {
	e.symbols.Of(s.PID())
	for _, pc := range addresses {
		stack = append(stack, e.symbols.Address(pc)...)
	}
	return withoutRuntime(stack).CutSmashed()
}

// loop returns the stack of a run that did not end: the innermost function that it was in at each sample, inlined or not,
// and the functions that had called it.
func (e *executor) loop(f sancov.Fault, s *sancov.Server) triage.Stack {
	if f.Samples == 0 {
		return nil
	}
	at := e.stack(f.Frames[:1], s)
	for _, pc := range f.Frames[1:f.Samples] {
		other, n := e.stack([]uint64{pc}, s), 0
		for n < min(len(at), len(other)) && at[len(at)-1-n].Function == other[len(other)-1-n].Function {
			n++
		}
		at = at[len(at)-n:]
	}
	return withoutRuntime(append(at, e.stack(f.Frames[f.Samples:], s)...))
}

// signalName returns the name of a signal, as SIGTERM.
func signalName(s syscall.Signal) string {
	const first = 34 // of those for real time that the C library leaves to programs
	if s >= first {
		return fmt.Sprintf("SIGRTMIN+%d", s-first)
	}
	return cmp.Or(unix.SignalName(s), fmt.Sprintf("signal %d", int(s)))
}

// signalFault says what a signal means, given what its handler has seen; f is zero if there was no handler.
func signalFault(r *triage.Report, signal syscall.Signal, stderr string, f sancov.Fault) triage.Fault {
	fault := triage.OfSignal(signal, stderr)
	if fault != triage.InvalidAccess || f.Signal == 0 {
		return fault
	}
	const near = 1 << 16                           // a frame may be large
	noCanonical := f.Code == 128 && f.Address == 0 // SI_KERNEL: the address was none at all
	switch {
	case f.Access == sancov.AccessExecute && f.Address == f.PC && !noCanonical:
		r.Access = "execute"
		return triage.WildJump
	case f.Address-f.SP+near < 2*near && deep(f):
		return triage.Recursion
	case noCanonical:
		r.Access = ""
		return triage.InvalidAccess
	case f.Address < triage.NullPage:
		return triage.NullAccess
	}
	return triage.InvalidAccess
}

// deep reports whether the stack is as deep as we keep, as it is when a recursion has no end.
func deep(f sancov.Fault) bool { return len(f.Frames) >= 32 }

// sentence says what has happened.
func (c *Crash) sentence(r *triage.Report) string {
	var b strings.Builder
	b.WriteString(ruleTitle(c.Rule))
	if c.Access != "" {
		fmt.Fprintf(&b, ", %s of %#x", c.Access, c.Address)
	}
	if f := r.Stack.Top(); f != nil && r.Late() {
		fmt.Fprintf(&b, ", found in %v", *f)
	} else if f != nil {
		fmt.Fprintf(&b, " in %v", *f)
	}
	again := c.Rule != ruleExit && strings.HasPrefix(strings.ReplaceAll(c.Message, "-", " "), ruleTitle(c.Rule))
	if c.Message != "" && !again {
		fmt.Fprintf(&b, ": %s", c.Message)
	}
	return b.String()
}

// String returns one sentence.
func (c *Crash) String() string { return c.sentence(c.triage()) }

// group tells crashes of one rule apart, by the place in the program where that is known.
func (c *Crash) group(r *triage.Report) string {
	if key := r.Key(); key != "" {
		return key
	}
	place, sure := "", false
	switch {
	case c.Rule == ruleExit:
		return c.Message
	case c.Rule == ruleSignal && c.Signal != 0:
		place = signalName(c.Signal)
	case !r.Late() && (c.Signal == syscall.SIGABRT || triage.AbortMessage(c.Report) != ""): // other messages differ from one run to the next
		place, sure = triage.AbortPlace(c.Report)
	}
	if c.Trace == 0 || sure {
		return place
	}
	return strings.TrimSpace(fmt.Sprintf("%s trace %016x", place, c.Trace))
}

// withoutRuntime cuts our runtime off the outer end of a stack, and leaves out what stands in for the C library's comparisons.
func withoutRuntime(stack triage.Stack) (theirs triage.Stack) {
	for _, f := range stack {
		switch name, wrapper := strings.CutPrefix(f.Function, "__wrap_"); {
		case f.Function == "teasel_run" || f.Function == "teasel_child" || f.Function == "teasel_serve" || f.Function == "__wrap_main":
			return theirs
		case !wrapper || !slices.Contains(clang.Compared[:], name):
			theirs = append(theirs, f)
		}
	}
	return theirs
}
