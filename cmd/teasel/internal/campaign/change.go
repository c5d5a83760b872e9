package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
)

// Change is how the files of a repository differ from those of a commit.
type Change struct {
	Base  string   // the commit, as the user named it
	Root  string   // of the repository
	Files []string // that differ, are new or are gone, with slashes and relative to Root; those that git does not know are left out
}

// ChangedSince asks git what has changed in the repository of the working directory since a commit.
func ChangedSince(ctx context.Context, base string) (*Change, error) {
	c := &Change{Base: base}
	root, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, changeError(ctx, base, "--changed-since compares the files of a git repository with those of a commit in it", err)
	}
	c.Root = strings.TrimSuffix(root, "\n")
	commit, err := git(ctx, "rev-parse", "--verify", "--end-of-options", base+"^{commit}")
	if err != nil {
		return nil, changeError(ctx, base, "name a commit, branch or tag of this repository; a clone of CI has to fetch it first: git fetch --depth=1 origin BRANCH, and then FETCH_HEAD is one", err)
	}
	names, err := git(ctx, "diff", "--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z", strings.TrimSpace(commit), "--")
	if err != nil {
		return nil, changeError(ctx, base, "", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		if name != "" {
			c.Files = append(c.Files, name)
		}
	}
	return c, nil
}

// git runs git in the working directory. Its error has what git has said.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if said := strings.TrimSpace(stderr.String()); err != nil && said != "" {
		return "", errors.New(plain.Line(strings.TrimPrefix(said, "fatal: ")))
	}
	return stdout.String(), err
}

func changeError(ctx context.Context, base, hint string, err error) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted}
	}
	return exit.Usage(hint, "--changed-since %s: %w", base, err)
}

// Earlier returns which source files are reached by the testcases that a run begins with or is compared with: of a campaign in one of these
// directories; nil: of none it is known. where is that directory.
func Earlier(stderr io.Writer, dirs ...string) (s *corpus.Sources, where string) {
	for _, dir := range dirs {
		if !corpus.IsCampaign(dir) { // a baseline may be a report
			continue
		}
		s, err := corpus.ReadSources(dir)
		if err != nil {
			fmt.Fprintf(stderr, "teasel: warning: %v\n", err)
		}
		if s != nil {
			return s, dir
		}
	}
	return nil, ""
}

// FirstReached returns the first of the files that testcases reach or, if there is none, the first of which coverage says nothing, since no code
// in it is counted: known is false then. It returns "" if all are files of which no testcase reaches any code.
func FirstReached(files []string, s *corpus.Sources) (file string, known bool) {
	if i := slices.IndexFunc(files, func(f string) bool { return slices.Contains(s.Reached, f) }); i >= 0 {
		return files[i], true
	}
	if i := slices.IndexFunc(files, func(f string) bool { return !slices.Contains(s.Missed, f) }); i >= 0 {
		return files[i], false
	}
	return "", false
}

// IsDocumentation reports whether a file is text for people, which is part of no program.
func IsDocumentation(file string) bool {
	return slices.Contains([]string{".md", ".rst", ".adoc"}, strings.ToLower(path.Ext(file)))
}

// isUnit reports whether a file is compiled by itself: if a program has no code of it, it is part of another one.
func isUnit(file string) bool {
	return slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".rs", ".go"}, strings.ToLower(path.Ext(file)))
}

// unreached returns why a target need not be fuzzed: nothing that has changed since --changed-since is reached by the testcases that there are;
// "": something is, or it is not known. Then it says what.
func unreached(ctx context.Context, o *flags.Options, stderr io.Writer) (reason string, err error) {
	c, err := ChangedSince(ctx, o.ChangedSince)
	if err != nil {
		return "", err
	}
	if len(c.Files) == 0 {
		return "nothing has changed since " + c.Base, nil
	}
	s, where := Earlier(stderr, o.Out, o.Baseline)
	if s == nil {
		fmt.Fprintf(stderr, "teasel: --changed-since %s: the target is fuzzed whatever has changed, since there is no record in %s of the source files that its testcases reach\n",
			plain.Line(c.Base), plain.Line(o.Out))
		return "", nil
	}
	mine := slices.DeleteFunc(slices.Clone(c.Files), func(f string) bool {
		return IsDocumentation(f) || isUnit(f) && !slices.Contains(s.Reached, f) && !slices.Contains(s.Missed, f)
	})
	switch file, known := FirstReached(mine, s); {
	case known:
		fmt.Fprintf(stderr, "teasel: %s has changed since %s, and testcases in %s reach it\n", plain.Line(file), plain.Line(c.Base), plain.Line(where))
		return "", nil
	case file != "":
		fmt.Fprintf(stderr, "teasel: %s has changed since %s: coverage does not say what that changes\n", plain.Line(file), plain.Line(c.Base))
		return "", nil
	}
	return fmt.Sprintf("nothing that has changed since %s is reached by the testcases in %s", c.Base, where), nil
}

// ReportUnreached reports a run in which nothing is fuzzed, since what has changed reaches none of its targets.
func ReportUnreached(cmd *cobra.Command, o *flags.Options, kind, target string, skipped []report.Skip) error {
	r := &report.Run{Version: Version, Kind: kind, Target: target, Seed: o.Seed, Rules: flags.RulesOf(kind), Skipped: skipped,
		Summary: teasel.Summary{Stopped: "unreached"}, File: func(teasel.Finding) string { return "" }}
	return WriteReports(cmd.OutOrStdout(), o, r)
}
