// Package gotest is the verb go: it runs the fuzz tests of Go packages, one campaign each, and their corpus files and findings, and
// writes fuzz tests for functions that have none.
package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// options are the flags of teasel go. They are stored with each campaign.
type options struct {
	flags.Options
	flags.Configured
	Packages    []string   `json:"packages"`
	Run         string     `json:"run,omitempty"`
	Race        bool       `json:"race,omitempty"`
	Tags        string     `json:"tags,omitempty"`
	MemoryLimit flags.Size `json:"memory_limit,omitempty"`
	Cover       string     `json:"-"`
}

// NewCommand returns the verb go.
func NewCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "go [flags] [PACKAGES]",
		Short: "Run the fuzz tests of Go packages, func FuzzX(f *testing.F), as they stand",
		Long: `Run the fuzz tests that Go packages have, without any change of them: func FuzzX(f *testing.F).

PACKAGES are written as for 'go test', and the current one if there are none. The fuzz tests of all of them run side by
side, and a crash ends none of them: half of the time is dealt evenly, the rest goes to those that still find most. Each
finding is confirmed in a fresh process, minimised, and saved to testdata/fuzz/FuzzX, so that plain 'go test' fails on
it from then on. What is worth keeping otherwise is kept outside of the repository, and the next run begins with it.`,
		Example: `  teasel go ./...
  teasel go --run FuzzParse --duration 10m ./parser
  teasel go --profile ci --format sarif ./... > teasel.sarif
  teasel repro parser/testdata/fuzz/FuzzParse/4f1c8a0d2b6e9f37`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); at >= 0 {
				return exit.Usage("flags of teasel go stand before --, and behind it there are packages only", "%q behind -- is a flag, expected a package", args[at])
			}
			if o.Packages, err = o.Configure(cmd, "go", args); err != nil {
				return err
			}
			return runTests(cmd, o)
		},
	}
	cmd.AddCommand(newNew())
	flags.AddOptions(cmd, &o.Options)
	f := cmd.Flags()
	out := f.Lookup("out")
	out.Usage, out.DefValue, o.Out = "directory of the campaigns (default: below the user's cache directory)", "", ""
	f.StringVar(&o.Run, "run", "", "regular expression: run only the fuzz tests whose names match")
	f.BoolVar(&o.Race, "race", false, "build with the race detector")
	f.StringVar(&o.Tags, "tags", "", "build tags, separated by commas")
	f.Var(&o.MemoryLimit, "memory-limit", "memory that a test process may hold; 0: 2GiB")
	f.StringVar(&o.Cover, "cover", "", "file that gets Go's coverage profile of what the corpus reaches, when the run has ended")
	flags.AddConfigured(cmd, &o.Configured, "show which fuzz tests there are, and end")
	return cmd
}

func (o *options) flags() overlay.Flags { return overlay.Flags{Race: o.Race, Tags: o.Tags} }

// check refuses values that make no sense.
func (o *options) check(cmd *cobra.Command) error {
	if err := errors.Join(flags.CheckNumbers(cmd.Flags()), o.Check()); err != nil {
		return err
	}
	for _, dir := range o.Corpus {
		if _, err := os.Stat(dir); err != nil {
			return campaign.CorpusError(err)
		}
	}
	for _, file := range o.Dict {
		if _, err := os.Stat(file); err != nil {
			return exit.Usage("--dict takes a file of tokens, as AFL++ and libFuzzer do", "reading a dictionary: %w", err)
		}
	}
	if o.Cover != "" && o.Sandbox {
		return exit.Usage("leave one of them out", "--cover and --sandbox exclude one another: 'go test', which writes the profile, has no sandbox")
	}
	return checkCover(o.Cover)
}

// runTests runs the fuzz tests that the options name, or lists them.
func runTests(cmd *cobra.Command, o *options) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	if err := o.LoadBaseline("go", o.Accept); err != nil {
		return err
	}
	o.SetDefaults(flags.SetIn(cmd.Flags()), "go")
	if len(o.Packages) == 0 {
		o.Packages = []string{"."}
	}
	s, err := findTests(cmd.Context(), o, cmd.ErrOrStderr())
	if err == nil && o.ChangedSince != "" {
		err = s.leaveOutUnreached(cmd.Context(), cmd.ErrOrStderr())
	}
	switch {
	case err != nil:
		return err
	case o.DryRun:
		for _, pkg := range s.packages {
			for _, t := range pkg.Tests {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", pkg.Path, t.Name)
			}
		}
		return nil
	case len(s.packages) == 0:
		if err := campaign.ReportUnreached(cmd, &o.Options, "go", s.title(), s.skipped); err != nil || len(s.broken) == 0 {
			return err
		}
		return s.incomplete()
	case s.builder.Mode == overlay.ModeNative && o.Sandbox:
		return exit.Usage("leave --sandbox out, or use another version of Go", "--sandbox: %s is not as teasel expects it, and 'go test -fuzz', which would run instead, has none", s.builder.Toolchain.Version)
	case s.builder.Mode == overlay.ModeNative:
		return s.runNative(cmd)
	}
	if s.scratch, err = campaign.Isolate(cmd.Context(), &o.Isolation, o.Scratch, cmd.ErrOrStderr(), nil); err != nil {
		return err
	}
	guardian, err := proc.Guard(proc.MarkerPrefix(), "")
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: %v: what tests start may be left behind if teasel is killed\n", err)
	} else {
		defer guardian.Close()
	}
	if err := s.prepare(cmd.Context(), cmd.ErrOrStderr()); err != nil {
		return err
	}
	return s.run(cmd)
}

// cacheDir returns where builds and corpora of Go packages are kept.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", exit.Usage("set HOME, or XDG_CACHE_HOME", "looking for the cache directory: %w", err)
	}
	return filepath.Join(dir, "teasel", "go"), nil
}

// newBuilder finds the toolchain of a directory's module.
func newBuilder(ctx context.Context, dir string) (*overlay.Builder, error) {
	tc, err := overlay.FindToolchain(ctx, dir)
	if err != nil {
		return nil, commandError(ctx, err)
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	b, err := overlay.NewBuilder(tc, cache)
	if err != nil {
		return nil, commandError(ctx, err)
	}
	return b, nil
}

// commandError returns the error for one of the go command, whose own text is shown as it is.
func commandError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted}
	}
	var g *overlay.GoError
	if errors.As(err, &g) {
		return &exit.Error{Status: exit.StatusUsage, Err: err}
	}
	return exit.Failure(err)
}

// findTests finds the fuzz tests of the packages.
func findTests(ctx context.Context, o *options, stderr io.Writer) (*testRun, error) {
	run, err := regexp.Compile(o.Run)
	if err != nil {
		return nil, exit.Usage("", "--run: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, exit.Failure(err)
	}
	b, err := newBuilder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if b.Toolchain.Module == "" && b.Toolchain.Work == "" {
		return nil, exit.Usage("to make a module of this directory: go mod init NAME", "there is no go.mod file in this directory or above it")
	}
	s := &testRun{options: o, builder: b, dir: dir}
	found, bad, err := packages.Find(ctx, b.Toolchain, dir, o.flags(), run, o.Packages)
	if err != nil {
		return nil, commandError(ctx, err)
	}
	for _, p := range bad {
		fmt.Fprintf(stderr, "teasel: warning: %s is left out: %s\n", p.Path, plain.Text(p.Err.Error()))
		s.skip(p.Path, p.Err.Error())
		s.broken = append(s.broken, p.Path)
	}
	s.packages = found
	if len(found) > 0 {
		return s, nil
	}
	if file, constraint, err := packages.Excluded(ctx, b.Toolchain, dir, o.Packages); err == nil && file != "" && o.Tags == "" {
		return nil, exit.Usage("with the tags that it names: teasel go --tags TAG,...", "%s is left out by its line //go:build %s, and there is no other fuzz test in these packages", file, constraint)
	}
	if len(bad) > 0 {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: errors.New("none of these packages can be read"), Hint: "what the go command said of each is above; are their names right? " + forAll(ctx, b, dir)}
	}
	if o.Run != "" {
		return nil, exit.Usage(forAll(ctx, b, dir)+"; with --dry-run it lists them", "no fuzz test in these packages matches --run %s", o.Run)
	}
	return nil, exit.Usage(forAll(ctx, b, dir)+"\nhint: to write fuzz tests: teasel go new PACKAGE", "there is no fuzz test, func FuzzX(f *testing.F), in these packages")
}

// forAll says how to run all fuzz tests there are. In the root of a workspace that is no module, ./... names nothing.
func forAll(ctx context.Context, b *overlay.Builder, dir string) string {
	if b.Toolchain.Module == "" {
		if patterns, err := packages.Workspace(ctx, b.Toolchain, dir); err == nil && len(patterns) > 0 {
			for i := range patterns {
				patterns[i] = plain.Quote(patterns[i])
			}
			return "for all packages of the modules in go.work: teasel go " + strings.Join(patterns, " ")
		}
	}
	return "for all packages of the module: teasel go ./..."
}
