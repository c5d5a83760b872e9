package native

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
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
	Report  string         // all that a sanitizer or the program has said
	Trace   uint64         // name of all that it has reached, where there is no stack to tell; 0: unknown
}

// Frame is one function of a stack, inlined ones included.
type Frame struct {
	Function string // "": unknown
	File     string // "": unknown
	Line     int    // 0: unknown
	Column   int    // as a report says it; 0: unknown
	Module   string // program or library
	Offset   uint64 // address in it
	column   int    // of the debug information; 0: unknown
}

// String returns the frame on one line.
func (f Frame) String() string {
	name := f.Function
	if name == "" {
		name = fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
	}
	switch {
	case f.File == "":
		return name
	case f.Line == 0: // of several, as where the compiler has merged calls
		return name + " " + f.File
	}
	return fmt.Sprintf("%s %s:%s", name, f.File, f.position())
}

// position returns line and, if it is known, column.
func (f Frame) position() string {
	if f.Column > 0 {
		return fmt.Sprintf("%d:%d", f.Line, f.Column)
	}
	return strconv.Itoa(f.Line)
}

// died fills in what is known of a death.
func (e *executor) died(o *teasel.Observation, d *sancov.Death, s *sancov.Server) {
	o.Features, o.Exit = o.Features[:0], teasel.ExitCrash
	c := &Crash{Report: strings.TrimSpace(d.Report)}
	if c.Report == "" {
		c.Report = strings.TrimSpace(d.Stderr)
	}
	switch {
	case d.Killed == sancov.Slow:
		o.Exit, c.Rule, c.Message = teasel.ExitHang, ruleHang, fmt.Sprintf("no end after %v", e.target.patience(o.Ask))
		c.Stack = e.loop(d.Fault, s)
	case d.Killed == sancov.Fat:
		c.Rule, c.Message = ruleMemory, fmt.Sprintf("more than %d MiB held", e.command.Memory>>20)
	case d.Status.Exited():
		c.Status = d.Status.ExitStatus()
		c.Rule, c.Message = ruleExit, fmt.Sprintf("exit status %d", c.Status)
	default:
		c.Signal = d.Status.Signal()
		if d.Fault.Signal != 0 {
			c.Signal = d.Fault.Signal // a sanitizer makes another of it
		}
		e.fault(c, d, s)
	}
	sanitized(c, d, e.symbols.frame)
	o.Detail, o.Evidence = c.String(), c
}

// fault explains a signal.
func (e *executor) fault(c *Crash, d *sancov.Death, s *sancov.Server) {
	f := d.Fault
	c.Address, c.PC = f.Address, f.PC
	c.Access = [...]string{"", "read", "write", "execute"}[f.Access]
	c.Stack = e.stack(f.Frames, s)
	c.Rule = faultRule(c, f)
	c.Message = libraryMessage(c.Report)
	c.panicked()
	if c.top() == nil && abortRule(c.Report) == ruleStack { // it has returned to what was written there
		c.Rule, c.Access = ruleStack, ""
	}
}

// stack returns the frames of addresses in the program.
func (e *executor) stack(addresses []uint64, s *sancov.Server) (stack []Frame) {
	e.symbols.map_(s.PID())
	for _, pc := range addresses {
		stack = append(stack, e.symbols.address(pc)...)
	}
	return unsmashed(own(stack))
}

// unsmashed cuts a stack behind the function that has found its canary changed: what had called it is overwritten.
func unsmashed(stack []Frame) []Frame {
	i := slices.IndexFunc(stack, func(f Frame) bool { return f.Function == "__stack_chk_fail" }) + 1
	if i == 0 || i == len(stack) {
		return stack
	}
	end := i + 1
	for end < len(stack) && stack[end].Module == stack[i].Module && stack[end].Offset == stack[i].Offset { // inlined there
		end++
	}
	return stack[:end]
}

// loop returns the stack of a run that did not end: the innermost function that it was in each time, inlined or not, and
// what had called that.
func (e *executor) loop(f sancov.Fault, s *sancov.Server) []Frame {
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
	return own(append(at, e.stack(f.Frames[f.Samples:], s)...))
}

// page0 is how far from address 0 a pointer to a structure is taken for null.
const page0 = 1 << 16

func faultRule(c *Crash, f sancov.Fault) string {
	switch c.Signal {
	case syscall.SIGFPE:
		return ruleArithmetic
	case syscall.SIGILL, syscall.SIGTRAP:
		return ruleTrap
	case syscall.SIGABRT:
		return abortRule(c.Report)
	case syscall.SIGSEGV, syscall.SIGBUS:
	default:
		return ruleSignal
	}
	const near = 1 << 16                           // a frame may be large
	noCanonical := f.Code == 128 && f.Address == 0 // SI_KERNEL: the address was none at all
	switch {
	case f.Signal == 0:
		return ruleSegv
	case f.Access == sancov.AccessExecute && f.Address == f.PC && !noCanonical:
		c.Access = "execute"
		return ruleJump
	case f.Address-f.SP+near < 2*near && deep(f):
		return ruleRecursion
	case noCanonical:
		c.Access = ""
		return ruleSegv
	case f.Address < page0:
		return ruleNull
	}
	return ruleSegv
}

// deep reports whether the stack is as deep as we keep, as it is when a recursion has no end.
func deep(f sancov.Fault) bool { return len(f.Frames) >= 32 }

// String returns one sentence.
func (c *Crash) String() string {
	var b strings.Builder
	b.WriteString(ruleTitle(c.Rule))
	if c.Access != "" {
		fmt.Fprintf(&b, ", %s of %#x", c.Access, c.Address)
	}
	if f := c.top(); f != nil && c.late() {
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

// late reports whether the allocator has found out, some time after the heap was damaged.
func (c *Crash) late() bool { return c.Rule == ruleHeap && abortRule(c.Message) == ruleHeap }

// top returns the innermost frame that is the target's own, nil if there is none.
func (c *Crash) top() *Frame {
	for i := range c.Stack {
		if !c.Stack[i].foreign() {
			return &c.Stack[i]
		}
	}
	return nil
}

// group names the bug: where the innermost three of the target's own functions are, the first with its line.
func (c *Crash) group() string {
	if c.Rule == ruleRecursion {
		if cycle := c.cycle(); len(cycle) > 0 {
			return strings.Join(cycle, " < ")
		}
	}
	var parts []string
	for _, f := range c.Stack {
		if f.foreign() {
			continue
		}
		name := f.Function
		if name == "" {
			name = fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
		} else if c.Rule == ruleHang {
			if len(parts) > 0 && parts[len(parts)-1] == name {
				continue // how deep a recursion was, like the line, is chance
			}
		} else if len(parts) == 0 && f.Line > 0 && !c.late() {
			name += ":" + f.position()
		}
		if parts = append(parts, name); len(parts) == 3 {
			break
		}
	}
	if len(parts) == 0 {
		if c.Rule == ruleExit {
			return c.Message
		}
		if c.Trace != 0 {
			return fmt.Sprintf("trace %016x", c.Trace)
		}
		return "" // what a message says differs from one run to the next
	}
	return strings.Join(parts, " < ")
}

// cycle returns the functions that call each other without end, sorted: in which of them the stack ends is chance.
func (c *Crash) cycle() (names []string) {
	count := map[string]int{}
	for _, f := range c.Stack {
		if count[f.Function]++; count[f.Function] == 3 && f.Function != "" {
			names = append(names, f.Function)
		}
	}
	slices.Sort(names)
	return names
}

// foreignFiles and foreignNames are of the languages' libraries, the sanitizers and our runtime, on whose frames a bug
// shows but in which it is not.
var (
	foreignFiles = [...]string{"libc.so", "libm.so", "libc-2.", "ld-linux", "libgcc_s", "libstdc++", "libc++", "libunwind", "libpthread", "libasan", "libubsan"}
	foreignNames = [...]string{"__asan_", "__interceptor_", "__sanitizer", "__msan_", "__ubsan_", "__interception", "___interceptor_",
		"__lsan", "__tsan", "__wrap_", "teasel_", "__sanitizer::", "__asan::", "__ubsan::", "__msan::",
		"std::", "<std::", "__gnu_cxx::", "__cxxabiv1::", "__cxa_", "_Unwind_", "__rust", "_rust", "rust_begin_unwind", "rust_panic", "libfuzzer_sys::",
		"__assert", "__libc_", "__stack_chk_fail", "__fortify_fail", "__chk_fail", "pthread_", "__pthread_kill", "_int_free", "_int_malloc", "_int_realloc"} // of a static program
	// foreignCrates are Rust's, or namespaces of the target's that are called so: those have other sources.
	foreignCrates = [...]string{"core::", "<core::", "alloc::", "<alloc::"}
	foreignSource = regexp.MustCompile(`/(rustc|rustlib|rustc-[0-9.]+)/(\w+/)*library/\w+/src/`) // of Rust's own crates, inlined
	foreignExact  = map[string]bool{"memcpy": true, "memmove": true, "memset": true, "memcmp": true, "strlen": true, "strcpy": true,
		"strcat": true, "strncpy": true, "free": true, "malloc": true, "calloc": true, "realloc": true, "operator delete": true,
		"operator new": true, "operator delete[]": true, "operator new[]": true, "abort": true, "raise": true, "gsignal": true,
		"malloc_printerr": true, "malloc_consolidate": true, "munmap_chunk": true, "unlink_chunk": true}
)

// foreign reports whether the frame says nothing of where the bug is.
func (f Frame) foreign() bool {
	base := filepath.Base(f.Module)
	for _, s := range foreignFiles {
		if strings.HasPrefix(base, s) {
			return true
		}
	}
	for _, s := range foreignNames {
		if strings.HasPrefix(f.Function, s) {
			return true
		}
	}
	for _, s := range foreignCrates {
		if f.File == "" && strings.HasPrefix(f.Function, s) {
			return true
		}
	}
	return foreignExact[f.Function] || foreignSource.MatchString(f.File) || f.Module == "" && f.Function == ""
}

// own cuts our runtime off the outer end of a stack, and leaves out what stands in for the C library's comparisons.
func own(stack []Frame) (theirs []Frame) {
	for _, f := range stack {
		switch name, wrapper := strings.CutPrefix(f.Function, "__wrap_"); {
		case f.Function == "teasel_run" || f.Function == "teasel_child" || f.Function == "teasel_serve" || f.Function == "__wrap_main":
			return theirs
		case !wrapper || !slices.Contains(compared[:], name):
			theirs = append(theirs, f)
		}
	}
	return theirs
}
