package tui

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// detail is the text of a finding, which is made anew only when the finding or the width has changed.
type detail struct {
	lines []string
	of    string
}

// mostInput is how many bytes of an input are shown; its file has all.
const mostInput = 4 << 10

// update makes the lines of a finding for a width.
func (d *detail) update(f *view.Finding, rule view.Rule, w int) {
	of := fmt.Sprint(f.ID, w, f.Occurrences, f.Stable, f.Tries, len(f.Detail), len(f.Commands), f.InputSize, f.Unconfirmed)
	if d.of == of {
		return
	}
	d.of, d.lines = of, nil
	add := func(st style, text string) {
		for line := range strings.Lines(plain.Text(text)) {
			line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
			for part := range strings.SplitSeq(ansi.Hardwrap(line, max(1, w), true), "\n") {
				d.lines = append(d.lines, st.paint(part))
			}
		}
	}
	section := func(title, text string) {
		if text != "" {
			add(bold, "\n"+title)
			add(normal, text)
		}
	}
	add(severityStyles[f.Severity], f.Severity+"  "+f.Rule+"  "+f.Subject)
	add(normal, state(f))
	section("message", f.Message)
	for _, c := range f.Commands {
		section(c.Title, "  "+c.Text)
	}
	size := fmt.Sprintf("input: %d bytes", f.InputSize)
	if f.OriginSize > 0 && f.OriginSize != f.InputSize {
		size += fmt.Sprintf(", of %d bytes when it was first seen", f.OriginSize)
	}
	section(size, input(f.Input))
	section("exchange, stack and output", f.Detail)
	section("rule: "+rule.Title, rule.Help+"\n"+rule.Source)
}

// state says how sure a finding is.
func state(f *view.Finding) string {
	text := fmt.Sprintf("reproduced %d of %d times", f.Stable, f.Tries)
	switch {
	case f.Unconfirmed && f.Tries == 0:
		text = "not confirmed: there was no time to reproduce it"
	case f.Unconfirmed:
		text = fmt.Sprintf("not confirmed: not reproduced in %d tries", f.Tries)
	case f.Stable < f.Tries:
		text = "flaky: " + text
	}
	text += fmt.Sprintf("; seen %d times", f.Occurrences)
	if f.Found > 0 {
		text += "; first after " + seconds(f.Found)
	}
	if f.Known != "" {
		text += "; known: " + f.Known
	}
	return text
}

// input shows bytes as text if most of them are, and as hexadecimal digits otherwise.
func input(data []byte) string {
	cut := ""
	if len(data) > mostInput {
		data, cut = data[:mostInput], "\nand more, in the finding's file"
	}
	odd := 0
	for _, r := range string(data) {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			odd++
		}
	}
	if len(data) == 0 {
		return "(empty)"
	}
	if 10*odd > len(data) {
		return strings.TrimRight(hex.Dump(data), "\n") + cut
	}
	return string(data) + cut
}
