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
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/triage"
)

// Crash is the evidence of a run that crashed or timed out.
type Crash struct {
	Rule    string         // id of the rule it breaks
	Signal  syscall.Signal // 0: the program exited
	Status  int            // exit status, if the program exited
	Access  string         // "read", "write", "execute", "": unknown
	Address uint64         // address that was accessed; 0: unknown, or 0
	PC      uint64         // address of the instruction; 0: unknown
	Stack   []Frame        // innermost first; nil: unknown
	Message string         // one line of the sanitizer or the C library; "": none
	Report  string         // the report of a sanitizer, or the program's standard error
	Trace   uint64         // hash of the edges reached, if there is no stack; 0: unknown
	within  string         // the instruction in the innermost function, if the line is unknown; "": unknown, or none
	Forked  bool           // it was a process that the program had forked, and the program went on
	Before  int            // inputs that the process had run before, if the input stands for several
	Varies  bool           // the edges differ between runs of the input, so that Trace may differ too
	Sampled bool           // Stack is where the program was when it was over a limit, so that the functions may differ too
}

// Frame is one function on a stack; inlined functions have frames of their own.
type Frame struct {
	Function    string // "": unknown
	File        string // "": unknown
	Line        int    // 0: unknown
	Column      int    // from a report; 0: unknown
	Module      string // path of the program or library; "": unknown
	Offset      uint64 // address in the module, as assigned by the linker
	DebugColumn int    // from the debug information, which distinguishes calls on one line; 0: unknown
}

// String returns the frame on one line.
func (f Frame) String() string { return triage.Frame(f).String() }

// set copies the results of package triage.
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

// triage returns the crash as a report of package triage.
func (c *Crash) triage() *triage.Report {
	r := &triage.Report{Message: c.Message, Access: c.Access, Address: c.Address, PC: c.PC, Sampled: c.Sampled}
	fault, _ := strings.CutPrefix(c.Rule, kind)
	r.Fault = triage.Fault(fault)
	for _, f := range c.Stack {
		r.Stack = append(r.Stack, triage.Frame(f))
	}
	return r
}

// ending is how the process of a run ended.
type ending struct {
	killed proc.Reason // why the process was killed by us, if it was
	waited bool        // the run timed out while it waited, and had used less processor time than the limit
	status syscall.WaitStatus
}

// explain fills in the exit and the fault of an ending, given the limits of time and memory. It returns false if a signal that we did
// not send has ended the process: the caller knows more about that.
func (e ending) explain(o *teasel.Observation, c *Crash, r *triage.Report, limit time.Duration, memory uint64) bool {
	switch {
	case e.killed == proc.Timeout:
		o.Exit, r.Fault, r.Message = teasel.ExitHang, triage.Hang, fmt.Sprintf("no end within %v of processor time", limit)
		if e.waited {
			r.Message = fmt.Sprintf("no end far beyond the limit of %v, while it waits without using the processor", limit)
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

// died fills in the observation of a run in which the child died.
func (e *executor) died(o *teasel.Observation, d *sancov.Death, s *sancov.Server) {
	o.Features, o.Exit = o.Features[:0], teasel.ExitCrash
	text := d.Report
	if text == "" {
		text = d.Stderr
	}
	c, r := &Crash{Report: strings.TrimSpace(text)}, &triage.Report{}
	// A sanitizer exits if reporting the fault faults itself, for example if it cannot unwind the stack after a wild jump.
	noted := d.Fault.Signal != 0 && d.Killed == proc.NotKilled && (d.Status.Signaled() || d.Forked || triage.Reported([]byte(text)))
	if end := (ending{d.Killed, d.Waited, d.Status}); !noted && end.explain(o, c, r, e.target.limit(), e.command.Memory) {
		if d.Killed != proc.NotKilled && !(d.Looked && e.threads.explain(r, c)) {
			r.Stack = e.loop(d.Fault, s)
			c.Sampled = len(r.Stack) > 0
		}
		r.RustPanic(text)
	} else {
		c.Signal = d.Status.Signal()
		if d.Fault.Signal != 0 {
			c.Signal = d.Fault.Signal // a sanitizer may have ended the process with another signal
		}
		e.fault(r, c, d.Fault, s)
	}
	reader(&e.symbols).Refine(r, text, d.Stderr)
	if e.confirms {
		c.Report = strings.TrimSpace(reader(&e.symbols).Symbolise(text))
	}
	c.set(r)
	c.Forked = d.Forked
	o.Detail, o.Evidence = c.sentence(r), c
}

// reader returns a reader of sanitizers' reports that removes the frames of our runtime.
func reader(s *triage.Symbols) triage.Reader {
	return triage.Reader{Frames: s.Frames, Trim: withoutRuntime}
}

// fault fills in r for a run that a signal has ended.
func (e *executor) fault(r *triage.Report, c *Crash, f sancov.Fault, s *sancov.Server) {
	r.Message = triage.AbortMessage(c.Report)
	c.signalled(r, e.stack(f.Frames, s), f)
	r.RustPanic(c.Report)
	if r.Stack.Top() == nil && triage.AbortFault(c.Report) == triage.StackOverflow { // the function has returned to an overwritten address
		r.Fault, r.Access = triage.StackOverflow, ""
	}
}

// signalled fills in r for a run that a signal has ended, given its stack and what is known of the signal.
func (c *Crash) signalled(r *triage.Report, stack triage.Stack, f sancov.Fault) {
	r.Address, r.PC = f.Address, f.PC
	r.Access = [...]string{"", "read", "write", "execute"}[f.Access]
	r.Stack = withoutRuntime(stack).CutSmashed()
	if r.Fault = signalFault(r, c.Signal, c.Report, f); r.Fault == triage.Signal {
		r.Message = signalName(c.Signal)
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

// loop returns the stack of a run that timed out: the innermost function, inlined or not, that is common to all samples, and its
// callers.
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

// signalName returns the name of a signal, such as SIGTERM.
func signalName(s syscall.Signal) string {
	const first = 34 // the first real-time signal that the C library does not use itself
	if s >= first {
		return fmt.Sprintf("SIGRTMIN+%d", s-first)
	}
	return cmp.Or(unix.SignalName(s), fmt.Sprintf("signal %d", int(s)))
}

// signalFault returns the fault of a signal. f is what the signal handler has recorded, zero if there was no handler.
func signalFault(r *triage.Report, signal syscall.Signal, stderr string, f sancov.Fault) triage.Fault {
	fault := triage.OfSignal(signal, stderr)
	if fault != triage.InvalidAccess || f.Signal == 0 {
		return fault
	}
	const near = 1 << 16                           // distance from the stack pointer, since a frame may be large
	noCanonical := f.Code == 128 && f.Address == 0 // SI_KERNEL: the address is not canonical and unknown
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

// deep reports whether the stack is so deep that an endless recursion is likely.
func deep(f sancov.Fault) bool { return len(f.Frames) >= 32 }

// sentence describes the crash in one sentence.
func (c *Crash) sentence(r *triage.Report) string {
	var b strings.Builder
	b.WriteString(ruleTitle(c.Rule))
	if c.Access != "" {
		fmt.Fprintf(&b, ", %s of %#x", c.Access, c.Address)
	}
	if where := r.Where(); where != "" && r.Late() {
		b.WriteString(", found " + where)
	} else if where != "" {
		b.WriteString(" " + where)
	}
	if c.within != "" {
		b.WriteString(", at " + c.within)
	}
	again := c.Rule != ruleExit && strings.HasPrefix(strings.ReplaceAll(c.Message, "-", " "), ruleTitle(c.Rule))
	if c.Message != "" && !again {
		fmt.Fprintf(&b, ": %s", c.Message)
	}
	if c.Forked {
		b.WriteString("; it was in a process that the program has forked")
	}
	if c.Before > 0 {
		fmt.Fprintf(&b, "; the process has run %s before, which this needs", noun.Count(c.Before, "other input", ""))
	}
	if last := triage.LastLine(c.Report); last != "" && c.unexplained() {
		fmt.Fprintf(&b, "; the last line on standard error was %q", last)
	}
	return b.String()
}

// unexplained reports whether the program has ended itself, and nothing that is known from any program says why.
func (c *Crash) unexplained() bool {
	return c.Rule == ruleExit || (c.Rule == ruleAbort || c.Rule == ruleTrap) && (c.Message == "" || strings.HasPrefix(c.Message, triage.WhileHandled))
}

// String describes the crash in one sentence.
func (c *Crash) String() string { return c.sentence(c.triage()) }

// group returns a text that distinguishes crashes of the same rule: the place in the program, if that is known.
func (c *Crash) group(r *triage.Report) string {
	key := r.Key()
	if f := r.Stack.Top(); f != nil && f.Line == 0 && r.Fault == triage.Abort { // the compiler may have merged several calls
		place, _ := triage.AbortPlace(c.Report)
		return strings.TrimSpace(key + " " + cmp.Or(place, c.within))
	}
	if key != "" {
		return strings.TrimSpace(key + " " + c.within)
	}
	place, sure := "", false
	switch {
	case c.Rule == ruleExit:
		return c.Message
	case c.Rule == ruleSignal && c.Signal != 0:
		place = signalName(c.Signal)
	case !r.Late() && (c.Signal == syscall.SIGABRT || triage.AbortMessage(c.Report) != ""): // other messages differ from run to run
		place, sure = triage.AbortPlace(c.Report)
	}
	if c.Trace == 0 || sure {
		return place
	}
	return strings.TrimSpace(fmt.Sprintf("%s trace %016x", place, c.Trace))
}

// withoutRuntime removes the frames of our runtime, and of AFL++'s, from the outer end of a stack, and those of what records comparisons: an
// endless recursion may end in there.
func withoutRuntime(stack triage.Stack) (theirs triage.Stack) {
	for _, f := range stack {
		switch name, wrapper := strings.CutPrefix(f.Function, "__wrap_"); {
		case f.Function == "teasel_run" || f.Function == "teasel_child" || f.Function == "teasel_serve" || f.Function == "__wrap_main",
			f.Function == "ExecuteFilesOnyByOne", f.Function == "LLVMFuzzerRunDriver": // of AFL++'s main
			return theirs
		case f.Function == "teasel_number" || f.Function == "teasel_text" || f.Function == "teasel_bytes":
		case !wrapper || !slices.Contains(clang.Compared[:], name):
			theirs = append(theirs, f)
		}
	}
	return theirs
}
