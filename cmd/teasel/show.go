package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

func newShow() *cobra.Command {
	var input, script bool
	cmd := &cobra.Command{
		Use:   "show DIR|FINDING",
		Short: "Show a campaign, also while it runs, or one finding in full",
		Example: `  teasel show teasel-out
  teasel show teasel-out/findings/4f1c8a0d2b6e9f37.json
  teasel show --input teasel-out/findings/4f1c8a0d2b6e9f37.json > input
  teasel show --script teasel-out/findings/4f1c8a0d2b6e9f37.json > show.py`,
		Args: oneArg("a campaign's directory or a finding's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f, err := gotest.CorpusFile(args[0], gotest.Target{}); err != nil {
				return err
			} else if f != nil && input {
				_, err := cmd.OutOrStdout().Write(f.Finding.Input)
				return exit.Failure(err)
			} else if f != nil {
				return gotest.ShowCorpusFile(cmd.OutOrStdout(), f, args[0])
			}
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				f, err := readFinding(args[0])
				if err != nil {
					return err
				}
				if input {
					_, err := cmd.OutOrStdout().Write(f.Finding.Input)
					return exit.Failure(err)
				}
				if script {
					return writeScript(cmd.OutOrStdout(), f)
				}
				showFinding(cmd.OutOrStdout(), f, args[0])
				return nil
			}
			if input || script {
				return exit.Usage("'teasel show "+args[0]+"' lists the findings", "--input and --script are for a finding's file")
			}
			dirs, err := campaign.Find(args[0])
			if err != nil {
				return err
			}
			for i, path := range dirs {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				dir, err := campaign.OpenReadOnly(path)
				if err != nil {
					return err
				}
				if err := showCampaign(cmd.OutOrStdout(), cmd.ErrOrStderr(), dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&input, "input", false, "only the input of the finding, as it is")
	cmd.Flags().BoolVar(&script, "script", false, "only a program that shows the finding without teasel, as teasel repro --script writes it")
	return cmd
}

// showFinding prints all that a finding's file contains.
func showFinding(w io.Writer, f *corpus.FindingFile, path string) {
	x := &f.Finding
	fmt.Fprintf(w, "%s  %s  %s\n%s\n\n", x.Severity, report.Line(x.Rule), report.Line(x.Subject), report.Line(x.Message))
	if x.Tries == 0 {
		fmt.Fprint(w, "seen, and there was no time to reproduce it")
	} else {
		fmt.Fprintf(w, "reproduced %d of %d times, seen %s", x.Stable, x.Tries, campaign.Plural(int(x.Occurrences), "time", "times"))
	}
	fmt.Fprintf(w, ", first at execution %d of worker %d with seed %d\n", x.Execution, x.Worker, f.Seed)
	if x.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(report.Plain(x.Detail), "\n"))
	}
	fmt.Fprintf(w, "\ninput (%d bytes):\n%s\n", len(x.Input), strings.TrimRight(readable(x.Input), "\n"))
	fmt.Fprintf(w, "\nshow it again: teasel repro %s\n", report.Quote(path))
	if c := byHand(f.Kind, f.Target, x, path); c != "" {
		fmt.Fprintf(w, "without teasel: %s\n", report.Plain(c))
	}
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
func showCampaign(w, stderr io.Writer, dir *corpus.Dir) error {
	s, problems, err := dir.Snapshot(nil)
	if err != nil {
		return exit.Failure(err)
	}
	campaign.Warn(stderr, problems)
	m := dir.Meta()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "campaign\t%s\nkind\t%s\ntarget\t%s\nseed\t%d\n", dir.Path(), report.Line(m.Kind), report.Line(m.Name), m.Seed)
	fmt.Fprintf(t, "run time\t%v\nexecutions\t%d\ncorpus\t%d testcases, %d evicted\n", s.Elapsed.Round(time.Second), s.Executions, len(s.Entries), s.Evicted)
	if stability := dir.Summary().Stability; stability > 0 {
		fmt.Fprintf(t, "stability\t%.2f%% of what was reached recurs\n", 100*stability)
	}
	if len(m.Blocked) > 0 {
		fmt.Fprintf(t, "blocked\t%s\n", report.Line(strings.Join(m.Blocked, ", ")))
	}
	for _, k := range m.Skipped {
		fmt.Fprintf(t, "skipped\t%s: %s\n", report.Line(k.Subject), report.Line(k.Reason))
	}
	for _, g := range s.Stages {
		fmt.Fprintf(t, "stage %s\t%d executions, %d testcases found\n", g.Name, g.Executions, g.Kept)
	}
	fmt.Fprintf(t, "findings\t%d\n", len(s.Findings))
	unconfirmed := dir.Summary().Unconfirmed
	if n := len(unconfirmed); n > 0 {
		fmt.Fprintf(t, "unconfirmed\t%d, %d of them for want of time\n", n, len(s.Untried))
	}
	if err := t.Flush(); err != nil {
		return exit.Failure(err)
	}
	if k, err := kindOf(m.Kind, "a campaign"); err == nil && k.states != nil {
		if err := k.states(w, m.Target, s.Entries); err != nil {
			return err
		}
	}
	for _, f := range s.Findings {
		path, flaky := dir.FindingPath(f.ID()), ""
		if !f.Confirmed() {
			flaky = fmt.Sprintf(" (flaky: reproduced %d of %d times)", f.Stable, f.Tries)
		}
		listFinding(w, &f, flaky, path)
		if c := byHand(m.Kind, m.Target, &f, path); c != "" {
			fmt.Fprintf(w, "  %s\n", report.Plain(c))
		}
	}
	for _, f := range unconfirmed {
		listFinding(w, &f, " (unconfirmed)", dir.UnconfirmedPath(f.ID()))
	}
	return nil
}

// listFinding prints a finding and the command that shows it again, given its file.
func listFinding(w io.Writer, f *teasel.Finding, remark, path string) {
	fmt.Fprintf(w, "\n%s  %s  %s%s\n  %s\n  teasel repro %s\n", f.Severity, report.Line(f.Rule), report.Line(f.Subject), remark,
		report.Line(f.Message), report.Quote(path))
}
