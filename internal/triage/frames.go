package triage

import (
	"regexp"
	"strconv"
	"strings"
)

// framePattern recognises the frames of a stack trace. Its groups are named after the fields of a [Frame].
type framePattern struct {
	*regexp.Regexp
	function, file, line, column int // indices of the groups; -1: there is none
}

func newFramePattern(text string) framePattern {
	re := regexp.MustCompile(text)
	return framePattern{re, re.SubexpIndex("function"), re.SubexpIndex("file"), re.SubexpIndex("line"), re.SubexpIndex("column")}
}

// Frames as the runtimes print them.
var (
	goFrame     = newFramePattern(`(?m)^(?P<function>[\w./*()\[\]{}·-]+)\([^\n]*\)(?: in goroutine \d+)?\n\t(?P<file>[^\s:]+\.(?:go|s)):(?P<line>\d+)`)
	nodeFrame   = newFramePattern(`(?m)^\s+at (?:(?:async |new )*(?P<function>[^\s(]+)(?: \[as [^\]\n]+\])? \()?(?P<file>[^\s()]*?):(?P<line>\d+):(?P<column>\d+)\)?\r?$`)
	javaFrame   = newFramePattern(`(?m)^\s+at (?:[\w.$@-]*/)*(?P<function>[\w.$<>]+)\((?P<file>[\w$-]+\.(?:java|kt|scala|groovy|clj))(?::(?P<line>\d+))?\)\r?$`)
	dotnetFrame = newFramePattern("(?m)^\\s+at (?P<function>[\\w.`<>|+\\[\\],]+)\\([^)\\n]*\\)(?: in (?P<file>[^\\n]+?):line (?P<line>\\d+))?\\r?$")
	phpFrame    = newFramePattern(`(?m)^#\d+ (?P<file>[^\n(]+\.php)\((?P<line>\d+)\): (?P<function>[^\s(]+)\(`)
	rubyFrame   = newFramePattern("(?m)^\\s*(?:from )?(?P<file>\\S+\\.rb):(?P<line>\\d+):in [`'](?:block (?:\\(\\d+ levels\\) )?in )?(?P<function>[^'\\n]+)'")
	// The frames of V8 when it gives up, and of Python and Java when the interpreter does.
	v8Frame      = newFramePattern(`(?m)^\s*\d+: (?:(?P<function>[^\s(]+)[^(\n]* \()?(?P<file>[^\s()]+?):(?P<line>\d+):(?P<column>\d+)\)?$`)
	fatalFrame   = newFramePattern(`(?m)^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in (?P<function>.+)$`)
	hotspotFrame = newFramePattern(`(?m)^# Problematic frame:\n# (?:C  \[(?P<file>[^\s\]+]+)\+0x[0-9a-f]+\]|V  \[\S+\]|[jJ] ) *(?:\d+ (?:\S+ )??)?(?P<function>[A-Za-z_][\w.$:<>]*)?`)
	// Where assertions of C libraries say that they are.
	glibcAssert = newFramePattern(`(?m)(?P<file>[^\s:]+\.\w+):(?P<line>\d+): (?P<function>[^\n]*?): Assertion .* failed\.`)
	bsdAssert   = newFramePattern(`(?m)Assertion failed: .*, function (?P<function>\S+), file (?P<file>\S+), line (?P<line>\d+)`)
	// Frames of a backtrace of Rust's.
	rustFrame = newFramePattern(`(?m)^\s+\d+: (?P<function>.+)\n\s+at (?P<file>\S+?):(?P<line>\d+)(?::(?P<column>\d+))?$`)
	// The place of a panic of Rust's.
	rustPlace = newFramePattern(`panicked at (?:'[^\n]*', )?(?P<file>[^\s:]+\.rs):(?P<line>\d+)(?::(?P<column>\d+))?`)
)

// maxCalls is how many frames of one trace are read.
const maxCalls = 128

// frames returns the frames in a text, and where the first one begins.
func (p framePattern) frames(text string) (s Stack, at int) {
	all := p.FindAllStringSubmatchIndex(text, maxCalls)
	for _, m := range all {
		s = append(s, p.frame(text, m))
	}
	if len(all) > 0 {
		at = all[0][0]
	}
	return s, at
}

// frame returns the frame of a match.
func (p framePattern) frame(text string, m []int) Frame {
	group := func(i int) string {
		if i < 0 || m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	f := Frame{Function: group(p.function), File: group(p.file)}
	f.Line, _ = strconv.Atoi(group(p.line)) // 0, if there is none
	f.Column, _ = strconv.Atoi(group(p.column))
	return f
}

// matches returns all matches in a text that has some words, which are cheaper to look for.
func (p framePattern) matches(words, text string) [][]int {
	if !strings.Contains(text, words) {
		return nil
	}
	return p.FindAllStringSubmatchIndex(text, -1)
}

// lastWith is last for a pattern that matches only where there are some words, which are cheaper to look for.
func (p framePattern) lastWith(words, text string) (f Frame, at int) {
	if !strings.Contains(text, words) {
		return Frame{}, -1
	}
	return p.last(text)
}

// last returns the frame of the last match in a text, and where it begins; -1: there is none.
func (p framePattern) last(text string) (f Frame, at int) {
	all := p.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return Frame{}, -1
	}
	m := all[len(all)-1]
	return p.frame(text, m), m[0]
}
