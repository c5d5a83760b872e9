package link

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Rules are what a typed fuzz test can break.
func Rules() []teasel.Rule {
	return []teasel.Rule{
		{ID: "go/panic", Severity: teasel.High, Title: "panic", Help: "The code panicked. Return an error for input that is wrong."},
		{ID: "go/failed", Severity: teasel.Medium, Title: "failed test", Help: "The fuzz test said that something it checks does not hold."},
		{ID: "go/exit", Severity: teasel.Medium, Title: "exit", Help: "The code ended the process. A library should return an error."},
		{ID: "go/fatal", Severity: teasel.High, Title: "fatal error of the runtime", Help: "The Go runtime ended the process, which no recover can stop."},
		{ID: "go/deadlock", Severity: teasel.Medium, Title: "deadlock", Help: "The test did not end in time, and its goroutine was waiting for a lock, a channel, or other goroutines."},
		{ID: "go/hang", Severity: teasel.Medium, Title: "hang", Help: "The test did not end in time, and its goroutine was running."},
	}
}

// Fault says what a failure is, in words that are the same for each input that brings it about.
type Fault struct {
	Rule     string
	Severity teasel.Severity
	Subject  string // the innermost function of the user's, or the line of the test
	Group    string // tells faults of one rule and subject apart
	Message  string
}

// Finding returns the finding of a fault.
func (f Fault) Finding(detail string) teasel.Finding {
	return teasel.Finding{Rule: f.Rule, Severity: f.Severity, Subject: f.Subject, Group: f.Group, Message: f.Message, Detail: detail}
}

var (
	panicLine = regexp.MustCompile(`(?m)^panic: (.*)`)
	fatalLine = regexp.MustCompile(`(?m)^fatal error: (.*)`)
	errorLine = regexp.MustCompile(`(?m)^\s+(\S+\.go:\d+): (.*)`)
	variable  = regexp.MustCompile(`0x[0-9a-f]+|\d+`)
)

// Failed judges what a test has said of its failure.
func Failed(text string) Fault {
	if m := panicLine.FindStringSubmatch(text); m != nil {
		return named("go/panic", teasel.High, "panic: "+m[1], text)
	}
	f := Fault{Rule: "go/failed", Severity: teasel.Medium, Subject: "test", Message: "the test failed"}
	if m := errorLine.FindStringSubmatch(text); m != nil {
		f.Subject, f.Message = m[1], cmp.Or(strings.TrimSpace(m[2]), f.Message)
	}
	return f
}

// Died judges what a process that ended has written to standard error.
func Died(text, status string, hung bool) Fault {
	switch m := fatalLine.FindStringSubmatch(text); {
	case m != nil: // perhaps one that took long to be written
		return named("go/fatal", teasel.High, "fatal error: "+m[1], text)
	case hung:
		return stuck(text)
	case panicLine.MatchString(text): // in a goroutine that the test has started
		return Failed(text)
	}
	return Fault{Rule: "go/exit", Severity: teasel.Medium, Subject: "test", Group: status, Message: "the process ended: " + status}
}

// stuck judges a test that did not end in time, by the goroutine that it ran on.
func stuck(text string) Fault {
	f := Fault{Rule: "go/hang", Severity: teasel.Medium, Subject: "test", Message: "the test did not end in time"}
	for _, stack := range strings.Split(text, "\n\n") {
		if !strings.Contains(stack, runsTest) {
			continue
		}
		_, state, _ := strings.Cut(stack, "[")
		state, _, _ = strings.Cut(state, "]")
		state, _, _ = strings.Cut(state, ",")
		if state == "running" || state == "runnable" || state == "syscall" || state == "sleep" {
			return named(f.Rule, f.Severity, f.Message, stack)
		}
		return named("go/deadlock", f.Severity, f.Message+": its goroutine waits ("+state+")", stack)
	}
	return f
}

// runsTest is the function of package gofunc that calls the test.
const runsTest = "gofunc.(*runner).call("

// named is the fault at the innermost function that is neither of the standard library nor of teasel.
func named(rule string, s teasel.Severity, message, text string) Fault {
	f := Fault{Rule: rule, Severity: s, Subject: "test", Group: variable.ReplaceAllString(message, "0"), Message: message}
	if name := innermost(text); name != "" {
		f.Subject = name[strings.LastIndexByte(name, '/')+1:]
	}
	return f
}

// innermost returns the first function in a stack that is no machinery. The runtime prints a function with its arguments
// on one line and where it is on the next, which begins with a tab.
func innermost(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") && strings.HasSuffix(strings.TrimSpace(last), ")") {
			if name := last[:arguments(last)]; !machinery(name) {
				return name
			}
		}
		last = line
	}
	return ""
}

// arguments returns where the list of arguments begins in "pkg.(*T).f(0x1, {0x2, 0x3})".
func arguments(line string) int {
	depth := 0
	for i := len(line) - 1; i > 0; i-- {
		switch line[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// machinery reports whether a function is of the standard library, whose paths begin with no host, or of teasel.
func machinery(name string) bool {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		pkg, _, _ := strings.Cut(name[i:], ".")
		path := name[:i] + pkg
		for _, own := range []string{"github.com/teaselfuzz/teasel", "github.com/teaselfuzz/teasel/gofunc"} {
			if path == own {
				return true
			}
		}
		return !strings.Contains(name[:strings.IndexByte(name, '/')], ".") && standard[name[:strings.IndexByte(name, '/')]]
	}
	pkg, _, _ := strings.Cut(name, ".")
	return standard[pkg]
}

// standard has the first elements of the paths of packages in the standard library that call, or are called by, the code
// under test before it fails.
var standard = map[string]bool{"runtime": true, "testing": true, "reflect": true, "sync": true, "internal": true, "iter": true, "os": true, "syscall": true,
	"bytes": true, "strings": true, "strconv": true, "encoding": true, "fmt": true, "sort": true, "slices": true, "maps": true, "math": true, "log": true, "panic": true,
	"unicode": true, "time": true, "io": true, "bufio": true, "regexp": true, "errors": true, "container": true, "hash": true, "context": true, "goroutine": true}
