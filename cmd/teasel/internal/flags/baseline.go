package flags

import (
	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// AddBaseline gives a command the flag that names an earlier run.
func AddBaseline(cmd *cobra.Command, path *string) {
	cmd.Flags().Var(Named(path), "baseline", "JSON report or campaign's directory of an earlier run: its findings are known and do not fail this one")
}

// LoadBaseline reads which findings are known before a run of a kind of target: those of --baseline, and those that the configuration
// accepts.
func (o *Options) LoadBaseline(kind string, accepted []report.Accepted) error {
	if o.Baseline == "" && len(accepted) == 0 {
		return nil
	}
	o.Known = &report.Baseline{Path: o.Baseline, Accepted: accepted}
	if o.Baseline == "" {
		return nil
	}
	var err error
	if o.Known.Findings, err = corpus.ReadKnown(o.Baseline, kind); err != nil {
		return exit.Usage("--baseline takes what --format json wrote, or a campaign's directory", "--baseline: %w", err)
	}
	return nil
}

// AcceptedInConfig returns the findings that the configuration accepts, for the verbs that take nothing else from it. A broken teasel.toml
// is left out, with a warning.
func AcceptedInConfig(cmd *cobra.Command) ([]report.Accepted, error) {
	c, err := tolerateConfig(cmd, "")
	return c.accepted, err
}

// Counts reports whether a finding is one of those after which --stop-after ends: neither known nor for information.
func (o *Options) Counts(f *teasel.Finding) bool {
	return f.Severity > teasel.Info && !o.Known.Known(f.ID())
}
