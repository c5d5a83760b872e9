package cov

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
)

func NewCommand() *cobra.Command {
	var format, out string
	var objects []string
	var timeout time.Duration
	formats := formats()
	format = formats[0]
	cmd := &cobra.Command{
		Use:   "cov DIR [-- PROGRAM [ARG... @@]]",
		Short: "Show which lines and functions a corpus reaches",
		Long: `Run the inputs of a campaign, or of any directory, on a build of the program that has clang's source coverage, and show
which lines of which files they reach, and which functions they do not. An input that crashes or hangs counts as far as it
came, if the program is a harness that 'teasel cc' has built; with a main of the program's own, it does not count.

The program has to be built for this, beside the build that is fuzzed, with TEASEL_COVERAGE=1 in the environment of
'teasel cc' and 'teasel c++'. A harness, standard input and @@ are treated as 'teasel native' treats them. Of a shared
library that was built so, and that the program loads, --object shows the lines as well.`,
		Example: `  TEASEL_COVERAGE=1 teasel cc -g -fsanitize=fuzzer harness.c -o harness-cov
  teasel cov teasel-out -- ./harness-cov
  teasel cov --format html -o coverage teasel-out -- ./harness-cov
  teasel cov --format lcov corpus -- ./xmllint-cov @@ > corpus.info
  teasel cov --object libxml2-cov.so teasel-out -- ./harness-cov`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("for example: teasel cov teasel-out -- ./harness-cov", "cov takes a campaign's directory, or one of inputs")
			}
			if timeout <= 0 {
				return exit.Usage("", "--timeout %v: expected more than nothing", timeout)
			}
			program := config{Command: args[1:], Objects: objects, Timeout: timeout}
			if len(program.Command) == 0 {
				if err := programOf(args[0], &program); err != nil {
					return err
				}
			}
			c, err := newCoverage(program)
			if err != nil {
				return err
			}
			seeds, problems, err := coverageInputs(args[0])
			if err != nil {
				return exit.Usage("name a campaign's directory, or one of inputs", "%w", err)
			}
			campaign.Warn(cmd.ErrOrStderr(), problems)
			defer c.Close()
			if err := c.Run(cmd.Context(), seeds, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return c.Write(cmd.OutOrStdout(), format, out)
		},
	}
	f := cmd.Flags()
	f.Var(flags.Choice(&format, formats), "format", "text: tables; json and lcov: as llvm-cov exports them; html: pages in the directory --out")
	f.StringVarP(&out, "out", "o", "teasel-cov", "directory for --format html")
	f.StringArrayVar(&objects, "object", nil, "shared library, built with source coverage, whose lines count as well; may be given several times")
	f.DurationVar(&timeout, "timeout", 10*time.Second, "time limit of one run")
	return cmd
}

// coverageInputs returns the inputs below path; of a campaign, those of its crashes and hangs too.
func coverageInputs(path string) (seeds []corpus.Seed, problems []*corpus.Problem, err error) {
	seeds, problems, err = corpus.Load(path, nil)
	if err != nil || !corpus.IsCampaign(path) {
		return seeds, problems, err
	}
	for _, name := range []string{corpus.Crashes, corpus.Hangs} {
		more, bad, err := corpus.Load(filepath.Join(path, name), nil)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		seeds, problems = append(seeds, more...), append(problems, bad...)
	}
	return seeds, problems, nil
}

// programOf fills in the program of a campaign.
func programOf(dir string, into *config) error {
	const hint = "name the program: teasel cov DIR -- ./harness-cov"
	d, err := corpus.OpenReadOnly(dir)
	if err != nil {
		return exit.Usage(hint, "%s names no program: %w", dir, err)
	}
	var t struct {
		Command []string
		Env     []string
		Dir     string
	}
	if m := d.Meta(); m.Kind != "native" || json.Unmarshal(m.Target, &t) != nil || len(t.Command) == 0 {
		return exit.Usage(hint, "%s is a campaign of kind %s, not of a native program", dir, m.Kind)
	}
	into.Command, into.Env, into.Dir = t.Command, flags.Environment(t.Env), t.Dir
	return flags.CheckInherited(t.Env)
}
