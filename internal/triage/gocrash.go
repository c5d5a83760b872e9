package triage

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/maruel/panicparse/v2/stack"
)

// Each line with which Go's runtime, or its race detector, begins to say why it ends a program. A panic that was recovered
// and raised again has the first one's message before it.
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

// recoveries are what the runtime puts behind the message of a panic that was recovered.
var recoveries = [...]string{" [recovered, repanicked]", " [recovered]"}

// GoCrash reads what Go's runtime wrote when it ended a program into r: a panic that nobody recovered, a fatal error, a
// report of the race detector, or the goroutines of a program that got SIGQUIT. Dumps that the program has written itself,
// as of panics that it recovered, are passed over; of several crashes the last counts. False: there is none, and r stays as it
// is.
//
// The stack is that of the goroutine that was running, from where it panicked first: deferred functions that ran since are
// left out.
func (r *Report) GoCrash(text string) (found bool) {
	opts := stack.DefaultOpts() // everything that would look at the file system is off
	opts.GuessPaths, opts.AnalyzeSources, opts.NameArguments = false, false, false
	for rest := []byte(text); len(rest) > 0; {
		var before bytes.Buffer
		dump, suffix, err := stack.ScanSnapshot(bytes.NewReader(rest), &before, opts)
		if dump != nil && len(dump.Goroutines) > 0 {
			found = r.goDump(before.Bytes(), dump) || found
		}
		if dump != nil && dump.IsRace() { // what comes behind it is lost in the scanner
			_, suffix, _ = bytes.Cut(rest, []byte("WARNING: DATA RACE"))
			_, suffix, _ = bytes.Cut(suffix, []byte(raceRule))
		} else if err != nil && len(suffix) == 0 {
			return found
		}
		rest = suffix
	}
	return found
}

// raceRule is the line before and behind a report of the race detector.
const raceRule = "==================\n"

// goDump takes a dump in, if the text before it says why it was made.
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
		for _, e := range goErrors {
			if strings.HasPrefix(r.Message, e.words) {
				r.Fault = e.fault
				break
			}
		}
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

// goRace names a race after the access whose key comes first in order: which one was first is chance.
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

// goStack returns the frames of a goroutine from where it panicked first.
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

// inGoLibrary reports whether a function of Go is one of the standard library's, or one that the compiler has made.
func inGoLibrary(function string) bool {
	first := function
	if i := strings.IndexAny(function, "./"); i >= 0 {
		first = function[:i]
		if function[i] == '.' && strings.Contains(function[i:], "/") {
			return false // a host's name, as in example.com/m.F
		}
	}
	return goLibrary[first] || strings.Contains(function, ".gowrap")
}
