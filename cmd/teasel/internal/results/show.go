// Package results is the verbs that take a campaign's directory or a finding in it: show, report, resume, repro and min.
package results

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/hub"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// show is what the verb show was told to show, and how.
type show struct {
	input, script bool
	page          flags.Options
	login         flags.Hub
	format        string
}

// NewShow returns the verb show.
func NewShow() *cobra.Command {
	o := show{format: "text"}
	cmd := &cobra.Command{
		Use:   "show [DIR] [FINDING] | TESTCASE | URL",
		Short: "Show a campaign, also while it runs or on a hub, one finding in full, or why a testcase was kept",
		Long: `Show a campaign, also while it runs, one finding in full, or why a testcase was kept. Without an argument it is the campaign
in teasel-out. FINDING is its file, the file with its input in crashes/ or hangs/, or its id or the beginning of it, of the campaign in
DIR or teasel-out.`,
		Example: `  teasel show
  teasel show 4f1c
  teasel show other-out 4f1c
  teasel show other-out/findings/4f1c8a0d2b6e9f37.json
  teasel show teasel-out/interesting/0a1b2c3d4e5f6071
  teasel show --ui 127.0.0.1:8080
  teasel show --format html nats://127.0.0.1:4222 > fleet.html
  teasel show --input 4f1c > input
  teasel show --script 4f1c > show.py`,
		Args:              flags.Args(0, 2, "a campaign's directory, a finding or both, or a file of interesting/ or queue/"),
		ValidArgsFunction: completeFinding,
		RunE:              o.run,
	}
	flags.AddPage(cmd, &o.page)
	flags.AddHubLogin(cmd.Flags(), &o.login)
	cmd.Flags().Var(flags.Choice(&o.format, report.Formats()), "format", "what is written of a campaign")
	cmd.Flags().BoolVar(&o.input, "input", false, "only the input of the finding, as it is")
	cmd.Flags().BoolVar(&o.script, "script", false, "only a program that shows the finding without teasel, as teasel repro --script writes it")
	return cmd
}

// run shows what the arguments name: a campaign on a hub, the campaigns in a directory, a testcase or a finding.
func (o *show) run(cmd *cobra.Command, args []string) error {
	path := orDefault(args)
	if hub.IsAddress(path) {
		o.login.URL = path
		return hub.Show(cmd, &o.login, o.format)
	}
	info, err := os.Stat(path)
	if isDir := err == nil && info.IsDir(); isDir || len(args) == 0 {
		switch only := o.input || o.script; {
		case !only:
			return o.campaigns(cmd, path)
		case len(args) > 0 || !isDir:
			return exit.Usage("'teasel show "+path+"' lists the findings", "--input and --script are for a finding")
		}
		if path, err = onlyFinding(path); err != nil {
			return err
		}
	}
	if dir := filepath.Dir(path); slices.Contains([]string{corpus.Interesting, corpus.Queue}, filepath.Base(dir)) && corpus.IsCampaign(filepath.Dir(dir)) && !o.script {
		return showTestcase(cmd.OutOrStdout(), path, o.input)
	}
	return o.finding(cmd, path)
}

// campaigns shows the campaigns in a directory.
func (o *show) campaigns(cmd *cobra.Command, path string) error {
	switch {
	case o.page.UI != "":
		return servePage(cmd, path, &o.page)
	case o.format != "text":
		return writeReport(cmd, path, o.format)
	}
	w, between := cmd.OutOrStdout(), ""
	return campaign.OpenEach(path, cmd.ErrOrStderr(), func(s campaign.Saved) error {
		fmt.Fprint(w, between)
		between = "\n"
		return showCampaign(w, s)
	})
}

// finding shows the finding that is named.
func (o *show) finding(cmd *cobra.Command, name string) error {
	if o.page.UI != "" {
		path, err := findingPath([]string{name})
		if err != nil {
			return err
		}
		return exit.Usage("'teasel show --ui "+o.page.UI+" teasel-out' shows a campaign", "--ui is for a campaign's directory, and %s is a file", path)
	}
	w := cmd.OutOrStdout()
	f, path, ours, err := findingOf(cmd, []string{name}, gotest.Target{})
	switch {
	case err != nil:
		return err
	case o.input:
		_, err := w.Write(f.Finding.Input)
		return exit.Failure(err)
	case !ours:
		return gotest.ShowCorpusFile(w, f, path)
	case o.script:
		return writeScript(w, f)
	}
	showFinding(w, f, path)
	return nil
}

// writeReport writes the report of the campaign in a directory.
func writeReport(cmd *cobra.Command, path, format string) error {
	s, err := campaign.Open(path, io.Discard)
	if err != nil {
		return err
	}
	k, _ := kinds.Of(s.Meta().Kind, "")
	return campaign.WriteReport(cmd.OutOrStdout(), format, k.Report(s.Dir, s.Summary()))
}

// showFinding prints all that a finding's file contains.
func showFinding(w io.Writer, f *corpus.FindingFile, path string) {
	x := &f.Finding
	fmt.Fprintf(w, "%s  %s  %s\n%s\n\n", x.Severity, plain.Line(x.Rule), plain.Line(x.Subject), plain.Line(x.Message))
	if x.Tries == 0 {
		fmt.Fprint(w, "seen, and there was no time to reproduce it")
	} else {
		fmt.Fprintf(w, "reproduced %d of %d times, seen %s", x.Stable, x.Tries, noun.Count(int(x.Occurrences), "time", "times"))
	}
	fmt.Fprintf(w, "; seed of the campaign %d\n%s\n", f.Seed, report.Provenance(x))
	if x.Detail != "" {
		shown, more := beginning(x.Detail)
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(plain.Text(shown), "\n"))
		if more > 0 {
			fmt.Fprintf(w, "... and %d bytes more, which are in %s\n", more, plain.Line(path))
		}
	}
	shown, more := beginning(string(x.Input))
	fmt.Fprintf(w, "\ninput (%d bytes):\n%s\n", len(x.Input), strings.TrimRight(readable([]byte(shown)), "\n"))
	if more > 0 {
		fmt.Fprintf(w, "... and %d bytes more: teasel show --input %s\n", more, plain.Quote(path))
	}
	if n := len(x.History) - 1; n > 0 {
		fmt.Fprintf(w, "\nthe target had run %s before, which are in the file: teasel repro tries them too\n", noun.Count(n, "other input", "other inputs"))
	}
	fmt.Fprintf(w, "\nreproduce it: teasel repro %s\n", plain.Quote(path))
	k, _ := kinds.Of(f.Kind, "")
	if c := k.Command(f.Target, x, path); c != "" {
		fmt.Fprintf(w, "without teasel: %s\n", plain.Text(c))
	}
}

// mostShown is how many bytes of a text are shown in a terminal.
const mostShown = 8 << 10

// beginning returns what is shown of a text, and how many bytes are not.
func beginning(text string) (shown string, more int) {
	if len(text) <= mostShown {
		return text, 0
	}
	n := mostShown
	for n > mostShown-utf8.UTFMax && !utf8.RuneStart(text[n]) { // or the character that is cut would make it no text
		n--
	}
	return text[:n], len(text) - n
}

// readable returns an input for a terminal: text as it is, anything else in hexadecimal.
func readable(in []byte) string {
	unprintable := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) }
	if bytes.ContainsFunc(in, unprintable) {
		return hex.Dump(in)
	}
	return string(in)
}

// showCampaign prints the figures and findings of a campaign.
func showCampaign(w io.Writer, dir campaign.Saved) error {
	s := &dir.Kept
	m := dir.Meta()
	k, _ := kinds.Of(m.Kind, "") // the figures of one of a newer teasel can be shown
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "campaign\t%s\nkind\t%s\ntarget\t%s\nseed\t%d\n", dir.Path(), plain.Line(m.Kind), plain.Line(m.Name), m.Seed)
	messages := ""
	if s.Messages > 0 {
		messages = fmt.Sprintf(", %d messages", s.Messages)
	}
	fmt.Fprintf(t, "run time\t%v\nexecutions\t%d%s\ncorpus\t%d testcases, %d evicted\n", s.Elapsed.Round(time.Second), s.Executions, messages, len(s.Entries), s.Evicted)
	if stability := dir.Summary().Stability; stability > 0 {
		fmt.Fprintf(t, "stability\t%.2f%% of what was reached recurs\n", 100*stability)
	}
	if edges := k.CoverageOf(&m, s.Entries).Edges.Reached; edges > 0 {
		fmt.Fprintf(t, "edges reached\t%d\n", edges)
	}
	if len(m.Blocked) > 0 {
		fmt.Fprintf(t, "blocked\t%s\n", plain.Line(strings.Join(m.Blocked, ", ")))
	}
	for _, k := range m.Skipped {
		fmt.Fprintf(t, "skipped\t%s: %s\n", plain.Line(k.Subject), plain.Line(k.Reason))
	}
	listStages(t, s.Stages)
	sum := dir.Summary()
	if known := sum.KnownShare(); known > 0 {
		fmt.Fprintf(t, "known\t%.0f%% of the time went into confirming, trimming, minimising, and inputs that crash or hang\n", 100*known)
	}
	if why := k.Report(dir.Dir, dir.Summary()).Untested; why != "" {
		fmt.Fprintf(t, "untested\t%s\n", plain.Line(why))
	}
	fmt.Fprintf(t, "findings\t%d\n", len(s.Findings))
	unconfirmed := dir.Summary().Unconfirmed
	if n := len(unconfirmed); n > 0 {
		fmt.Fprintf(t, "unconfirmed\t%d, %d of them for want of time\n", n, len(s.Untried))
	}
	if err := t.Flush(); err != nil {
		return exit.Failure(err)
	}
	for _, p := range k.PanelsOf(&m, dir.Path(), s.Entries) {
		fmt.Fprintln(w)
		if err := report.TextTable(w, &p, len(p.Rows)); err != nil {
			return exit.Failure(err)
		}
	}
	for _, f := range s.Findings {
		path, flaky := dir.FindingPath(f.ID()), ""
		if !f.Confirmed() {
			flaky = fmt.Sprintf(" (flaky: reproduced %d of %d times)", f.Stable, f.Tries)
		}
		listFinding(w, &f, flaky, path)
		if c := k.Command(m.Target, &f, path); c != "" {
			fmt.Fprintf(w, "  %s\n", plain.Text(c))
		}
	}
	for _, f := range unconfirmed {
		listFinding(w, &f, " (unconfirmed)", dir.UnconfirmedPath(f.ID()))
	}
	return nil
}

// listStages lists what stages have made.
func listStages(w io.Writer, stages []teasel.StageStats) {
	for _, g := range stages {
		var did []string
		if view.HasExecutions(&g) {
			did = append(did, fmt.Sprintf("%d executions, %d testcases found", g.Executions, g.Kept))
		}
		if g.Time > 0 {
			did = append(did, fmt.Sprintf("%.1f s", g.Time.Seconds()))
		}
		fmt.Fprintf(w, "stage %s\t%s\n", plain.Line(g.Name), strings.Join(did, ", "))
	}
}

// listFinding prints a finding and the command that shows it again, given its file.
func listFinding(w io.Writer, f *teasel.Finding, remark, path string) {
	fmt.Fprintf(w, "\n%s  %s  %s%s\n  %s\n  teasel repro %s\n", f.Severity, plain.Line(f.Rule), plain.Line(f.Subject), remark,
		plain.Line(f.Message), plain.Quote(path))
}
