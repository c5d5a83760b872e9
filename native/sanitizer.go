package native

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/internal/sancov"
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
	racingLine  = regexp.MustCompile(`(?m)^  (?:Previous )?((?i:atomic )?(?i:read|write)) of size \d+ at 0x[0-9a-f]+ by .*:$`)
	processText = regexp.MustCompile(` \(pid=\d+\)$`)
	addressText = regexp.MustCompile(`address 0x([0-9a-f]+)`)
)

// kinds are the words with which a sanitizer's headline begins, and the rule for each.
var kinds = [...]struct{ word, rule string }{
	{"heap-buffer-overflow", ruleHeap}, {"container-overflow", ruleHeap}, {"intra-object-overflow", ruleHeap},
	{"stack-buffer-overflow", ruleStack}, {"stack-buffer-underflow", ruleStack}, {"dynamic-stack-buffer-overflow", ruleStack},
	{"global-buffer-overflow", ruleGlobal},
	{"heap-use-after-free", ruleFreed}, {"stack-use-after", ruleScope}, {"use-after-poison", ruleFreed},
	{"attempting double-free", ruleDouble}, {"attempting free", ruleBadFree}, {"bad-free", ruleBadFree}, {"alloc-dealloc-mismatch", ruleBadFree},
	{"attempting to call", ruleBadFree}, {"new-delete-type-mismatch", ruleBadFree},
	{"unknown-crash", ruleSegv}, {"stack-overflow", ruleRecursion}, {"use-of-uninitialized-value", ruleUninitialised},
	{"requested allocation size", ruleMemory}, {"out of memory", ruleMemory}, {"allocator is out of memory", ruleMemory},
	{"calloc parameters overflow", ruleMemory}, {"reallocarray parameters overflow", ruleMemory}, {"pvalloc parameters overflow", ruleMemory}, {"hard rss limit", ruleMemory}, {"allocation-size-too-big", ruleMemory}, {"FPE", ruleArithmetic}, {"ILL", ruleTrap}, {"TRAP", ruleTrap},
	{"detected memory leaks", ruleLeak}, {"data race", ruleRace}, {"lock-order-inversion", ruleLocks}, {"negative-size-param", ruleHeap}, {"ABRT", ruleAbort},
	{"memcpy-param-overlap", RuleUndefined}, {"strcpy-param-overlap", RuleUndefined}, {"strncpy-param-overlap", RuleUndefined},
	{"strcat-param-overlap", RuleUndefined}, {"strncat-param-overlap", RuleUndefined},
	{"deadly signal", ruleSignal}, {"out-of-memory", ruleMemory}, {"fuzz target exited", ruleExit}, // libFuzzer's own words
}

// sanitized reads a sanitizer's report, which knows better than a signal. place finds the frame of an address in a module.
func sanitized(c *Crash, d *sancov.Death, place func(module string, offset uint64) []Frame) {
	text := d.Report
	if text == "" {
		text = d.Stderr
	}
	if m := findWith(runtimeError, text, ": runtime error: "); m != nil {
		c.Rule, c.Message = RuleUndefined, text[m[6]:m[7]]
		c.Stack = parseStack(text[m[1]:], place)
		if len(c.Stack) == 0 {
			line, _ := strconv.Atoi(text[m[4]:m[5]])
			c.Stack = []Frame{{Function: "?", File: text[m[2]:m[3]], Line: line}}
		}
		c.Access = ""
		return
	}
	m := headline.FindStringSubmatchIndex(text)
	if m == nil {
		return
	}
	c.Message = processText.ReplaceAllString(text[m[4]:m[5]], "")
	if stack := parseStack(text[m[1]:], place); len(stack) > 0 {
		c.Stack = stack
	}
	if a := accessLine.FindString(text[m[1]:]); strings.Contains(a, "WRITE") {
		c.Access = "write"
	} else if a != "" {
		c.Access = "read"
	}
	if a := addressText.FindStringSubmatch(c.Message); a != nil {
		c.Address, _ = strconv.ParseUint(a[1], 16, 64)
	}
	switch c.Rule = sanitizerRule(c); c.Rule {
	case ruleRace:
		race(c, text[m[1]:], place)
	case ruleAbort: // why, the C library has said
		c.Rule, c.Message = abortRule(text+d.Stderr), libraryMessage(text+d.Stderr)
	}
	if i := strings.Index(c.Message, " (pc "); i >= 0 { // registers differ each time
		c.Message = c.Message[:i]
	}
	if i := strings.Index(c.Message, " at pc "); i >= 0 {
		c.Message = c.Message[:i]
	}
}

// findWith is p.FindStringSubmatchIndex for a pattern that cannot match without one of the words: that none is in a report
// is seen much sooner than that the pattern does not match.
func findWith(p *regexp.Regexp, text string, words ...string) []int {
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
		return nil
	}
	return p.FindStringSubmatchIndex(text)
}

// race reads what two threads did. Which of them was first, and so is told second, is chance: the race is known by the one
// whose place is first in order.
func race(c *Crash, text string, place func(module string, offset uint64) []Frame) {
	type access struct {
		kind string
		at   Crash
	}
	var both []access
	for _, m := range racingLine.FindAllStringSubmatchIndex(text, 2) {
		stack, _, _ := strings.Cut(text[m[1]:], "\n\n")
		both = append(both, access{strings.ToLower(text[m[2]:m[3]]), Crash{Rule: ruleRace, Stack: parseStack(stack, place)}})
	}
	slices.SortStableFunc(both, func(a, b access) int {
		return cmp.Or(strings.Compare(a.at.group(), b.at.group()), strings.Compare(a.kind, b.kind))
	})
	if len(both) == 0 {
		return
	}
	if both[0].at.top() == nil { // the stack was lost
		slices.Reverse(both)
	}
	c.Stack, c.Message = both[0].at.Stack, both[0].kind
	if len(both) == 2 {
		c.Message += " against " + both[1].kind
		if f := both[1].at.top(); f != nil {
			c.Message += fmt.Sprintf(" in %v", *f)
		}
	}
}

func sanitizerRule(c *Crash) string {
	for _, k := range kinds {
		if strings.HasPrefix(c.Message, k.word) {
			return k.rule
		}
	}
	if strings.HasPrefix(c.Message, "SEGV") || strings.HasPrefix(c.Message, "BUS") {
		pc := programCounter.FindStringSubmatch(c.Message)
		if pc != nil {
			c.PC, _ = strconv.ParseUint(pc[1], 16, 64)
		}
		switch {
		case pc != nil && c.PC == c.Address:
			c.Access = "execute"
			return ruleJump
		case c.Address < page0 && !strings.Contains(c.Report, "wild") && !strings.Contains(c.Report, "high value address"):
			return ruleNull
		}
		return ruleSegv
	}
	return ruleSanitizer
}

// parseStack reads the first stack of a report.
func parseStack(text string, place func(module string, offset uint64) []Frame) (stack []Frame) {
	for l := range strings.Lines(text) {
		m := stackLine.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			if len(stack) > 0 {
				break
			}
			continue
		}
		offset, _ := strconv.ParseUint(m[5], 16, 64)
		if m[3] == "" && m[4] != "" {
			if m[1] != "0" {
				offset-- // of a call, not of what it returns to
			}
			stack = append(stack, place(m[4], offset)...)
			continue
		}
		f := Frame{Function: function(m[3]), File: m[6], Module: m[4], Offset: offset}
		f.Line, _ = strconv.Atoi(m[7])
		stack = append(stack, f)
	}
	return own(stack)
}

// beforeParameters is all of a C++ function's name but its parameters, in front of which brackets may be part of it.
var beforeParameters = regexp.MustCompile(`^(?:\(anonymous namespace\)|operator\(\)?|[^(])+`)

// function leaves the parameters out of a C++ function's name.
func function(name string) string { return cmp.Or(beforeParameters.FindString(name), name) }

var (
	assertion = regexp.MustCompile(`(?m)^.*: .*Assertion .* failed\.?.*$|^terminate called .*$`)
	// What the languages' libraries say before they abort: glibc and libstdc++.
	libraryKinds = [...]struct{ text, rule string }{
		{"double free or corruption (out)", ruleHeap}, {"malloc assertion failure", ruleHeap}, {"sysmalloc: Assertion", ruleHeap},
		{"double free", ruleDouble}, {"free(): invalid", ruleBadFree}, {"munmap_chunk(): invalid", ruleBadFree},
		{"stack smashing detected", ruleStack}, {"buffer overflow detected", ruleStack},
		{"malloc(): ", ruleHeap}, {"free(): ", ruleHeap}, {"realloc(): ", ruleHeap}, {"corrupted size", ruleHeap},
		{"malloc_consolidate()", ruleHeap}, {"corrupted double-linked", ruleHeap}, {"std::bad_alloc", ruleMemory},
		// What Rust's does.
		{"memory allocation of ", ruleMemory}, {"has overflowed its stack", ruleRecursion},
	}
)

// abortRule says what made a program abort, by what it said.
func abortRule(stderr string) string {
	for _, k := range libraryKinds {
		if strings.Contains(stderr, k.text) {
			return k.rule
		}
	}
	return ruleAbort
}

// libraryMessage returns the line that says why a program aborted, "" if none does.
func libraryMessage(stderr string) string {
	if m := findWith(assertion, stderr, "Assertion ", "terminate called "); m != nil {
		return stderr[m[0]:m[1]]
	}
	for _, k := range libraryKinds {
		if i := strings.Index(stderr, k.text); i >= 0 {
			from := strings.LastIndexByte(stderr[:i], '\n') + 1
			line, _, _ := strings.Cut(stderr[from:], "\n")
			return line
		}
	}
	return ""
}
