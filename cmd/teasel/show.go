package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

func newShow() *cobra.Command {
	var input bool
	cmd := &cobra.Command{
		Use:   "show DIR|FINDING",
		Short: "Show a campaign, also while it runs, or one finding in full",
		Example: `  teasel show teasel-out
  teasel show teasel-out/findings/4f1c8a0d2b6e9f37.json
  teasel show --input teasel-out/findings/4f1c8a0d2b6e9f37.json > input`,
		Args: oneArg("a campaign's directory or a finding's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f, err := corpusFileFinding(args[0], goTarget{}); err != nil {
				return err
			} else if f != nil && input {
				_, err := cmd.OutOrStdout().Write(f.Finding.Input)
				return failure(err)
			} else if f != nil {
				return showCorpusFile(cmd.OutOrStdout(), f, args[0])
			}
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				f, err := readFinding(args[0])
				if err != nil {
					return err
				}
				if input {
					_, err := cmd.OutOrStdout().Write(f.Finding.Input)
					return failure(err)
				}
				showFinding(cmd.OutOrStdout(), f, args[0])
				return nil
			}
			if input {
				return usage("'teasel show "+args[0]+"' lists the findings", "--input is for a finding's file")
			}
			dirs, err := campaigns(args[0])
			if err != nil {
				return err
			}
			for i, path := range dirs {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				dir, err := openCampaign(path)
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
	return cmd
}

// campaigns returns the directories of the campaigns in a directory: itself, or all those below it, as teasel go has one for each
// fuzz test. Those that were moved aside are left out. There is always one.
func campaigns(path string) (dirs []string, err error) {
	if corpus.IsCampaign(path) {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil // the error of the directory itself is the one of opening it
		case corpus.IsCampaign(at) && strings.HasSuffix(at, movedAside):
			return fs.SkipDir
		case corpus.IsCampaign(at):
			dirs = append(dirs, at)
			return fs.SkipDir
		case strings.Count(strings.TrimPrefix(at, path), string(filepath.Separator)) > deepest:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, failure(err)
	}
	if len(dirs) == 0 {
		dirs = []string{path}
	}
	return dirs, nil
}

// oneCampaign refuses a directory that has campaigns below it and is none itself, for the verbs that take a single one.
func oneCampaign(path string) error {
	dirs, err := campaigns(path)
	if err != nil || len(dirs) == 1 && dirs[0] == path {
		return nil // opening it says what is wrong
	}
	const most = 5
	list := strings.Join(dirs[:min(len(dirs), most)], "\n  ")
	if len(dirs) > most {
		list += fmt.Sprintf("\n  and %d more", len(dirs)-most)
	}
	return usage("name one of them:\n  "+list, "%s has the campaigns of %s of teasel go below it, and is none itself", path, plural(len(dirs), "fuzz test", "fuzz tests"))
}

// deepest is how far below a directory campaigns are looked for: the path of a package may have some elements.
const deepest = 12

// openCampaign opens a campaign's directory to look at it.
func openCampaign(path string) (*corpus.Dir, error) {
	dir, err := corpus.OpenReadOnly(path)
	if err != nil {
		return nil, notOpened(err)
	}
	return dir, nil
}

// notOpened says why a campaign's directory cannot be used, and what may help.
func notOpened(err error) error {
	hint := "name the directory that a campaign wrote, for example teasel-out"
	var at *fs.PathError
	switch {
	case errors.Is(err, syscall.EISDIR) && errors.As(err, &at):
		hint = at.Path + " has to be a file: move that folder away, and the campaign goes on without what was in it"
	case errors.Is(err, corpus.ErrLocked):
		hint = "its campaign is running: wait for it to end, or stop it; 'teasel show' looks at it meanwhile"
	case errors.Is(err, corpus.ErrVersion):
		hint = "it was written by a newer teasel than this one, " + version
	}
	return usage(hint, "%w", err)
}

func showFinding(w io.Writer, f *corpus.FindingFile, path string) {
	x := &f.Finding
	fmt.Fprintf(w, "%s  %s  %s\n%s\n\n", x.Severity, report.Line(x.Rule), report.Line(x.Subject), report.Line(x.Message))
	if x.Tries == 0 {
		fmt.Fprint(w, "seen, and there was no time to reproduce it")
	} else {
		fmt.Fprintf(w, "reproduced %d of %d times, seen %s", x.Stable, x.Tries, plural(int(x.Occurrences), "time", "times"))
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

// readable is an input for a terminal: text as it is, anything else in hexadecimal.
func readable(in []byte) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) }
	if bytes.ContainsFunc(in, odd) {
		return hex.Dump(in)
	}
	return string(in)
}

func showCampaign(w, stderr io.Writer, dir *corpus.Dir) error {
	s, problems, err := dir.Snapshot(nil)
	if err != nil {
		return failure(err)
	}
	warn(stderr, problems)
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
	if err := t.Flush(); err != nil {
		return failure(err)
	}
	if k, err := kindOf(m.Kind, "a campaign"); err == nil && k.states != nil {
		if err := k.states(w, m.Target, s.Entries); err != nil {
			return err
		}
	}
	for _, f := range s.Findings {
		flaky := ""
		if !f.Confirmed() {
			flaky = fmt.Sprintf(" (flaky: reproduced %d of %d times)", f.Stable, f.Tries)
		}
		fmt.Fprintf(w, "\n%s  %s  %s%s\n  %s\n  teasel repro %s\n", f.Severity, report.Line(f.Rule), report.Line(f.Subject), flaky, report.Line(f.Message),
			report.Quote(dir.FindingPath(f.ID())))
		if c := byHand(m.Kind, m.Target, &f, dir.FindingPath(f.ID())); c != "" {
			fmt.Fprintf(w, "  %s\n", report.Plain(c))
		}
	}
	return nil
}
