// Package flags has the flags that the verbs share, the values of flags, and the configuration file, which sets flags too.
package flags

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// DefaultOut is the directory of a campaign, unless --out names another.
const DefaultOut = "teasel-out"

// Options are the flags that mean the same for every kind of target. They are stored with the campaign, so that
// resume runs it as it was run.
type Options struct {
	Duration     time.Duration   `json:"duration"`
	Runs         uint64          `json:"runs"`
	Workers      int             `json:"workers"`
	Seed         uint64          `json:"seed"`
	Timeout      time.Duration   `json:"timeout"`
	Out          string          `json:"out"`
	Corpus       []string        `json:"corpus,omitempty"`
	Dict         []string        `json:"dict,omitempty"`
	Profile      string          `json:"profile"`
	Format       string          `json:"-"`
	Reports      []ReportFile    `json:"-"`
	FailOn       teasel.Severity `json:"-"`
	Baseline     string          `json:"-"`
	ChangedSince string          `json:"-"`
	NoUI         bool            `json:"-"`
	UI           string          `json:"-"`
	UIToken      string          `json:"-"`
	Fresh        bool            `json:"-"`
	StopAfter    int             `json:"stop_after,omitempty"`
	Memory       Size            `json:"memory"`
	Hub          Hub             `json:"hub,omitzero"`
	Scratch      Size            `json:"max_scratch"`
	Mutation
	Isolation

	Known *report.Baseline `json:"-"` // what LoadBaseline has read; nil: nothing
}

// AddOptions gives a command the flags that all kinds share.
func AddOptions(cmd *cobra.Command, o *Options) {
	f := cmd.Flags()
	o.FailOn, o.Format = teasel.Low, "text"
	f.DurationVar(&o.Duration, "duration", 0, "how long to fuzz; 0: no limit (default: the profile's)")
	f.Uint64Var(&o.Runs, "runs", 0, "executions after which to stop; 0: no limit")
	f.IntVar(&o.Workers, "workers", 1, "workers that fuzz side by side, each with a target of its own")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of all randomness: with one worker the same seed gives the same run (default: drawn and printed)")
	f.DurationVar(&o.Timeout, "timeout", 0, "time limit of one request or run (default: the profile's)")
	o.Out = DefaultOut
	f.VarP(Named(&o.Out), "out", "o", "directory of the campaign; one on the same target that is there already is moved aside, and its testcases and findings are where this one begins")
	f.BoolVar(&o.Fresh, "fresh", false, "begin anew, whatever an earlier campaign in the same directory has learnt")
	f.StringArrayVar(&o.Corpus, "corpus", nil, "directory, or zip archive, of inputs to begin with; may be given several times")
	f.StringArrayVar(&o.Dict, "dict", nil, "dictionary of tokens, in the format of AFL and libFuzzer; may be given several times")
	f.Var(Choice(&o.Profile, profiles), "profile", "how hard to try (default standard)")
	AddReports(cmd, o)
	f.Var(Severity(&o.FailOn), "fail-on", "exit with status 1 only for findings at least this bad")
	AddBaseline(cmd, &o.Baseline)
	f.Var(Named(&o.ChangedSince), "changed-since", "commit, such as origin/main: fuzz only what the files reach that have changed since, as far as that is known")
	f.BoolVar(&o.NoUI, "no-ui", false, "plain lines instead of the live screen")
	AddPage(cmd, o)
	f.IntVar(&o.StopAfter, "stop-after", 0, "findings after which to stop; 0: no limit")
	AddMutation(f, &o.Mutation)
	AddHub(f, &o.Hub)
	addIsolation(f, &o.Isolation, &o.Scratch)
	f.Var(&o.Memory, "max-memory", "stop when teasel itself holds more than this; 0: no limit (default: the profile's)")
	SetPositive(f, "workers")
	SetGroup(f, campaignGroup, "duration", "runs", "workers", "seed", "timeout", "out", "fresh", "profile", "stop-after", "max-memory", "changed-since")
	SetGroup(f, "Inputs", "corpus", "dict", "stages", "minimize", "weights", "bit-ratio", "byte-ratio")
	SetGroup(f, resultsGroup, "fail-on", "baseline", "no-ui")
}

// AddPage gives a command the flags of the page that it serves.
func AddPage(cmd *cobra.Command, o *Options) {
	cmd.Flags().Var(Named(&o.UI), "ui", "address at which to serve a page that shows the campaign, for example 127.0.0.1:8080")
	cmd.Flags().StringVar(&o.UIToken, "ui-token", "", "secret that the page asks for; needed if --ui is no loopback address (better: set TEASEL_UI_TOKEN)")
	SetGroup(cmd.Flags(), resultsGroup, "ui", "ui-token")
}

// CheckOut refuses a directory in which no campaign can be created, before a target is started.
func CheckOut(out string) error {
	err := corpus.CheckCreate(out)
	switch {
	case errors.Is(err, corpus.ErrLocked):
		return exit.Usage("choose another directory with --out, or wait for it to end", "%w", err)
	case err != nil:
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	return nil
}

// IsSet reports whether the user has set a flag: on the command line, in the environment or in the file.
func IsSet(fs *pflag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	return f != nil && f.Changed
}

// SetIn returns what reports that of a set of flags.
func SetIn(fs *pflag.FlagSet) func(name string) bool {
	return func(name string) bool { return IsSet(fs, name) }
}

// Check refuses values that make no sense.
func (o *Options) Check() error {
	if err := o.Hub.Check(); err != nil {
		return err
	}
	if err := o.checkReports(); err != nil {
		return err
	}
	return o.CheckIsolation()
}

// DrawSeed returns a seed for a campaign whose user named none: small enough to be typed.
func DrawSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// memoryShare is the part of --max-memory from which on garbage is collected more often, so that what is held is mostly in use.
const memoryShare = 0.75

// LimitMemory has the Go runtime collect garbage more often when teasel holds most of what it may, and returns how much that is.
func (o *Options) LimitMemory() uint64 {
	if o.Memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(memoryShare * float64(o.Memory)))
	}
	return uint64(o.Memory)
}
