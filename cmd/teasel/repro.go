package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/report"
)

// bench is what it takes to run single inputs of one kind of target.
type bench[T any] struct {
	target    teasel.Target[T]
	codec     teasel.Codec[T]
	mutator   teasel.Mutator[T]
	detectors []teasel.Detector
	single    bool // an input shows one finding at most: if it shows another one, what is wrong with it was not mended
}

func newRepro() *cobra.Command {
	var tries int
	var script bool
	var g goTarget
	cmd := &cobra.Command{
		Use:   "repro FINDING",
		Short: "Show a finding again",
		Long: `Show a finding again on a fresh target, from its file alone.

The file names the target; nothing else of the campaign is needed. Exit status: 1 the finding was shown, or an input of
'teasel go' fails in another way, 0 it was not (it may have been mended), 3 the target could not be started.

Go's own files, testdata/fuzz/FuzzX/NAME, are run too. They do not say what limits and flags the fuzz test had.`,
		Example: `  teasel repro teasel-out/findings/4f1c8a0d2b6e9f37.json
  teasel repro --script teasel-out/findings/4f1c8a0d2b6e9f37.json > repro.py`,
		Args: oneArg("a finding's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if tries < 1 {
				return usage("", "--tries %d: expected 1 or more", tries)
			}
			if f, err := corpusFileFinding(args[0], g); err != nil {
				return err
			} else if f != nil {
				return reproCorpusFile(cmd, f, tries)
			}
			f, err := readFinding(args[0])
			if err != nil {
				return err
			}
			if err := unneeded(cmd, args[0]); err != nil {
				return err
			}
			if script {
				return writeScript(cmd.OutOrStdout(), f)
			}
			b, err := openBench(cmd.Context(), cmd.ErrOrStderr(), f)
			if err != nil {
				return err
			}
			return b.repro(cmd.Context(), cmd.OutOrStdout(), f, tries)
		},
	}
	cmd.Flags().IntVar(&tries, "tries", 3, "how often to try; a flaky finding is tried ten times as often")
	cmd.Flags().BoolVar(&script, "script", false, "write a program in Python that shows a finding of teasel net without teasel, and run nothing")
	addGoFlags(cmd, &g)
	return cmd
}

// writeScript writes a program that shows a finding without teasel.
func writeScript(w io.Writer, f *corpus.FindingFile) error {
	k, err := kindOf(f.Kind, "a finding")
	if err != nil {
		return err
	}
	if k.script == nil {
		return usage("'teasel show' says how to show it again", "--script is for findings of teasel net, this one is of teasel %s", f.Kind)
	}
	text, err := k.script(f.Target, f)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return failure(err)
}

func readFinding(path string) (*corpus.FindingFile, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if _, _, ok := testOf(strings.TrimSuffix(path, "/")); ok {
			return nil, usage("name a file in it", "%s is a directory, expected a finding's file", path)
		}
		return nil, usage("the findings of a campaign are in its directory under findings/; 'teasel show "+path+"' lists them", "%s is a directory, expected a finding's file", path)
	}
	f, err := corpus.ReadFinding(path)
	if before := asideFinding(path); err != nil && before != "" {
		f, err = corpus.ReadFinding(before)
	}
	if err != nil {
		return nil, usage("a finding's file is written by a campaign, under findings/ in its directory", "%w", err)
	}
	return &f, nil
}

// asideFinding returns where a finding's file of a campaign of teasel go is after the next run; "": it is not there.
func asideFinding(path string) string {
	folder := filepath.Dir(path)
	moved := filepath.Join(filepath.Dir(folder)+movedAside, filepath.Base(folder), filepath.Base(path))
	if _, err := os.Stat(path); err == nil {
		return ""
	}
	if _, err := os.Stat(moved); err != nil {
		return ""
	}
	return moved
}

// replayer is a bench with its type of input gone.
type replayer interface {
	repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error
	minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error)
}

// openBench makes ready what a finding's kind needs.
func openBench(ctx context.Context, w io.Writer, f *corpus.FindingFile) (replayer, error) {
	k, err := kindOf(f.Kind, "a finding")
	if err != nil {
		return nil, err
	}
	if k.prepares != nil {
		fmt.Fprintf(w, "teasel: %s\n", k.prepares(f.Target))
	}
	return k.bench(ctx, f.Target)
}

// open reads the input of a finding, which is called what, and starts the target.
func (b *bench[T]) open(ctx context.Context, f *corpus.FindingFile, what string) (in T, ex teasel.Executor[T], err error) {
	if in, err = b.codec.Decode(f.Finding.Input); err != nil {
		return in, nil, usage("", "reading %s: %w", what, err)
	}
	if ex, err = b.target.Open(ctx, teasel.Role{}); err != nil {
		return in, nil, cutShort(ctx, err)
	}
	return in, ex, nil
}

func (b *bench[T]) repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) (err error) {
	in, ex, err := b.open(ctx, f, "the finding's input")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	if !f.Finding.Confirmed() {
		tries *= 10
	}
	fmt.Fprintln(w, heading(&f.Finding))
	var others []string
	for i := range tries {
		fs, _, err := teasel.Replay(ctx, ex, b.detectors, in)
		if err != nil {
			return cutShort(ctx, err)
		}
		for j := range fs {
			if f.Finding.Matches(&fs[j]) {
				return shown(w, &fs[j], i+1, tries)
			}
			others = append(others, fmt.Sprintf("%s  %s: %s", fs[j].Rule, fs[j].Subject, fs[j].Message))
		}
	}
	fmt.Fprintf(w, "not shown in %d tries\n", tries)
	if len(others) > 0 {
		fmt.Fprintf(w, "but something else was: %s\n", report.Line(others[0]))
		if b.single {
			return &exit{status: exitFindings}
		}
	}
	return nil
}

// heading names a finding in one line.
func heading(f *teasel.Finding) string {
	return fmt.Sprintf("%s  %s  %s", f.Severity, report.Line(f.Rule), report.Line(f.Subject))
}

// shown says that a finding was shown, and ends with the status of that.
func shown(w io.Writer, f *teasel.Finding, try, tries int) error {
	fmt.Fprintf(w, "shown at try %d of %d: %s\n", try, tries, report.Line(f.Message))
	if f.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(report.Plain(f.Detail), "\n"))
	}
	return &exit{status: exitFindings}
}

// cutShort is targetFailure of what a user waits for: whatever fails after an interrupt fails of that.
func cutShort(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit{status: exitInterrupted}
	}
	return targetFailure(err)
}

// targetFailure tells a target that would not start from our own failures.
func targetFailure(err error) error {
	var server *mcp.StartError
	var program *native.StartError
	var peer *netproto.StartError
	var command *netproto.CommandError
	var mutator *native.MutatorError
	var test *fuzztest.StartError
	switch {
	case errors.As(err, &server):
		return notStarted(server, server.Stderr, server.Hint)
	case errors.As(err, &peer):
		return notStarted(peer, peer.Stderr, peer.Hint)
	case errors.As(err, &command):
		return &exit{status: exitTarget, err: withOutput(command, "its output: ", command.Output), hint: command.Hint}
	case errors.As(err, &program):
		return notStarted(program, program.Stderr, program.Hint)
	case errors.As(err, &test):
		return notStarted(test, test.Output, test.Hint)
	case errors.As(err, &mutator):
		text := mutator.Error()
		for i, f := range mutator.Stack {
			text += fmt.Sprintf("\n  #%d %s", i, f)
		}
		return &exit{status: exitTarget, err: errors.New(text), hint: "the harness has to be mended: what fails is its mutator, not the code under test"}
	}
	return failure(err)
}

func notStarted(err error, stderr, hint string) error {
	return &exit{status: exitTarget, err: withOutput(err, "its standard error: ", stderr), hint: hint}
}

// withOutput is an error with what a program has written below it.
func withOutput(err error, what, output string) error {
	text := err.Error()
	for _, line := range strings.Split(output, "\n") {
		if line != "" {
			text += "\n  " + what + report.Plain(line)
		}
	}
	return errors.New(text)
}
