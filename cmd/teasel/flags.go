package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// profiles are the names of the profiles, which all kinds share.
var profiles = []string{"quick", "standard", "intensive", "ci"}

// options are the flags that mean the same for every kind of target. They are stored with the campaign, so that
// resume runs it as it was run.
type options struct {
	Duration  time.Duration   `json:"duration"`
	Runs      uint64          `json:"runs"`
	Workers   int             `json:"workers"`
	Seed      uint64          `json:"seed"`
	Timeout   time.Duration   `json:"timeout"`
	Out       string          `json:"out"`
	Corpus    []string        `json:"corpus,omitempty"`
	Dict      []string        `json:"dict,omitempty"`
	Profile   string          `json:"profile"`
	Format    string          `json:"-"`
	FailOn    teasel.Severity `json:"-"`
	Baseline  string          `json:"-"`
	NoUI      bool            `json:"-"`
	StopAfter int             `json:"stop_after,omitempty"`
	Memory    size            `json:"memory"`

	known *report.Baseline // what recall has read; nil: nothing
}

// size is a number of bytes, written with or without a unit.
type size uint64

var units = []struct {
	suffix string
	factor uint64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

func (s size) String() string {
	for _, u := range units[:4] {
		if s > 0 && uint64(s)%u.factor == 0 {
			return strconv.FormatUint(uint64(s)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatUint(uint64(s), 10)
}

func (s *size) Set(text string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || n < 0 || n*float64(u.factor) > 1<<62 {
			break
		}
		if u.suffix == "" && n > 0 && n < 1<<20 { // of other tools, a number is one of megabytes
			return fmt.Errorf("expected a size with its unit, such as %sMB", text)
		}
		*s = size(n * float64(u.factor))
		return nil
	}
	return fmt.Errorf("expected a size such as 300MB or 2GiB")
}

func (s *size) Type() string { return "size" }

// choice is a flag with a fixed set of values.
type choice struct {
	value   *string
	choices []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}
func (c choice) Type() string { return strings.Join(c.choices, "|") }
func (c choice) Set(text string) error {
	for _, v := range c.choices {
		if v == text {
			*c.value = text
			return nil
		}
	}
	return fmt.Errorf("expected one of %s", strings.Join(c.choices, ", "))
}

type severityFlag struct{ value *teasel.Severity }

func (s severityFlag) String() string {
	if s.value == nil {
		return ""
	}
	return s.value.String()
}
func (s severityFlag) Type() string { return "low|medium|high|critical" }
func (s severityFlag) Set(text string) error {
	v, err := teasel.ParseSeverity(text)
	if err != nil || v < teasel.Low { // what is for information fails no run
		return fmt.Errorf("expected low, medium, high or critical")
	}
	*s.value = v
	return nil
}

// addOptions gives a command the flags that all kinds share.
func addOptions(cmd *cobra.Command, o *options) {
	f := cmd.Flags()
	o.FailOn, o.Format = teasel.Low, "text"
	f.DurationVar(&o.Duration, "duration", 0, "how long to fuzz; 0: no limit (default: the profile's)")
	f.Uint64Var(&o.Runs, "runs", 0, "executions after which to stop; 0: no limit")
	f.IntVar(&o.Workers, "workers", 1, "workers that fuzz side by side, each with a target of its own")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of all randomness: with one worker the same seed gives the same run (default: drawn and printed)")
	f.DurationVar(&o.Timeout, "timeout", 0, "time limit of one request or run (default: the profile's)")
	f.StringVarP(&o.Out, "out", "o", "teasel-out", "directory of the campaign")
	f.StringArrayVar(&o.Corpus, "corpus", nil, "directory of inputs to begin with; may be given several times")
	f.StringArrayVar(&o.Dict, "dict", nil, "dictionary of tokens, in the format of AFL and libFuzzer; may be given several times")
	f.Var(choice{&o.Profile, profiles}, "profile", "how hard to try (default standard)")
	f.Var(choice{&o.Format, report.Formats()}, "format", "what is written to standard output at the end")
	f.Var(severityFlag{&o.FailOn}, "fail-on", "exit with status 1 only for findings at least this bad")
	addBaseline(cmd, &o.Baseline)
	f.BoolVar(&o.NoUI, "no-ui", false, "plain lines instead of the live screen")
	f.IntVar(&o.StopAfter, "stop-after", 0, "findings after which to stop; 0: no limit")
	f.Var(&o.Memory, "max-memory", "stop when teasel itself holds more than this; 0: no limit (default: the profile's)")
}

// checkOut looks whether there is room for a new campaign, before its target is started.
func (o *options) checkOut() error {
	err := corpus.CheckCreate(o.Out)
	switch {
	case errors.Is(err, corpus.ErrLocked):
		return usage("choose another directory with --out, or wait for it to end", "%w", err)
	case err != nil:
		return usage("choose another directory with --out", "%w", err)
	}
	return nil
}

// isSet reports whether the user has set a flag: on the command line, in the environment or in the file.
func isSet(fs *pflag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	return f != nil && f.Changed
}

// check looks for what cannot be meant.
func (o *options) check() error {
	switch {
	case o.Workers < 1:
		return usage("", "--workers %d: expected 1 or more", o.Workers)
	case o.Duration < 0:
		return usage("", "--duration %v: expected 0 or more", o.Duration)
	case o.Timeout < 0:
		return usage("", "--timeout %v: expected 0 or more", o.Timeout)
	case o.StopAfter < 0:
		return usage("", "--stop-after %d: expected 0 or more", o.StopAfter)
	}
	return nil
}

// preset is what a profile says of these flags.
type preset struct {
	duration, timeout time.Duration
	seed, memory      uint64
}

// settle fills in what the user has left open.
func (o *options) settle(set func(flag string) bool, p preset) {
	if !set("duration") && !set("runs") {
		o.Duration = p.duration
	}
	if !set("timeout") || o.Timeout == 0 {
		o.Timeout = p.timeout
	}
	if !set("max-memory") {
		o.Memory = size(p.memory)
	}
	if !set("seed") {
		if o.Seed = p.seed; o.Seed == 0 {
			o.Seed = drawSeed()
		}
	}
}

// profileName is the profile that was chosen, or the one for those who choose none.
func (o *options) profileName() string {
	if o.Profile == "" {
		o.Profile = "standard"
	}
	return o.Profile
}
