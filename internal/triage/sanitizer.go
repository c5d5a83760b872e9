package triage

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x...", "==7==WARNING: MemorySanitizer: use-of-...",
	// "==7== ERROR: libFuzzer: deadly signal"
	headline = regexp.MustCompile(`(?m)^(?:==\d+== ?)?(?:ERROR|WARNING): (\w+Sanitizer|libFuzzer): (.*)$`)
	// "a.c:3:5: runtime error: signed integer overflow: ..."
	runtimeError = regexp.MustCompile(`(?m)^(.+?):(\d+):\d+: runtime error: (.*)$`)
	// "    #0 0x4f3b (/tmp/a+0x4f3b)" and "    #1 0x4f3b in main /tmp/a.c:3:5"
	stackLine      = regexp.MustCompile(`^\s+#(\d+) 0x([0-9a-f]+)(?: in (.+?))?(?:\s+\((/.+|[^()]+)\+0x([0-9a-f]+)\)| (/.+?|\S+?)(?::(\d+))?(?::\d+)?)?(?: \(BuildId: \w+\))?\s*$`)
	accessLine     = regexp.MustCompile(`(?m)^(READ|WRITE) of size|caused by a (READ|WRITE) memory access`)
	programCounter = regexp.MustCompile(`\(pc 0x([0-9a-f]+)`)
	// "  Previous write of size 4 at 0x56438a0e24a0 by thread T1:"
	racingLine = regexp.MustCompile(`(?m)^  (?:Previous )?((?i:atomic )?(?i:read|write)) of size \d+ at 0x[0-9a-f]+ by .*:$`)
	// The end of "attempting double-free on 0x602000000010 in thread T0:"
	messageTail = regexp.MustCompile(`(?:(?: on|:) 0x[0-9a-f]+)?(?: in thread T\d+:?| \(thread T\d+\))$| on 0x[0-9a-f]+$`)
	// libFuzzer's message of a single allocation that is larger than the limit
	largeAllocation = regexp.MustCompile(`^out-of-memory \(malloc\((\d+)\)\)$`)
	processText     = regexp.MustCompile(` \(pid=\d+\)$`)
	addressText     = regexp.MustCompile(`address 0x([0-9a-f]+)`)
)

// headlines are the beginnings of sanitizers' headlines, and their faults.
var headlines = [...]struct {
	words string
	fault Fault
}{
	{"heap-buffer-overflow", HeapOverflow}, {"container-overflow", HeapOverflow}, {"intra-object-overflow", HeapOverflow},
	{"stack-buffer-overflow", StackOverflow}, {"stack-buffer-underflow", StackOverflow}, {"dynamic-stack-buffer-overflow", StackOverflow},
	{"global-buffer-overflow", GlobalOverflow},
	{"heap-use-after-free", UseAfterFree}, {"stack-use-after", UseAfterScope}, {"use-after-poison", UseAfterFree},
	{"attempting double-free", DoubleFree}, {"attempting free", BadFree}, {"bad-free", BadFree}, {"alloc-dealloc-mismatch", BadFree},
	{"attempting to call", BadFree}, {"new-delete-type-mismatch", BadFree},
	{"unknown-crash", InvalidAccess}, {"stack-overflow", Recursion}, {"use-of-uninitialized-value", Uninitialised},
	{"requested allocation size", OutOfMemory}, {"out of memory", OutOfMemory}, {"allocator is out of memory", OutOfMemory},
	{"calloc parameters overflow", OutOfMemory}, {"reallocarray parameters overflow", OutOfMemory}, {"pvalloc parameters overflow", OutOfMemory}, {"hard rss limit", OutOfMemory}, {"allocation-size-too-big", OutOfMemory}, {"FPE", Arithmetic}, {"ILL", Trap}, {"TRAP", Trap},
	{"detected memory leaks", Leak}, {"data race", DataRace}, {"lock-order-inversion", LockOrder}, {"negative-size-param", Sanitizer}, {"ABRT", Abort},
	// Whether an out-of-bounds access is reported as such or as an overlap depends on the memory behind it.
	{"memcpy-param-overlap", Sanitizer}, {"strcpy-param-overlap", Sanitizer}, {"strncpy-param-overlap", Sanitizer},
	{"strcat-param-overlap", Sanitizer}, {"strncat-param-overlap", Sanitizer},
	{"deadly signal", Signal}, {"out-of-memory", OutOfMemory}, {"fuzz target exited", Exit}, // libFuzzer's headlines
}

// Reader reads the reports of sanitizers. The zero value is ready to use. Its methods may be called concurrently if its functions
// may.
type Reader struct {
	// Frames returns the frames of an address that a report gives as module and offset. nil: addresses are not resolved.
	Frames func(module string, offset uint64) []Frame
	// Trim removes the frames of the fuzzer from a stack. nil: nothing is removed.
	Trim func(Stack) Stack
}

// NullPage is the address below which an access counts as one through a null pointer, with the offset of a member.
const NullPage = 1 << 16

// Refine reads a report of AddressSanitizer, UndefinedBehaviorSanitizer, MemorySanitizer, LeakSanitizer, ThreadSanitizer or
// libFuzzer in text, and updates r where the report is more exact. stderr is the program's standard error, which may be the same
// as text. Refine returns false, and leaves r unchanged, if text contains no such report.
func (x Reader) Refine(r *Report, text, stderr string) bool {
	if m := findWith(runtimeError, text, ": runtime error: "); m != nil && !r.later(text[m[1]:]) {
		r.Fault, r.Message, r.Access = Undefined, text[m[6]:m[7]], ""
		r.Stack = x.stack(text[m[1]:])
		if len(r.Stack) == 0 {
			line, _ := strconv.Atoi(text[m[4]:m[5]])
			r.Stack = Stack{{File: text[m[2]:m[3]], Line: line}}
		}
		return true
	}
	m := findWith(headline, text, "Sanitizer", "libFuzzer")
	if m == nil {
		return false
	}
	r.Message = processText.ReplaceAllString(text[m[4]:m[5]], "")
	if stack := x.stack(text[m[1]:]); stack.Top() != nil || r.Stack.Top() == nil && len(stack) > 0 {
		r.Stack = stack // otherwise the sanitizer has lost the stack, as after a jump to an invalid address
	}
	if a := accessLine.FindString(text[m[1]:]); strings.Contains(a, "WRITE") {
		r.Access = "write"
	} else if a != "" {
		r.Access = "read"
	}
	if a := addressText.FindStringSubmatch(r.Message); a != nil {
		r.Address, _ = strconv.ParseUint(a[1], 16, 64)
	}
	switch r.Fault = r.sanitizerFault(text); r.Fault {
	case DataRace:
		x.race(r, text[m[1]:])
	case OutOfMemory: // the frames above those of the program depend on how much of the stack the sanitizer has kept
		r.Stack.cutLibrary()
		r.Message = largeAllocation.ReplaceAllString(strings.TrimPrefix(r.Message, "out of memory: "), "one allocation of $1 bytes")
	case Abort: // the reason is in the message of the C library
		r.Fault, r.Message = AbortFault(text+stderr), AbortMessage(text+stderr)
	}
	for _, s := range [...]string{" (pc ", " at pc ", ": memory ranges ["} { // registers and addresses differ from run to run
		r.Message, _, _ = strings.Cut(r.Message, s)
	}
	if r.Address == 0 && strings.Contains(text[m[1]:], "high value address") { // the processor reports neither the address nor the kind of access
		r.Access, r.Message = "", strings.TrimSuffix(r.Message, " 0x000000000000")
	}
	r.Message = strings.TrimPrefix(messageTail.ReplaceAllString(r.Message, ""), "attempting ")
	return true
}

// later reports whether the text after a report of undefined behaviour tells the reason for the end of the program, which may have
// continued after that report.
func (r *Report) later(text string) bool {
	if m := headline.FindStringSubmatch(text); m != nil {
		return !strings.HasPrefix(m[2], "ABRT") && !strings.HasPrefix(m[2], "deadly signal") // these may be the consequence of the report
	}
	return r.Message != "" && (strings.Contains(text, r.Message) || AbortMessage(text) == r.Message)
}

// Reported reports whether text contains a report that [Reader.Refine] recognises.
func Reported(text []byte) bool {
	return bytes.Contains(text, []byte("Sanitizer")) && headline.Match(text) || bytes.Contains(text, []byte("runtime error:")) && runtimeError.Match(text)
}

// findWith is p.FindStringSubmatchIndex for a pattern that matches only texts with one of the words: searching for the words is
// much faster than finding that the pattern does not match.
func findWith(p *regexp.Regexp, text string, words ...string) []int {
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
		return nil
	}
	return p.FindStringSubmatchIndex(text)
}

// race reads the two accesses of a data race. Which access is reported first is random: the race is named after the one whose key
// comes first in alphabetical order.
func (x Reader) race(r *Report, text string) {
	type access struct {
		kind string
		at   Report
	}
	var both []access
	for _, m := range racingLine.FindAllStringSubmatchIndex(text, 2) {
		stack, _, _ := strings.Cut(text[m[1]:], "\n\n")
		both = append(both, access{strings.ToLower(text[m[2]:m[3]]), Report{Fault: DataRace, Stack: x.stack(stack)}})
	}
	slices.SortStableFunc(both, func(a, b access) int {
		return cmp.Or(strings.Compare(a.at.Key(), b.at.Key()), strings.Compare(a.kind, b.kind))
	})
	if len(both) == 0 {
		return
	}
	if both[0].at.Stack.Top() == nil { // the stack was lost
		slices.Reverse(both)
	}
	r.Stack, r.Message = both[0].at.Stack, both[0].kind
	if len(both) == 2 {
		r.Message += " against " + both[1].kind
		if f := both[1].at.Stack.Top(); f != nil {
			r.Message += fmt.Sprintf(" in %v", *f)
		}
	}
}

// sanitizerFault returns the fault of the headline in r.Message, and may set r.PC and r.Access.
func (r *Report) sanitizerFault(text string) Fault {
	for _, k := range headlines {
		if strings.HasPrefix(r.Message, k.words) {
			return k.fault
		}
	}
	if !strings.HasPrefix(r.Message, "SEGV") && !strings.HasPrefix(r.Message, "BUS") {
		return Sanitizer
	}
	pc := programCounter.FindStringSubmatch(r.Message)
	if pc != nil {
		r.PC, _ = strconv.ParseUint(pc[1], 16, 64)
	}
	switch {
	case pc != nil && r.PC == r.Address:
		r.Access = "execute"
		return WildJump
	case r.Address < NullPage && !strings.Contains(text, "wild") && !strings.Contains(text, "high value address"):
		return NullAccess
	}
	return InvalidAccess
}

// stack reads the first stack of a report.
func (x Reader) stack(text string) (stack Stack) {
	for l := range strings.Lines(text) {
		m := stackLine.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			if len(stack) > 0 {
				break
			}
			continue
		}
		f := Frame{Function: withoutParameters(m[3]), File: m[6], Module: m[4]}
		f.Offset, _ = strconv.ParseUint(m[5], 16, 64)
		f.Line, _ = strconv.Atoi(m[7])
		if m[3] == "" && m[4] != "" && x.Frames != nil {
			stack = append(stack, x.Frames(m[4], f.Offset)...)
			continue
		}
		stack = append(stack, f)
	}
	if x.Trim != nil {
		stack = x.Trim(stack)
	}
	return stack
}

// beforeParameters matches a C++ function's name without its parameters. The name itself may contain parentheses.
var beforeParameters = regexp.MustCompile(`^(?:\(anonymous namespace\)|operator\(\)?|[^(])+`)

// withoutParameters removes the parameters from a C++ function's name.
func withoutParameters(name string) string { return cmp.Or(beforeParameters.FindString(name), name) }
