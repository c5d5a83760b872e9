// Package program is the verbs native and triage: it fuzzes a native program, runs the findings of one, and says which faults are behind
// a folder of crashing inputs.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/report"
)

// options are the flags of teasel native. They are stored with the campaign.
type options struct {
	flags.Options
	flags.Launch
	Operands    string        `json:"operands,omitempty"`
	MemoryLimit flags.Size    `json:"memory_limit,omitempty"`
	MallocLimit flags.Size    `json:"malloc_limit,omitempty"`
	Start       time.Duration `json:"start_timeout,omitempty"`
	Batch       int           `json:"batch,omitempty"`
	MaxLen      int           `json:"max_len,omitempty"`
	Exits       []int         `json:"crash_exit,omitempty"`
	Mode        string        `json:"mode,omitempty"`
	Tracer      string        `json:"tracer,omitempty"`
	Join        string        `json:"join,omitempty"`
	NoAffinity  bool          `json:"no_affinity,omitempty"`
}

// Target describes a program in a finding's file, with all that it takes to start it again.
type Target struct {
	Command         []string      `json:"command"`
	Env             []string      `json:"env,omitempty"`
	Dir             string        `json:"dir,omitempty"`
	Timeout         time.Duration `json:"timeout"`
	Start           time.Duration `json:"start_timeout,omitempty"`
	Memory          flags.Size    `json:"memory_limit,omitempty"`
	Malloc          flags.Size    `json:"malloc_limit,omitempty"`
	Exits           []int         `json:"crash_exit,omitempty"`
	Mode            string        `json:"mode,omitempty"`
	Tracer          []string      `json:"tracer,omitempty"`
	Harness         bool          `json:"harness,omitempty"` // started by hand, it takes the file of the input as an argument
	flags.Isolation `json:"isolation,omitzero"`
}

// Kind is the kind of native programs.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "native", NewReplayer: newReplayer, Resume: resume, ByHand: byHand, Coverage: coverage, Panels: panels}
}

func NewCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "native [flags] -- PROGRAM [ARG... @@]",
		Short: "Fuzz a program in C or C++, or a libFuzzer harness",
		Long: `Fuzz a program that was built with 'teasel cc' or 'teasel c++': a harness with LLVMFuzzerTestOneInput, or a program that
reads standard input, or the file that stands for @@ among its arguments. What AFL++'s compilers have built is run as it is;
a program without any instrumentation is fuzzed blindly, by its exit status and what it writes.

What an input reaches in the program, and what the program compares it with, guides what is tried next. Each finding is
reproduced in a fresh process, made as small as it gets, and written down twice: as a file that 'teasel repro' takes, and
under crashes/ or hangs/ as the plain bytes that the program takes by itself.`,
		Example: `  teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness
  teasel native -- ./harness
  teasel native --corpus samples --dict xml.dict --duration 10m -- ./xmllint @@
  teasel native --dry-run -- ./harness
  teasel native --profile ci --format sarif -- ./harness > teasel.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Configure(cmd, "native", args); err != nil {
				return err
			}
			return run(cmd, o)
		},
	}
	flags.AddOptions(cmd, &o.Options)
	flags.AddLaunch(cmd, &o.Launch, "program", "this one")
	f := cmd.Flags()
	addJoin(f, &o.Join)
	addRun(f, o)
	f.StringVar(&o.Operands, "operands", "", "second build of the program, with comparison hooks, for a first one that was built with TEASEL_NO_HOOKS=1")
	f.IntVar(&o.Batch, "batch", 0, "inputs that go to the program at a time at most; 0: 256 of a harness, 64 of others")
	f.IntVar(&o.MaxLen, "max-len", 0, "length of the longest input, in bytes; 0: 1 MiB")
	return cmd
}

// addRun adds the flags that say how the program is run.
func addRun(f *pflag.FlagSet, o *options) {
	f.Var(&o.MemoryLimit, "memory-limit", "memory that one run may hold; 0: 2GiB")
	f.Var(&o.MallocLimit, "malloc-limit", "size of one allocation that is reported as out of memory, under a sanitizer; 0: --memory-limit")
	f.DurationVar(&o.Start, "start-timeout", 0, "how long the program may take to get ready for its first input; 0: 30s")
	f.IntSliceVar(&o.Exits, "crash-exit", nil, "exit status that counts as a crash; may be given several times")
	f.Var(flags.Choice(&o.Mode, []string{native.ModeRuntime, native.ModeAFL, native.ModeBlackBox}), "mode", "how the program is run (default: as it was built)")
	f.StringVar(&o.Tracer, "tracer", "", "program, and its arguments, that runs the program and has AFL's fork server in it, such as afl-qemu-trace")
	f.BoolVar(&o.NoAffinity, "no-affinity", false, "do not bind each worker's processes to a processor core of its own")
}

func run(cmd *cobra.Command, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.LoadBaseline("native", o.Accept); err != nil {
		return err
	}
	profile, err := native.ParseProfile(o.ProfileName())
	if err != nil {
		return exit.Usage("", "%w", err)
	}
	given := func(name string) bool { return flags.IsSet(cmd.Flags(), name) }
	o.SetDefaults(given,
		flags.Preset{Duration: profile.Duration, Timeout: profile.Timeout, Seed: profile.Seed, Memory: profile.Memory})
	if err := takeBeside(o, given, cmd.ErrOrStderr()); err != nil {
		return err
	}
	if !o.DryRun && o.Join == "" { // with --join it is another directory
		if err := o.CheckOut(); err != nil {
			return err
		}
	}
	p, err := newPlan(cmd.Context(), o, cmd.ErrOrStderr(), nil)
	if err != nil {
		return err
	}
	if o.DryRun {
		return p.dryRun(cmd.OutOrStdout())
	}
	p.introduce(cmd.ErrOrStderr())
	fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %s, %s\n", p.seedText(), campaign.Plural(p.tokens, "dictionary entry", "dictionary entries"))
	return p.Begin(cmd)
}

// check refuses values that make no sense, before anything is started.
func (o *options) check() error {
	if len(o.Command) == 0 {
		return exit.Usage("for example: teasel native -- ./harness\nhint: to build one: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", "no program to fuzz: its command goes behind --")
	}
	if o.Start < 0 {
		return exit.Usage("", "--start-timeout %v: expected 0 or more", o.Start)
	}
	if o.MaxLen < 0 {
		return exit.Usage("", "--max-len %d: expected 0 or more", o.MaxLen)
	}
	if o.Batch < 0 {
		return exit.Usage("", "--batch %d: expected 0 or more", o.Batch)
	}
	for _, n := range o.Exits {
		if n < 1 || n > 255 {
			return exit.Usage("", "--crash-exit %d: expected 1 to 255", n)
		}
	}
	return errors.Join(o.Options.Check(), o.Launch.Check())
}

// plan is the plan of a campaign on a program.
type plan struct {
	campaign.Plan[[]byte]
	program native.Program
	command []string
	tokens  int
	given   bool // the user has given inputs
}

// newPlan inspects the program and prepares its campaign.
// leave is called before another process takes over, for a sandbox; it may be nil.
func newPlan(ctx context.Context, o *options, stderr io.Writer, leave func() error) (*plan, error) {
	p := &plan{command: o.Command}
	target := native.Target{Command: o.Command, Env: flags.Environment(o.Env), Dir: o.Dir, Timeout: o.Timeout, Memory: uint64(o.MemoryLimit), Malloc: uint64(o.MallocLimit), Start: o.Start,
		Operands: o.Operands, Batch: o.Batch, Exits: o.Exits, Mode: o.Mode, Tracer: strings.Fields(o.Tracer), Sandbox: o.Sandbox, Allow: o.Allowed}
	weights, err := o.ByteWeights()
	if err != nil {
		return nil, err
	}
	target.Note = func(text string) { fmt.Fprintf(stderr, "teasel: warning: %s\n", text) }
	dictionary, err := campaign.LoadDictionaries(&mutate.Dictionary{}, o.Dict, stderr)
	if err != nil {
		return nil, err
	}
	if p.Seeds, err = campaign.LoadCorpus(o.Corpus, teasel.Codec[[]byte](native.Codec{}), stderr); err != nil {
		return nil, err
	}
	for i, s := range p.Seeds {
		if o.MaxLen > 0 && len(s.Input) > o.MaxLen { // as libFuzzer does
			p.Seeds[i].Input = s.Input[:o.MaxLen]
		}
	}
	if p.given = len(p.Seeds) > 0; !p.given {
		for _, s := range native.Seeds() {
			p.Seeds = append(p.Seeds, campaign.Seed[[]byte]{Folder: corpus.EdgeCases, Name: s.Name, Input: s.Input})
		}
	}
	if target.Scratch, err = campaign.Isolate(ctx, &o.Isolation, o.Scratch, stderr, leave); err != nil {
		return nil, err
	}
	if p.program, err = target.Inspect(ctx); err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	if !o.NoAffinity {
		var warning string
		if target.Cores, warning = native.NewCores(o.Workers); warning != "" {
			p.program.Warnings = append(p.program.Warnings, warning)
		}
	}
	runtime.GOMAXPROCS(native.Procs(o.Workers))
	dictionary.Add(mutate.Other, p.program.Tokens...)
	p.tokens = dictionary.Len()
	p.Options, p.Kind, p.Severity = &o.Options, Kind(), o.Severity
	p.Campaign = native.Campaign(target, &mutate.Bytes{Dictionary: dictionary, MaxLen: o.MaxLen, Weights: weights})
	profile, _ := native.ParseProfile(o.ProfileName()) // run has checked it
	p.Campaign.MinimizeRuns = profile.Minimize
	if slices.Contains(o.Stages, "deterministic") {
		p.Campaign.Stages = native.WithSteps(p.Campaign.Stages)
	}
	if err := campaign.Switch(&p.Campaign, &o.Mutation); err != nil {
		return nil, err
	}
	p.StuckNote = "nothing that was tried reaches anything new: does the program read its input from " + p.source() + ", and was the code under test built with 'teasel cc'?"
	if p.program.Refusal != "" {
		p.StuckNote += " It says: " + strings.ReplaceAll(p.program.Refusal, "\n", " / ")
	}
	if err := p.describe(o); err != nil || o.Join == "" {
		return p, err
	}
	j, err := parseJoin(o.Join)
	if err == nil {
		j.apply(&p.Plan)
	}
	return p, err
}

// describe fills in what is written to campaign.json.
func (p *plan) describe(o *options) (err error) {
	m := &p.Meta
	m.Version, m.Kind, m.Name, m.Seed = campaign.Version, "native", strings.Join(o.Command, " "), o.Seed
	m.Crashes, m.Hangs, m.Build, m.Edges = native.CrashRules(), native.HangRules(), p.program.Build, p.program.Edges
	if m.Options, err = campaign.RawJSON(o); err != nil {
		return err
	}
	m.Target, err = campaign.RawJSON(Target{Command: o.Command, Env: o.Env, Dir: o.Dir, Timeout: o.Timeout, Start: o.Start, Memory: o.MemoryLimit, Malloc: o.MallocLimit,
		Exits: o.Exits, Mode: p.program.Mode, Tracer: strings.Fields(o.Tracer), Harness: p.program.Harness, Isolation: o.Isolation})
	return err
}

// source says how the program reads an input.
func (p *plan) source() string {
	if p.program.InMemory {
		return "memory, where __AFL_FUZZ_TESTCASE_BUF is"
	}
	if _, names := native.Placed(p.command, "input"); len(names) > 0 {
		return "a file in the place of @@"
	}
	if p.program.Harness {
		return "LLVMFuzzerTestOneInput"
	}
	return "standard input"
}

// seedText says which seeds there are.
func (p *plan) seedText() string {
	if p.given {
		return campaign.Plural(len(p.Seeds), "seed", "seeds")
	}
	return fmt.Sprintf("%d seeds of teasel's own (--corpus DIR: yours)", len(p.Seeds))
}

// ignoredArguments warns of arguments of a harness that have no effect: users of libFuzzer give flags and a corpus there.
func (p *plan) ignoredArguments() (warnings []string) {
	if _, names := native.Placed(p.command, "input"); len(names) > 0 || !p.program.Harness {
		return nil
	}
	for _, a := range p.command[1:] {
		switch {
		case strings.HasPrefix(a, "-") && strings.Contains(a, "="):
			warnings = append(warnings, fmt.Sprintf("%s has no effect unless LLVMFuzzerInitialize looks at it: libFuzzer's flags are for the harness alone, without 'teasel native --'", a))
		case isDirectory(a):
			warnings = append(warnings, fmt.Sprintf("the directory %s behind the harness is not read: for inputs to begin with, put --corpus %s before --", a, a))
		}
	}
	return warnings
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// minEdges is the number of edges below which the code under test was most likely not built with coverage.
const minEdges = 4

// introduce prints what is fuzzed, and warnings about it.
func (p *plan) introduce(w io.Writer) {
	fmt.Fprintf(w, "teasel: %s is a %v; inputs go to %s\n", p.command[0], p.program, p.source())
	for _, text := range p.ignoredArguments() {
		fmt.Fprintf(w, "teasel: warning: %s\n", text)
	}
	for _, text := range p.program.Warnings {
		fmt.Fprintf(w, "teasel: warning: %s\n", text)
	}
	if p.program.Refusal != "" {
		fmt.Fprintf(w, "teasel: the program refuses an empty input, and says: %s\n", strings.ReplaceAll(p.program.Refusal, "\n", " / "))
	}
	if p.program.Edges > 0 && p.program.Edges < minEdges {
		fmt.Fprintf(w, "teasel: warning: %d edges are next to nothing: was the code under test compiled with 'teasel cc' too?\n", p.program.Edges)
	}
}

func (p *plan) dryRun(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "run\t%s\n", strings.Join(p.command, " "))
	fmt.Fprintf(t, "is\t%v\n", p.program)
	fmt.Fprintf(t, "with\t%s\n", p.program.Runner)
	fmt.Fprintf(t, "inputs\tgo to %s\n", p.source())
	fmt.Fprintf(t, "seeds\t%s\n", p.seedText())
	fmt.Fprintf(t, "dictionary\t%s\n", campaign.Plural(p.tokens, "entry", "entries"))
	fmt.Fprintf(t, "time limit\t%v of a run\n", p.Options.Timeout)
	return exit.Failure(t.Flush())
}

// newReplayer returns what runs inputs on the program of a finding.
func newReplayer(ctx context.Context, raw json.RawMessage, _ io.Writer) (campaign.Replayer, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return nil, err
	}
	if err := flags.CheckStart(t.Command, t.Env); err != nil {
		return nil, err
	}
	scratch, err := campaign.Isolate(ctx, &t.Isolation, 0, io.Discard, nil)
	if err != nil {
		return nil, err
	}
	return &replay.Runner[[]byte]{
		Target: native.Target{Scratch: scratch, Sandbox: t.Sandbox, Allow: t.Allowed, Command: t.Command, Env: flags.Environment(t.Env), Dir: t.Dir, Timeout: t.Timeout, Start: t.Start, Memory: uint64(t.Memory), Malloc: uint64(t.Malloc), Exits: t.Exits, Batch: 1,
			Mode: t.Mode, Tracer: t.Tracer},
		Codec:   native.Codec{},
		Mutator: &mutate.Bytes{}, Detectors: []teasel.Detector{teasel.DetectorFunc(native.Detect)},
	}, nil
}

// byHand returns the command that runs a program on a file.
func byHand(raw json.RawMessage, f *teasel.Finding, input string) string {
	var t Target
	if campaign.ReadTarget(raw, &t) != nil || len(t.Command) == 0 {
		return ""
	}
	if t.Dir != "" { // the command runs there, and paths are relative to here
		input = absolute(input)
	}
	args, names := native.Placed(t.Command, input)
	if len(names) > 0 && !slices.Equal(names, []string{input}) { // the program insists on a name
		args, names = native.Placed(t.Command, "input")
	}
	if t.Dir != "" {
		args[0] = absolute(args[0])
	}
	for i := range args {
		args[i] = report.Quote(args[i])
	}
	env := assignments(flags.Environment(t.Env))
	if f.Rule == native.RuleUndefined { // by default it is reported, but not fatal; options of the user's come last
		env = append([]string{"UBSAN_OPTIONS=halt_on_error=1"}, env...)
	}
	line := strings.Join(append(env, args...), " ")
	switch {
	case len(names) > 0:
		for _, name := range slices.Backward(names) {
			if name != input {
				line = fmt.Sprintf("install -D %s %s && %s", report.Quote(input), report.Quote(name), line)
			}
		}
	case t.Harness:
		line += " " + report.Quote(input)
	default:
		line += " < " + report.Quote(input)
	}
	if t.Dir != "" {
		return fmt.Sprintf("(cd %s && %s)", report.Quote(t.Dir), line)
	}
	return line
}

// assignments returns variables as a shell takes them before a command.
func assignments(env []string) (out []string) {
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, name+"="+report.Quote(value))
	}
	return out
}

// absolute returns an absolute path; a mere name, which is looked up in PATH, stays as it is.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && strings.ContainsRune(path, filepath.Separator) {
		return full
	}
	return path
}

// resume resumes a campaign.
func resume(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error {
	var o options
	err := campaign.ReadOptions(dir, &o)
	if err == nil {
		err = flags.CheckInherited(o.Env)
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	change(&o.Options)
	if o.Join != "" {
		o.Join = joinValue(dir.Path())
	}
	p, err := newPlan(cmd.Context(), &o, cmd.ErrOrStderr(), dir.Close)
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	p.introduce(cmd.ErrOrStderr())
	if err := p.renew(dir, cmd.ErrOrStderr()); err != nil {
		return errors.Join(exit.Failure(err), dir.Close())
	}
	return p.Resume(cmd, dir)
}

// renew has all testcases run again if the program was built anew: the features that they reach are numbers of edges, which another
// build numbers in another way.
func (p *plan) renew(dir *corpus.Dir, w io.Writer) error {
	m := dir.Meta()
	if m.Build == p.program.Build && m.Edges == p.program.Edges {
		return nil
	}
	fmt.Fprintf(w, "teasel: %s is not the same as before: all testcases and seeds run again\n", p.command[0])
	p.RunAgain = true
	m.Build, m.Edges = p.program.Build, p.program.Edges
	return dir.Renew(m)
}
