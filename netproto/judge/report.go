package judge

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// report is what is known of a fault from what the server has written, and from where it was when a signal ended it.
type report struct {
	triage.Report
	rule    string // id of the rule it breaks
	guessed bool   // the stack is
}

// Reported reports whether a server that goes on has written of a fault of its own: the report of a sanitizer, a panic of Go's or
// Rust's, an exception of Python's, or the last words of a process that it had forked.
func Reported(output []byte) bool {
	return len(output) > 0 && (&Evidence{Fault: FaultNone, Output: output}).report() != nil
}

// lastWords are lines with which a program says why it calls abort. In a log, only such lines are taken for that.
var lastWords = regexp.MustCompile(`(?m)^.*Assertion .* failed|^terminate called |^libc\+\+abi: terminating |^\*\*\* .* \*\*\*|^(?:double free|free\(\): |malloc\(\): |corrupted )`)

// report returns nil of a server that goes on and has written of no fault.
func (e *Evidence) report() *report {
	r, text := &report{}, string(e.Output)
	died := e.Fault == FaultDeath
	if !died { // a client may leave at any time, and that has cost the server nothing
		text = triage.WithoutDisconnects(text)
	}
	switch {
	case died && e.Signal != 0:
		r.Fault = triage.OfSignal(e.Signal, text)
	case died:
		r.Fault = triage.Exit
	case triage.AbortMessage(text) != "" && lastWords.MatchString(text): // of a process that it had forked
		r.Fault = triage.AbortFault(text)
	}
	if e.Signal == syscall.SIGABRT || !died && r.Fault != "" {
		r.Message = triage.AbortMessage(text)
	}
	if !e.Guessed {
		r.Stack = stack(e.Stack)
	}
	// Runtimes of languages end a program by exit or abort, so that another signal is not their doing.
	runtime := r.Fault == "" || e.Signal == 0 || e.Signal == syscall.SIGABRT
	switch {
	case triage.Reader{}.Refine(&r.Report, text, ""):
		r.rule = ruleOf(&r.Report)
	case runtime && strings.Contains(text, "goroutine ") && r.GoCrash(text):
		if r.rule = ruleOf(&r.Report); r.rule == RuleCrash { // it has made a panic of a signal
			r.rule = RulePanic
		}
	case runtime && (r.RustPanic(text) || traced(&r.Report, text, died) || uncaughtError(&r.Report, []byte(text), died)):
		r.rule = RulePanic
	case r.Fault == "":
		return nil
	default:
		r.rule = ruleOf(&r.Report)
	}
	if r.Stack == nil {
		r.Stack, r.guessed = stack(e.Stack), e.Guessed
	}
	return r
}

// traced reads an exception of Python's. Of a server that goes on, the first and the last line of one without any frame between them
// are something else that it logs, and so is an exception that it has refused a request with, unless it is of a kind that only a mistake
// in a program raises, or was caught by nobody but the library.
func traced(r *triage.Report, text string, died bool) bool {
	found := *r
	if !found.Traceback(text) || !died && (len(found.Stack) == 0 || !mistake.MatchString(found.Message) && !triage.CaughtByLibrary(text)) {
		return false
	}
	*r = found
	return true
}

// uncaughtError reads an error of JavaScript, Java, .NET, PHP or Ruby that nobody has caught. Of a server that goes on, words without
// a stack may be something that it quotes.
func uncaughtError(r *triage.Report, output []byte, died bool) bool {
	switch c, found := triage.LastCrash(output, died); {
	case !found || c.Logged() || !died && len(c.Stack) == 0:
		return false
	case c.Language == triage.JavaScript, c.Language == triage.Java, c.Language == triage.DotNet, c.Language == triage.PHP, c.Language == triage.Ruby:
		*r = c.Report
		return true
	}
	return false
}

var (
	mistake = regexp.MustCompile(`^(KeyError|IndexError|LookupError|TypeError|AttributeError|NameError|UnboundLocalError|ZeroDivisionError|` +
		`RecursionError|AssertionError|NotImplementedError|MemoryError|OverflowError|SystemError|UnicodeError|UnicodeDecodeError|UnicodeEncodeError)\b`)
)

func stack(frames []Frame) (s triage.Stack) {
	for _, f := range frames {
		s = append(s, triage.Frame(f))
	}
	return s
}

// ruleOf returns the rule that a fault breaks if the server goes on.
func ruleOf(r *triage.Report) string {
	switch r.Fault {
	case triage.Exit:
		return RuleExit
	case triage.HeapOverflow, triage.StackOverflow, triage.GlobalOverflow, triage.UseAfterFree, triage.UseAfterScope, triage.DoubleFree,
		triage.BadFree, triage.Uninitialised, triage.Sanitizer:
		return RuleMemoryError
	case triage.Undefined, triage.DataRace, triage.LockOrder, triage.Leak:
		return RuleReport
	case triage.Panic, triage.Exception, triage.Assertion, triage.OutOfMemory, triage.Deadlock:
		return RulePanic
	case triage.Abort:
		if r.Message != "" {
			return RulePanic
		}
	}
	return RuleCrash
}

var numbers = regexp.MustCompile(`0x[0-9a-f]+|\d+`)

// mostKey is how many bytes of what was said of a bug tell it from others: a client's words may follow.
const mostKey = 300

// said is what was said of the bug, as a key.
func (r *report) said() string {
	return strings.ToValidUTF8(r.Message[:min(len(r.Message), mostKey)], "")
}

// name names the bug: by where it is or, where that is unknown, by what was said of it. An assertion says where it is better than
// a stack that is guessed. "": nothing is known.
func (r *report) name() string {
	key := r.Key()
	if r.Message != "" && (key == "" && r.rule == RulePanic || r.guessed && strings.Contains(r.Message, "Assertion ")) {
		return numbers.ReplaceAllString(r.said(), "0")
	}
	return key
}

// place names the place in the server where the bug is, for faults of different rules.
func (r *report) place() string {
	if place := r.Place(); place != "" && !r.guessed {
		return place
	}
	return r.name()
}

var addressText = regexp.MustCompile(` on (unknown )?address .*`)

// because is what the report says, behind a colon.
func (r *report) because() string {
	message := triage.LastLines(strings.TrimRight(addressText.ReplaceAllString(r.Message, ""), ".:"), 1) // which may have a client's words in it
	if message == "" {
		return ""
	}
	switch r.Fault {
	case triage.Undefined, triage.DataRace, triage.Panic, triage.NullAccess, triage.WildJump:
		return fmt.Sprintf(": %s: %s", strings.ReplaceAll(string(r.Fault), "-", " "), message)
	}
	return ": " + message
}

func (r *report) where() string {
	if where := r.Where(); where != "" {
		return " " + where
	}
	return ""
}
