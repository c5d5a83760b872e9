package judge

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Report is what a server has written about a fault of its own: the report of a sanitizer, a panic of Go's or Rust's, a
// traceback of Python's, a failed assertion.
type Report struct {
	Rule    string   // id of the rule it breaks
	Message string   // one line
	Stack   []string // functions of the server's own with file and line where they are known, innermost first
}

var (
	// "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x...", "==7==WARNING: MemorySanitizer: use-of-..."
	sanitizerLine = regexp.MustCompile(`(?m)^(?:==\d+== ?)?(?:ERROR|WARNING): \w+Sanitizer: (.*)$`)
	// "a.c:3:5: runtime error: signed integer overflow: ..."
	undefinedLine = regexp.MustCompile(`(?m)^(\S+?:\d+:\d+): runtime error: (.*)$`)
	// "    #1 0x4f3b in main /tmp/a.c:3:5" and "    #1 0x4f3b in main (/tmp/a+0x4f3b)"
	sanitizerFrame = regexp.MustCompile(`^\s+#\d+ 0x[0-9a-f]+ in (.+?)(?: (/\S+?|\S+\.\w+)(:\d+)?(?::\d+)?| \((\S+)\+0x[0-9a-f]+\).*)?$`)
	goPanic        = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)
	goFunction     = regexp.MustCompile(`^([\w./*()\[\]-]+)\(.*\)$`)
	goPlace        = regexp.MustCompile(`^\t(\S+\.go):(\d+)`)
	rustPanic      = regexp.MustCompile(`(?m)^thread '.*' (?:\(\d+\) )?panicked at (.*)$`)
	pythonFrame    = regexp.MustCompile(`^  File "(.+)", line (\d+), in (.+)$`)
	assertionLine  = regexp.MustCompile(`(?m)^.*Assertion .* failed\.?.*$|^terminate called .*$|^\*\*\* .* \*\*\*.*$|^(?:double free|free\(\): |malloc\(\): |corrupted ).*$`)
	numbers        = regexp.MustCompile(`0x[0-9a-f]+|\d+`)
)

// ReadReport looks for the first report in what a server has written; nil: there is none.
func ReadReport(text string) *Report {
	if m := sanitizerLine.FindStringSubmatchIndex(text); m != nil {
		r := &Report{Rule: RuleMemoryError, Message: cut(text[m[2]:m[3]], " (pc ", " at pc ", " on address "), Stack: sanitizerStack(text[m[1]:])}
		if strings.HasPrefix(r.Message, "SEGV") || strings.HasPrefix(r.Message, "FPE") || strings.HasPrefix(r.Message, "ABRT") ||
			strings.HasPrefix(r.Message, "stack-overflow") || strings.HasPrefix(r.Message, "detected memory leaks") {
			r.Rule = RuleCrash
			r.Message = cut(r.Message, " on unknown address")
		}
		return r
	}
	if m := undefinedLine.FindStringSubmatchIndex(text); m != nil {
		r := &Report{Rule: RuleReport, Message: "undefined behaviour: " + text[m[4]:m[5]], Stack: sanitizerStack(text[m[1]:])}
		if len(r.Stack) == 0 {
			r.Stack = []string{text[m[2]:m[3]]}
		}
		return r
	}
	if m := goPanic.FindStringSubmatchIndex(text); m != nil && strings.Contains(text, "\ngoroutine ") {
		return &Report{Rule: RulePanic, Message: "panic: " + text[m[2]:m[3]], Stack: goStack(text[m[1]:])}
	}
	if m := rustPanic.FindStringSubmatch(text); m != nil {
		return &Report{Rule: RulePanic, Message: "panicked at " + m[1], Stack: []string{strings.TrimSuffix(m[1], ":")}}
	}
	if i := strings.Index(text, "Traceback (most recent call last):"); i >= 0 {
		return pythonReport(text[i:])
	}
	if m := assertionLine.FindString(text); m != "" {
		return &Report{Rule: RulePanic, Message: m, Stack: []string{numbers.ReplaceAllString(m, "0")}}
	}
	return nil
}

func cut(text string, ends ...string) string {
	for _, e := range ends {
		text, _, _ = strings.Cut(text, e)
	}
	return text
}

// foreign are beginnings of functions that show a fault and do not have it.
var foreign = [...]string{"__asan", "__interceptor_", "___interceptor_", "__sanitizer", "__ubsan", "__msan", "__GI_", "__libc_", "__assert", "abort", "raise", "gsignal",
	"malloc", "calloc", "realloc", "free", "mem", "str", "operator new", "operator delete", "start_thread", "clone", "_start", "printf", "vsnprintf"}

func sanitizerStack(text string) (stack []string) {
	for l := range strings.Lines(text) {
		m := sanitizerFrame.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			if len(stack) > 0 {
				break
			}
			continue
		}
		if isForeign(m[1]) {
			continue
		}
		f := m[1]
		if m[2] != "" {
			f += " " + filepath.Base(m[2]) + m[3]
		}
		stack = append(stack, f)
	}
	return stack
}

func isForeign(function string) bool {
	for _, f := range foreign {
		if rest, ok := strings.CutPrefix(function, f); ok && (rest == "" || strings.HasPrefix(f, "_") || len(rest) < 6 && (f == "mem" || f == "str")) {
			return true
		}
	}
	return false
}

// goStack reads the first goroutine, that which panicked, without the runtime.
func goStack(text string) (stack []string) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		if len(stack) > 0 && lines[i] == "" {
			break
		}
		f := goFunction.FindStringSubmatch(lines[i])
		at := goPlace.FindStringSubmatch(lines[i+1])
		if f == nil || at == nil {
			continue
		}
		if i++; strings.HasPrefix(f[1], "runtime.") || f[1] == "panic" {
			continue
		}
		stack = append(stack, f[1]+" "+filepath.Base(at[1])+":"+at[2])
	}
	return stack
}

// pythonReport reads a traceback, whose innermost frame is the last.
func pythonReport(text string) *Report {
	r := &Report{Rule: RulePanic}
	for _, l := range strings.Split(text, "\n")[1:] {
		if m := pythonFrame.FindStringSubmatch(l); m != nil {
			r.Stack = append([]string{m[3] + " " + filepath.Base(m[1]) + ":" + m[2]}, r.Stack...)
		} else if l != "" && l[0] != ' ' {
			r.Message = l
			break
		}
	}
	return r
}

// fault names the bug: the innermost three functions, the first with its line.
func (r *Report) fault() string {
	var parts []string
	for i, f := range r.Stack[:min(3, len(r.Stack))] {
		if i > 0 {
			f, _, _ = strings.Cut(f, " ")
		}
		parts = append(parts, f)
	}
	return strings.Join(parts, " < ")
}
