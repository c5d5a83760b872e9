package triage

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/maruel/panicparse/v2/stack"
)

// goHeadline matches the line with which Go's runtime, or its race detector, begins the reason why it ends a program. The message
// of a panic that was recovered and raised again is preceded by that of the first panic.
var goHeadline = regexp.MustCompile(`(?m)^(?:panic: (.*)|fatal error: (.*)|(WARNING: DATA RACE)|(SIGQUIT: quit).*)$`)

// goErrors are the fatal errors of Go's runtime that have a fault of their own.
var goErrors = [...]struct {
	words string
	fault Fault
}{
	{"all goroutines are asleep", Deadlock}, {"no goroutines (main called runtime.Goexit)", Deadlock}, {"stack overflow", Recursion},
	{"runtime: out of memory", OutOfMemory}, {"runtime: cannot allocate memory", OutOfMemory}, {"concurrent map", DataRace},
	{"fault", InvalidAccess}, {"unexpected signal", InvalidAccess},
}

// recoveries are suffixes that the runtime appends to the message of a panic that was recovered.
var recoveries = [...]string{" [recovered, repanicked]", " [recovered]"}

// GoCrash sets r according to what Go's runtime has written at the end of a program: an unrecovered panic, a fatal error, a report
// of the race detector, or the goroutines of a program that got SIGQUIT. Stack dumps that the program has written itself, for
// example of panics that it recovered, are ignored; of several crashes the last counts. It returns false, and leaves r unchanged,
// if the text contains no crash.
//
// The stack is that of the running goroutine at its first panic: deferred functions that have run since are left out.
func (r *Report) GoCrash(text string) (found bool) {
	opts := stack.DefaultOpts() // without the options that access the file system
	opts.GuessPaths, opts.AnalyzeSources, opts.NameArguments = false, false, false
	for rest := []byte(text); len(rest) > 0; {
		var before bytes.Buffer
		dump, suffix, err := stack.ScanSnapshot(bytes.NewReader(rest), &before, opts)
		if dump != nil && len(dump.Goroutines) > 0 {
			found = r.goDump(before.Bytes(), dump) || found
		}
		if dump != nil && dump.IsRace() { // the scanner loses the text after the report
			_, suffix, _ = bytes.Cut(rest, []byte("WARNING: DATA RACE"))
			_, suffix, _ = bytes.Cut(suffix, []byte(raceRule))
		} else if err != nil && len(suffix) == 0 {
			return found
		}
		rest = suffix
	}
	return found
}

// goReason matches the line with which a Go program says why it writes the stack below it: a panic that nobody has recovered, an error of
// the runtime, or what a program that has recovered logs. A few more lines of the message may be between.
var goReason = regexp.MustCompile(`(?m)^(?:panic: (?P<panic>.*)|fatal error: (?P<fatal>.*)|.*\bpanic(?: serving [^\n]*)?: (?P<log>.*))$`)

// golang adds the panics and fatal errors of Go.
func (x *finder) golang() {
	if !strings.Contains(x.text, "panic") && !strings.Contains(x.text, "fatal error: ") { // cheaper than the pattern
		return
	}
	for _, m := range goReason.FindAllStringSubmatchIndex(x.text, -1) {
		after := x.text[m[0]:min(len(x.text), m[0]+16<<10)]
		c := Crash{Report: Report{Fault: Panic}, Language: Go, Offset: m[0], Uncaught: true}
		switch {
		case m[2] >= 0:
			if !strings.Contains(after, "goroutine ") && !strings.Contains(after, "[recovered]") {
				continue
			}
			c.Message = x.text[m[2]:m[3]]
		case m[4] >= 0:
			c.Fault, c.Message = goFatal(x.text[m[4]:m[5]]), x.text[m[4]:m[5]]
		case goBelow.MatchString(after):
			c.Message = x.text[m[6]:m[7]]
		default:
			continue
		}
		after = firstGoroutine(after)
		s, _ := goFrame.frames(after)
		c.end = m[0] + len(after)
		c.Stack = fromPanic(s)
		x.add(c)
	}
}

// goBelow matches a line, a few more of its message, and a stack.
var goBelow = regexp.MustCompile(`^[^\n]*\n(?:[^\n]*\n){0,4}?goroutine \d+ .*\[running`)

// goFatal returns the fault of a fatal error of Go's runtime.
func goFatal(message string) Fault {
	for _, e := range goErrors {
		if strings.HasPrefix(message, e.words) {
			return e.fault
		}
	}
	return Abort
}

// fromPanic removes the frames of deferred functions, which have run since the panic.
func fromPanic(s Stack) Stack {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].Function == "panic" {
			return s[i+1:]
		}
	}
	return s
}

// raceRule is the line before and after a report of the race detector.
const raceRule = "==================\n"

// goDump sets r by a stack dump, if the text before the dump contains its reason.
func (r *Report) goDump(before []byte, dump *stack.Snapshot) bool {
	first := dump.Goroutines[0]
	if dump.IsRace() {
		r.goRace(dump)
		return true
	}
	all := goHeadline.FindAllSubmatch(before, -1)
	if len(all) == 0 {
		return false
	}
	m := all[len(all)-1]
	r.Fault, r.Message = Abort, string(m[2])
	switch {
	case len(m[4]) > 0:
		r.Fault, r.Message = Hang, string(m[4])
	case len(m[2]) > 0:
		r.Fault = goFatal(r.Message)
	default:
		r.Fault, r.Message = Panic, string(m[1])
	}
	for _, s := range recoveries {
		r.Message = strings.TrimSuffix(r.Message, s)
	}
	if r.Fault == Hang { // goroutine 0 is often the first
		for _, g := range dump.Goroutines {
			if s := goStack(g); s.Top() != nil {
				r.Stack = s
				return true
			}
		}
	}
	r.Stack = goStack(first)
	return true
}

// goRace names a race after the access whose key comes first in alphabetical order: which access is reported first is random.
func (r *Report) goRace(dump *stack.Snapshot) {
	var both []Report
	for _, g := range dump.Goroutines {
		kind := "read"
		if g.RaceWrite {
			kind = "write"
		}
		both = append(both, Report{Fault: DataRace, Message: kind, Stack: goStack(g)})
	}
	slices.SortStableFunc(both, func(a, b Report) int { return strings.Compare(a.Key(), b.Key()) })
	r.Fault, r.Stack, r.Message = DataRace, both[0].Stack, both[0].Message
	if len(both) > 1 {
		r.Message += " against " + both[1].Message
		if f := both[1].Stack.Top(); f != nil {
			r.Message += " in " + f.String()
		}
	}
}

// goStack returns the frames of a goroutine at its first panic.
func goStack(g *stack.Goroutine) (s Stack) {
	for _, c := range g.Stack.Calls {
		if c.Func.Complete == "panic" {
			s = nil
			continue
		}
		s = append(s, Frame{Function: c.Func.Complete, File: c.RemoteSrcPath, Line: c.Line})
	}
	return s
}

// goLibrary are the first elements of the import paths of Go's standard library.
var goLibrary = map[string]bool{"archive": true, "bufio": true, "bytes": true, "cmp": true, "compress": true, "container": true, "context": true,
	"crypto": true, "database": true, "debug": true, "embed": true, "encoding": true, "errors": true, "expvar": true, "flag": true, "fmt": true,
	"go": true, "hash": true, "html": true, "image": true, "index": true, "internal": true, "io": true, "iter": true, "log": true, "maps": true,
	"math": true, "mime": true, "net": true, "os": true, "path": true, "plugin": true, "reflect": true, "regexp": true, "runtime": true,
	"slices": true, "sort": true, "strconv": true, "strings": true, "structs": true, "sync": true, "syscall": true, "testing": true, "text": true,
	"time": true, "unicode": true, "unique": true, "unsafe": true, "vendor": true, "weak": true, "panic": true}

// inGoLibrary reports whether a Go function belongs to the standard library or was generated by the compiler.
func inGoLibrary(function string) bool {
	first := function
	if i := strings.IndexAny(function, "./"); i >= 0 {
		first = function[:i]
		if function[i] == '.' && strings.Contains(function[i:], "/") {
			return false // a host name, as in example.com/m.F
		}
	}
	return goLibrary[first] || strings.Contains(function, ".gowrap")
}

// firstGoroutine returns a text up to the second goroutine.
func firstGoroutine(text string) string {
	if all := goroutineLine.FindAllStringIndex(text, 2); len(all) == 2 {
		return text[:all[1][0]]
	}
	return text
}

var goroutineLine = regexp.MustCompile(`(?m)^goroutine \d+ .*\[`)
