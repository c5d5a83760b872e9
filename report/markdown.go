package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

const (
	mostListed   = 200      // findings in the table
	mostDetailed = 50       // findings that are laid out: a job summary has a megabyte, and an issue less
	mostBlock    = 16 << 10 // bytes of a block of text
)

// Markdown writes a report for a job summary, an issue or a pull request. What the target has said stands in blocks and spans of code
// whose fences it cannot close, and is no markup anywhere.
func Markdown(w io.Writer, r *Run) error {
	var b bytes.Buffer
	outcome := r.Outcome()
	fs := outcome.Found
	fmt.Fprintf(&b, "# teasel %s: %s\n\n", markdownText(r.Kind), r.count(&outcome))
	if r.Untested != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownText(r.Untested))
	}
	st := &r.Summary.Stats
	fmt.Fprintf(&b, "| target | run time | executions | a second | corpus | features | seed |\n|---|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(&b, "| %s | %s | %d | %.0f | %d | %d | %d |\n\n", markdownCell(r.Target), clock.Tenths(st.Elapsed), st.Executions, r.rate(), st.Corpus, st.Features, r.Seed)
	if why := r.early(); why != "" {
		fmt.Fprintf(&b, "%s%s.\n\n", strings.ToUpper(why[:1]), why[1:])
	}
	if t := r.textTriaged(); t != "" {
		fmt.Fprintf(&b, "%s.\n\n", markdownText(t))
	}
	markdownTable(&b, "Findings", fs)
	if len(outcome.Library) > 0 {
		markdownTable(&b, markdownText(outcome.libraryTitle(r)), outcome.Library)
		fs = slices.Concat(fs, outcome.Library)
	}
	markdownTable(&b, "Unconfirmed", r.Pending())
	var ks []teasel.Finding
	for _, k := range r.known() {
		ks = append(ks, k.Finding)
	}
	markdownTable(&b, "Known: these do not fail the run", ks)
	for i := range fs[:min(len(fs), mostDetailed)] {
		r.markdownFinding(&b, &fs[i])
	}
	if n := len(fs) - mostDetailed; n > 0 {
		fmt.Fprintf(&b, "%s more in %s\n\n", noun.Count(n, "finding", ""), markdownCode(r.Dir))
	}
	if skips := r.skipped(); len(skips) > 0 {
		b.WriteString("## Skipped\n\n")
		for _, s := range skips {
			fmt.Fprintf(&b, "- %s: %s\n", markdownCode(s.Subject), markdownText(s.Reason))
		}
		b.WriteByte('\n')
	}
	if blocked := r.blocked(); len(blocked) > 0 {
		b.WriteString("## Blocked because they may destroy something\n\n")
		for _, s := range blocked {
			fmt.Fprintf(&b, "- %s\n", markdownCode(s))
		}
		b.WriteByte('\n')
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// markdownTable lists findings, a line each.
func markdownTable(b *bytes.Buffer, title string, fs []teasel.Finding) {
	if len(fs) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n| severity | rule | subject | message | seen |\n|---|---|---|---|--:|\n", title)
	for i := range fs[:min(len(fs), mostListed)] {
		f := &fs[i]
		message := markdownCell(cutText(f.Message, 200))
		if f.Tries > 0 && !f.Confirmed() {
			message += fmt.Sprintf(" (flaky: %d of %d)", f.Stable, f.Tries)
		}
		fmt.Fprintf(b, "| %v | %s | %s | %s | %d |\n", f.Severity, markdownCell(f.Rule), markdownCell(f.Subject), message, f.Occurrences)
	}
	if n := len(fs) - mostListed; n > 0 {
		fmt.Fprintf(b, "\n%d more.\n", n)
	}
	b.WriteByte('\n')
}

// markdownFinding lays a finding out, folded.
func (r *Run) markdownFinding(b *bytes.Buffer, f *teasel.Finding) {
	fmt.Fprintf(b, "<details><summary>%v: <code>%s</code> %s</summary>\n\n", f.Severity, markdownText(f.Rule), markdownText(cutText(f.Subject, 200)))
	fmt.Fprintf(b, "%s%s\n\n", markdownCode(cutText(f.Message, 1000)), markdownText(r.inTest(f)))
	if shown := r.shownBy(f); shown != "" {
		fmt.Fprintf(b, "%s\n\n", markdownText(shown))
	}
	var commands []string
	for _, c := range r.Commands(f) {
		commands = append(commands, c.Text)
	}
	if commands != nil {
		b.WriteString(fenced("sh", strings.Join(commands, "\n")))
	}
	if detail := strings.TrimRight(plain.Text(f.Detail), "\n\t "); detail != "" && plain.Line(detail) != plain.Line(f.Message) {
		b.WriteString(fenced("text", detail))
	}
	if u := r.rule(f.Rule); u.Help != "" {
		fmt.Fprintf(b, "%s\n\n", markdownText(u.Help))
	}
	b.WriteString("</details>\n\n")
}

func (r *Run) rule(id string) teasel.Rule {
	for _, u := range r.Rules {
		if u.ID == id {
			return u
		}
	}
	return teasel.Rule{}
}

// cutText shortens a text to about so many bytes, at a character.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// fenced returns a block of code whose fence is longer than any run of the same character in the text.
func fenced(language, text string) string {
	text = cutText(plain.Text(text), mostBlock)
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + text + "\n" + fence + "\n\n"
}

func longestRun(s string, c byte) (most int) {
	n := 0
	for i := range len(s) {
		if n++; s[i] != c {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// markdownCode returns a text on one line as a span of code.
func markdownCode(s string) string {
	s = plain.Line(s)
	if s == "" {
		return "(none)"
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	return fence + " " + s + " " + fence
}

// markdownCell is markdownCode in a table, where a bar would end the cell also within code.
func markdownCell(s string) string {
	if strings.ContainsAny(s, "|") {
		return markdownText(s)
	}
	return markdownCode(s)
}

// markdownText returns a text on one line in which nothing is markup, a mention or an address.
func markdownText(s string) string {
	var b strings.Builder
	for _, c := range plain.Line(s) {
		switch {
		case strings.ContainsRune("\\`*_{}[]()<>#+-.!|~@&:=^$\"'/", c):
			fmt.Fprintf(&b, "&#%d;", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
