package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// Cause is why a test process ended, where that was not its own doing.
type Cause uint8

// The causes.
const (
	CauseInvalid    Cause = iota
	CauseTest             // the test failed, and the process lives
	CauseProcess          // the process ended by itself
	CauseTimeout          // it was killed, since an input did not end in time
	CauseMemory           // it was killed, since it held more than it may
	CauseAllocation       // the runtime ended it, since it asked for more at once than it may hold
)

// Failure is the evidence of a failed execution, which [Detect] judges.
type Failure struct {
	Cause  Cause
	Text   string             // what package testing, or the process on standard error, has said
	Status syscall.WaitStatus // of the process, if it ended by itself
	Test   string             // the package's import path and the fuzz test's name
	Race   bool               // the test was built with the race detector
}

// Detect makes a finding of a [Failure]. The rule says how the code failed. The innermost functions of the stack outside of
// the runtime identify the fault: two fuzz tests that call them have one finding. Where no function is known, the fuzz test
// identifies it together with the line that called t.Error, the exit status or the like: files of many packages have the
// same names.
func Detect(o *teasel.Observation) []teasel.Finding {
	f, ok := o.Evidence.(*Failure)
	if !ok {
		return nil
	}
	v := f.verdict()
	if v.subject == "" {
		v.group = strings.TrimSpace(f.Test + " " + v.group)
	}
	finding := teasel.Finding{Rule: v.rule, Severity: severity(v.rule), Subject: cmp.Or(v.subject, v.line, "test"), Group: v.group,
		Message: shortLine(v.message, messageLength) + place(v.frames), Detail: calls(v.frames) + shortLines(unmarked(f.Text))}
	if f.Status.Signaled() {
		finding.Signal = int(f.Status.Signal())
	}
	return []teasel.Finding{finding}
}

var _ teasel.DetectorFunc = Detect

// verdict is what a failure is.
type verdict struct {
	rule, group, message string

	subject string  // the function to blame; "": it is not known
	line    string  // of the test that called t.Error or the like; "": it is not known
	frames  []Frame // where it happened, the innermost first; nil: it is not known, or the message says so
}

func (f *Failure) verdict() verdict {
	switch f.Cause {
	case CauseTimeout:
		if f.Race && raceReport.MatchString(f.Text) { // each access of a loop is reported, which may take all of the time
			return race(f.Text)
		}
		return stuck(f.Text)
	case CauseMemory:
		g, _ := testGoroutine(Goroutines(f.Text))
		frames := userFrames(g.Frames)
		v := named(ruleMemory, "the test process held more memory than it may", frames[max(0, len(frames)-1):]) // where it was depends on the moment: what called it does not
		v.frames = frames
		return v
	case CauseAllocation:
		v := named(ruleMemory, fmt.Sprintf("out of memory: an allocation of %d bytes exceeds the memory limit", Allocation(f.Text)), inner(f.Text))
		v.group += place(v.frames) // it is one call that asks for so much
		return v
	case CauseProcess:
		return died(f.Text, f.Status, f.Race)
	}
	return failed(f.Text)
}

var (
	elided     = regexp.MustCompile(`(?m)^\.\.\.(?:additional )?(\d+) frames elided\.\.\.`)
	errorLine  = regexp.MustCompile(`(?m)^\s+(\S+\.go:\d+): (.*)`)
	markedLine = regexp.MustCompile(`(?m)^\s+(\S+\.go:\d+): ` + agent.Mark + `(.*)`)
	addresses  = regexp.MustCompile(`0x[0-9a-f]+|\d+`)
)

// failed judges a test that failed. What the test has logged never decides the rule: only package testing and the runtime
// say that it panicked, or that there was a race.
func failed(text string) verdict {
	if v, ok := raised(text); ok {
		return v
	}
	at := markedLine.FindStringSubmatchIndex(text)
	if at == nil { // nothing is marked: the first line may be one of t.Log
		at = errorLine.FindStringSubmatchIndex(text)
	}
	v := verdict{rule: ruleFailed, message: "the test failed"}
	if at == nil {
		return v
	}
	line, message := text[at[2]:at[3]], unmarked(text[at[4]:at[5]])
	if strings.HasPrefix(line, "testing.go:") { // package testing itself has something to say
		return named(ruleFailed, message, inner(unmarked(text)))
	}
	v.group, v.line, v.message = line, line, cmp.Or(strings.TrimSpace(message), below(unmarked(text[at[1]:])), "the test failed at "+line)
	return v
}

// NoReturn begins what is said of a test that has ended its goroutine and has neither failed nor been skipped, as package
// testing words it.
const NoReturn = "test executed panic(nil) or runtime.Goexit"

// raised judges what package testing or the runtime says of a test that failed; false: they say nothing.
func raised(text string) (v verdict, ok bool) {
	if _, said := testingSays(text, "race detected during execution of test"); said {
		return race(text), true
	}
	if panicked, said := testingSays(text, "panic: "); said {
		return panics(unmarked(panicked)), true
	}
	if strings.HasPrefix(text, NoReturn) { // logs are indented
		return named(ruleFailed, NoReturn, inner(text)), true
	}
	if c, ok := ending(text); ok { // of a process that ran this test alone
		return c.verdict(), true
	}
	return v, false
}

// panics judges a panic by what was printed of it, from its message on.
func panics(text string) verdict {
	first, _, _ := strings.Cut(text, "\n")
	frames := inner(text)
	rule := rulePanic
	if strings.HasPrefix(first, "panic: unexpected call to os.Exit(") && len(frames) > 0 && frames[0].Function == "os.Exit" {
		rule = ruleExit
	}
	v := named(rule, first, frames)
	if rule == rulePanic && (strings.HasPrefix(first, "panic: runtime error: ") || !raises(v.subject)) { // the line is at fault, whoever has called the function
		if group := faulty(frames); group != "" {
			v.group = group + place(frames)
		}
	}
	return v
}

// raisers are in the names of functions that panic for whoever calls them, for one reason or another.
var raisers = []string{"abort", "assert", "check", "error", "expect", "fail", "fatal", "must", "panic", "raise", "throw", "unreachable"}

func raises(function string) bool {
	name := strings.ToLower(function[strings.LastIndexByte(function, '.')+1:])
	return slices.ContainsFunc(raisers, func(r string) bool { return strings.Contains(name, r) })
}

// died judges a process that ended by itself. What it has written to standard error counts where the runtime has written it,
// which then ends the process: anything can write words such as panic.
func died(text string, status syscall.WaitStatus, raceDetector bool) verdict {
	if status.Signaled() || status.ExitStatus() == fatalStatus {
		if c, ok := ending(text); ok {
			return c.verdict()
		}
	}
	if raceDetector && raceReport.MatchString(text) {
		return race(text)
	}
	if status.Signaled() {
		return verdict{rule: ruleSignal, group: status.Signal().String(), message: "the process was ended by the signal: " + status.Signal().String()}
	}
	if exited, called := exitCall(text); called {
		if v := named(ruleExit, fmt.Sprintf("the process ended with exit status %d", status.ExitStatus()), inner(exited)); v.subject != "" {
			return v
		}
	}
	return verdict{rule: ruleExit, group: fmt.Sprint(status.ExitStatus()), message: fmt.Sprintf("the process ended with exit status %d", status.ExitStatus())}
}

// exitCall returns the stack of the call of os.Exit that has ended a process; false: none has, or that is not known.
func exitCall(text string) (stack string, ok bool) {
	if at := strings.LastIndex(text, agent.ExitMark); at >= 0 {
		return text[at+len(agent.ExitMark):], true
	}
	return "", false
}

// named is the fault whose innermost functions of the user's are these.
func named(rule, message string, frames []Frame) verdict {
	v := verdict{rule: rule, message: strings.TrimSpace(message), frames: frames}
	v.subject, v.group = identity(frames)
	switch rule {
	case ruleFatal, ruleMemory, ruleSignal: // in which line these show depends on the moment
	default:
		v.group += place(frames)
	}
	if v.group == "" {
		v.group = addresses.ReplaceAllString(v.message, "0")
	}
	return v
}

// frameCount is how many functions tell faults apart, from the innermost one of the user's outwards.
const frameCount = 3

// identity returns the function to blame, which is the innermost one outside of the standard library, and the text that
// tells faults apart.
func identity(frames []Frame) (subject, group string) {
	var names []string
	for _, f := range frames {
		name := plainName(f.Function)
		if subject == "" && !standard(f) {
			subject = name
		}
		if len(names) < frameCount && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
		if subject != "" && len(names) == frameCount {
			break
		}
	}
	if subject == "" && len(names) > 0 {
		subject = names[0]
	}
	return subject, strings.Join(names, " < ")
}

// faulty returns the function to blame together with those of the standard library that it called; "": it is not known.
func faulty(frames []Frame) string {
	for i, f := range frames {
		if !standard(f) {
			_, group := identity(frames[:i+1])
			return group
		}
	}
	return ""
}

// inner returns the frames of the user's at the panic or fatal error: of the first goroutine that was printed, those
// below the call of panic, if there is one. Code that recovers and panics again makes a second call: the fault is below the
// first that was made, which is printed last.
func inner(text string) []Frame {
	for _, g := range Goroutines(text) {
		frames := g.Frames
		for i := len(frames) - 1; i >= 0; i-- {
			if frames[i].Function == "panic" || frames[i].Function == "runtime.throw" || frames[i].Function == "runtime.fatal" {
				frames = frames[i+1:]
				break
			}
		}
		if fs := userFrames(frames); len(fs) > 0 {
			return fs
		}
	}
	return nil
}

// overflowFrames is how many frames a stack has that is on its way to overflow: that takes seconds, so that a test may be
// out of time before it comes to it.
const overflowFrames = 100_000

// stuck judges a run that did not end in time, by the goroutine that ran the test.
func stuck(text string) verdict {
	for _, m := range elided.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= overflowFrames {
			g, _ := testGoroutine(Goroutines(text)) // the outermost calls, which say so, may be missing
			return overflow(text, userFrames(g.Frames))
		}
	}
	g, ok := testGoroutine(Goroutines(text))
	if !ok {
		return verdict{rule: ruleHang, message: "the test did not end in time"}
	}
	fs := userFrames(g.Frames)
	if g.State == "sleep" { // which ends
		return named(ruleHang, "the test did not end in time: its goroutine sleeps", fs)
	}
	if g.State == "running" || g.State == "runnable" || g.State == "syscall" || g.State == "copystack" || g.State == "" || allocates(g) {
		subject := ""
		if len(fs) > 0 { // where in a loop it was depends on the moment: what called it does not
			subject = plainName(fs[len(fs)-1].Function)
			subject = cmp.Or(outermost(fs), subject)
		}
		return verdict{rule: ruleHang, subject: subject, group: subject, message: "the test did not end in time", frames: fs}
	}
	for _, f := range g.Frames {
		if f.Function == "testing.(*T).Parallel" { // it waits for the end of the test that runs all inputs
			return named(ruleDeadlock, "the test calls t.Parallel, which never returns here: leave it out, inputs run in parallel in --workers processes", fs)
		}
	}
	return named(ruleDeadlock, "the test did not end in time: its goroutine waits ("+g.State+")", fs)
}

// allocates reports whether a goroutine is in the allocator, where it may wait for the garbage collector.
func allocates(g Goroutine) bool {
	return slices.ContainsFunc(g.Frames, func(f Frame) bool { return f.Function == "runtime.mallocgc" || f.Function == "runtime.gcStart" })
}

// outermost is the function that the fuzz target called and that did not return.
func outermost(fs []Frame) string {
	for i := len(fs) - 1; i >= 0; i-- {
		if !strings.Contains(fs[i].File, "_test.go") {
			return plainName(fs[i].Function)
		}
	}
	return ""
}

// testGoroutine returns the goroutine that runs the fuzz target. A typed test runs in a coroutine, whose other half is a goroutine
// that looks as if it did.
func testGoroutine(gs []Goroutine) (g Goroutine, ok bool) {
	for i := range gs {
		for _, f := range gs[i].Frames {
			if f.Function == typedPackage+".(*runner).call" {
				return gs[i], true
			}
		}
		if !ok && runsFuzzTarget(gs[i]) {
			g, ok = gs[i], true
		}
	}
	return g, ok
}

// Unavailable reports whether the stack of the goroutine that runs the fuzz target is missing in what the runtime has printed: it was
// running on another thread than the one that printed.
func Unavailable(text string) bool {
	_, ok := testGoroutine(Goroutines(text))
	return !ok && strings.Contains(text, "stack unavailable")
}

// runsFuzzTarget reports whether a goroutine runs the fuzz target.
func runsFuzzTarget(g Goroutine) bool {
	for _, f := range g.Frames {
		if strings.HasPrefix(f.Function, "testing.(*F).Fuzz.func") || strings.HasPrefix(f.Function, "internal/fuzz.(*Loop).Run") {
			for _, f := range g.Frames {
				if f.Function == "testing.tRunner" {
					return true
				}
			}
		}
	}
	return false
}
