package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// How many lines of a finding's detail are printed; its file has all of them. Of messages that were exchanged these are the last ones,
// where the target fails, and of the text behind them, such as a stack, the first ones.
const (
	exchangeLines = 4
	detailLines   = 6
)

// Text writes a report for people.
func Text(w io.Writer, r *Run) error {
	var b bytes.Buffer
	o := r.Outcome()
	fs := o.Found
	if r.Untested != "" {
		fmt.Fprintf(&b, "%s\n\n", plain.Line(r.Untested))
	}
	for i := range fs {
		if i == 0 || fs[i].Severity != fs[i-1].Severity {
			fmt.Fprintf(&b, "%s\n", strings.ToUpper(fs[i].Severity.String()))
		}
		r.textFinding(&b, &fs[i])
	}
	r.textLibrary(&b, &o)
	r.textUnconfirmed(&b)
	r.textKnown(&b)
	if skips := r.skipped(); len(skips) > 0 {
		b.WriteString("Skipped\n")
		for _, s := range skips {
			fmt.Fprintf(&b, "  %s: %s\n", plain.Line(s.Subject), plain.Line(s.Reason))
		}
		b.WriteByte('\n')
	}
	if blocked := r.blocked(); len(blocked) > 0 {
		b.WriteString("Blocked because they may destroy something; --allow NAME fuzzes one\n")
		for _, s := range blocked {
			fmt.Fprintf(&b, "  %s\n", plain.Line(s))
		}
		b.WriteByte('\n')
	}
	st, s := &r.Summary.Stats, r.history()
	textFigures(&b, &s)
	fmt.Fprintf(&b, "%s\n", r.count(&o))
	if t := r.textTriaged(); t != "" {
		fmt.Fprintf(&b, "%s\n", t)
	}
	messages := ""
	if st.Messages > 0 {
		messages = fmt.Sprintf(", %d messages (%.0f/s)", st.Messages, r.perSecond(st.Messages))
	}
	fresh := ""
	if r.History != nil && st.Elapsed > time.Minute {
		fresh = fmt.Sprintf(" (%d in the last minute)", s.Figures.Fresh)
	}
	fmt.Fprintf(&b, "%d executions in %s (%.0f/s)%s, %d features%s, %d corpus\n", st.Executions, clock.Tenths(st.Elapsed), r.rate(), messages,
		st.Features, fresh, st.Corpus)
	if why := r.early(); why != "" {
		fmt.Fprintf(&b, "%s\n", why)
	}
	_, err := w.Write(b.Bytes())
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// early says why the campaign ended otherwise than at the limits that it was given; "": it did not.
func (r *Run) early() string {
	switch r.Summary.Stopped {
	case "", "duration", "runs", "seeds":
		return ""
	}
	return view.Ending(r.Summary.Stopped)
}

// textLibrary lists what the library does that the target is built on.
func (r *Run) textLibrary(b *bytes.Buffer, o *Outcome) {
	if len(o.Library) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", o.libraryTitle(r))
	for i := range o.Library {
		f := &o.Library[i]
		fmt.Fprintf(b, "  %v %s  %s: %s%s\n", f.Severity, plain.Line(f.Rule), plain.Line(f.Subject), plain.Line(f.Message), r.inTest(f))
		if c := r.again(f); c != "" {
			fmt.Fprintf(b, "    %s\n", plain.Text(c))
		}
	}
	b.WriteByte('\n')
}

func (o *Outcome) libraryTitle(r *Run) string {
	return fmt.Sprintf("Of %s, and the same for all that is built on it: these fail the run from %v on", plain.Line(r.Library), o.libraryFails)
}

// textUnconfirmed lists the unconfirmed findings: those that there was no time to reproduce, then those that were not reproduced.
func (r *Run) textUnconfirmed(b *bytes.Buffer) {
	for _, tried := range []bool{false, true} {
		header := "Unconfirmed: seen, and there was no time to reproduce\n"
		if tried {
			header = "Unconfirmed: seen, and not reproduced\n"
		}
		end := ""
		for _, f := range r.Pending() {
			if (f.Tries > 0) != tried {
				continue
			}
			fmt.Fprintf(b, "%s  %v %s  %s: %s%s\n", header, f.Severity, plain.Line(f.Rule), plain.Line(f.Subject), plain.Line(f.Message), r.inTest(&f))
			if r.Summary.Stopped == "gone" { // there is no other way to look at it
				r.textDetail(b, &f)
			}
			if c := r.again(&f); c != "" {
				fmt.Fprintf(b, "    %s\n", plain.Text(c))
			}
			header, end = "", "\n"
		}
		b.WriteString(end)
	}
}

// textKnown lists the known findings, and those that are gone.
func (r *Run) textKnown(b *bytes.Buffer) {
	ks, gs := r.known(), r.gone()
	if len(ks) > 0 {
		b.WriteString("Known: these do not fail the run\n")
	}
	for i := range ks {
		k := &ks[i]
		fmt.Fprintf(b, "  %v %s  %s: %s%s\n    %s\n", k.Severity, plain.Line(k.Rule), plain.Line(k.Subject), plain.Line(k.Message), r.inTest(&k.Finding), k.reason)
		if k.file != "" {
			fmt.Fprintf(b, "    teasel repro %s\n", plain.Quote(k.file))
		}
	}
	if len(ks) > 0 {
		b.WriteByte('\n')
	}
	if len(gs) == 0 {
		return
	}
	b.WriteString("Gone: known before, and not found by this run\n")
	for i := range gs {
		fmt.Fprintf(b, "  %v\n", &gs[i])
	}
	b.WriteByte('\n')
}

// textFinding writes a finding.
func (r *Run) textFinding(b *bytes.Buffer, f *teasel.Finding) {
	fmt.Fprintf(b, "  %s  %s\n", plain.Line(f.Rule), plain.Line(f.Subject))
	fmt.Fprintf(b, "    %s%s\n", plain.Line(f.Message), r.inTest(f))
	r.textDetail(b, f)
	seen := "seen once"
	if f.Occurrences > 1 {
		seen = fmt.Sprintf("seen %d times", f.Occurrences)
	}
	if f.Tries > 0 {
		confirmed := "reproduced"
		if !f.Confirmed() {
			confirmed = "flaky: reproduced"
		}
		seen = fmt.Sprintf("%s, %s %d of %d times", seen, confirmed, f.Stable, f.Tries)
	}
	fmt.Fprintf(b, "    %s\n    %s\n", seen, Provenance(f))
	if shown := r.shownBy(f); shown != "" {
		fmt.Fprintf(b, "    %s\n", shown)
	}
	if c := r.again(f); c != "" {
		fmt.Fprintf(b, "    %s\n", plain.Text(c))
	}
	if c := r.byHand(f); c != "" {
		fmt.Fprintf(b, "    %s\n", plain.Text(c))
	}
	b.WriteByte('\n')
}

// textDetail writes the lines of a finding's detail that matter most, unless they are its message.
func (r *Run) textDetail(b *bytes.Buffer, f *teasel.Finding) {
	detail := strings.TrimRight(plain.Text(f.Detail), "\n\t ")
	if detail == "" || plain.Line(detail) == plain.Line(f.Message) {
		return
	}
	for _, l := range excerpt(strings.Split(detail, "\n")) {
		fmt.Fprintf(b, "      %s\n", l)
	}
}

// excerpt returns the lines of a detail that matter most.
func excerpt(lines []string) (shown []string) {
	n := 0
	for n < len(lines) && exchanged(lines[n]) {
		n++
	}
	if n > exchangeLines+1 {
		shown = append(shown, fmt.Sprintf("... %d earlier lines", n-exchangeLines))
		shown = append(shown, lines[n-exchangeLines:n]...)
	} else {
		shown = append(shown, lines[:n]...)
	}
	rest := lines[n:]
	for n > 0 && len(rest) > 0 && rest[0] == "" {
		rest = rest[1:]
	}
	if len(rest) > detailLines+1 {
		return append(append(shown, rest[:detailLines]...), fmt.Sprintf("... %d more lines", len(rest)-detailLines))
	}
	return append(shown, rest...)
}

// exchanged reports whether a line is of a message that was sent or received, or of the connection.
func exchanged(line string) bool {
	if rest, several := strings.CutPrefix(line, "client "); several {
		_, line, _ = strings.Cut(rest, " ")
	}
	return len(line) > 1 && (line[0] == '>' || line[0] == '<' || line[0] == '-') && line[1] == ' '
}

// inTest returns the test that a finding is of, in parentheses; "": there is none.
func (r *Run) inTest(f *teasel.Finding) string {
	if t := r.test(f); t != "" {
		return " (" + plain.Line(t) + ")"
	}
	return ""
}

// count says how many findings there are of each severity, and how many are unconfirmed, known and gone.
func (r *Run) count(o *Outcome) string {
	what, none := "finding", "Nothing found"
	if r.Baseline != nil {
		what, none = "new finding", "Nothing new found"
	}
	switch o.String() {
	case "unconfirmed", "not reproduced":
		none = strings.Replace(none, "found", "confirmed", 1)
	case "untested":
		none = "Nothing was tested"
	}
	if len(o.Library) > 0 {
		none = "No finding of the target's own"
	}
	s := count(o.Found, what, none)
	if n := len(o.Library); n > 0 {
		s += fmt.Sprintf("; %d of %s", n, plain.Line(r.Library))
	}
	if n := len(o.Untried); n > 0 { // they may fail the run
		s += fmt.Sprintf("; %d unconfirmed", n)
	}
	if n := len(o.Unreproduced); n > 0 {
		s += fmt.Sprintf("; %d not reproduced", n)
	}
	if r.Baseline == nil {
		return s
	}
	if n := len(r.known()); n > 0 {
		s += fmt.Sprintf("; %d known", n)
	}
	if n := len(r.gone()); n > 0 {
		s += fmt.Sprintf("; %d gone", n)
	}
	return s
}

// count says how many findings there are of each severity; none is returned if there are none.
func count(fs []teasel.Finding, what, none string) string {
	if len(fs) == 0 {
		return none
	}
	var parts []string
	for s := teasel.Critical; s >= teasel.Info; s-- {
		n := 0
		for i := range fs {
			if fs[i].Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, s))
		}
	}
	return noun.Count(len(fs), what, "") + ": " + strings.Join(parts, ", ")
}
