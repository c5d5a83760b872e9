package main

import (
	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// addBaseline gives a command the flag that names an earlier run.
func addBaseline(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "baseline", "", "JSON report or campaign's directory of an earlier run: its findings are known and do not fail this one")
}

// recall reads what is known before a run of a kind of target. It is nothing without a baseline and accepted findings.
func (o *options) recall(kind string, accepted []report.Accepted) error {
	if o.Baseline == "" && len(accepted) == 0 {
		return nil
	}
	o.known = &report.Baseline{Path: o.Baseline, Accepted: accepted}
	if o.Baseline == "" {
		return nil
	}
	var err error
	if o.known.Findings, err = corpus.ReadKnown(o.Baseline, kind); err != nil {
		return usage("--baseline takes what --format json wrote, or a campaign's directory", "--baseline: %w", err)
	}
	return nil
}

// acceptedHere returns the findings that the configuration accepts, for the verbs that take nothing else from it.
func acceptedHere() ([]report.Accepted, error) {
	c, _, err := readConfig("")
	return c.accepted, err
}
