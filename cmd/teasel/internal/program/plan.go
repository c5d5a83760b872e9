package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/report"
)

// plan is the plan of a campaign on a program.
type plan struct {
	campaign.Plan[[]byte]
	program native.Program
	command []string
	tokens  int
	given   bool   // the user has given inputs
	cores   string // a warning about the cores of the workers, if there is one
}

// Plan implements [campaign.Verb].
func (o *options) Plan(ctx context.Context, stderr io.Writer, leave func() error) (*campaign.Plan[[]byte], error) {
	p := &plan{command: o.Command}
	about := Target{Command: o.Command, Env: o.Env, Dir: o.Dir, Timeout: o.Timeout, Start: o.Start, Memory: o.MemoryLimit, Malloc: o.MallocLimit,
		Exits: o.Exits, Mode: o.Mode, Tracer: strings.Fields(o.Tracer), Isolation: o.Isolation}
	target := about.program()
	target.Operands, target.Batch = o.Operands, o.Batch
	dictionary := &mutate.Dictionary{}
	mutator := &mutate.Bytes{Dictionary: dictionary, MaxLen: o.MaxLen}
	err := o.SetBytes(mutator)
	if err != nil {
		return nil, err
	}
	target.Note = func(text string) { fmt.Fprintf(stderr, "teasel: warning: %s\n", text) }
	if p.Seeds, target.Scratch, err = campaign.Load(ctx, &o.Launch, teasel.Codec[[]byte](native.Codec{}), dictionary, stderr, leave); err != nil {
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
	started := progress.Wait(stderr, "waiting for "+plain.Line(o.Command[0])+" to get ready for its first input, or to end")
	p.program, err = target.Inspect(ctx)
	started()
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	target.Mode = p.program.Mode // workers need not find out
	if !o.NoAffinity {
		target.Cores, p.cores = native.NewCores(o.Workers)
	}
	dictionary.Add(mutate.Other, p.program.Tokens...)
	p.tokens = dictionary.Len()
	p.Sandbox = about.sandbox(target.Scratch)
	p.Campaign = native.Campaign(target, mutator)
	if slices.Contains(o.Stages, "deterministic") {
		p.Campaign.Stages = native.WithSteps(p.Campaign.Stages)
	}
	p.StuckNote = "nothing that was tried reaches anything new: does the program read its input from " + p.source() + ", and was the code under test built with 'teasel cc'?"
	if p.program.Refusal != "" {
		p.StuckNote += " It says: " + strings.ReplaceAll(p.program.Refusal, "\n", " / ")
	}
	p.Introduce, p.DryRun = p.introduce, p.dryRun
	p.Complete = func(r *report.Run) { p.conclude(stderr, r) }
	p.Given = p.seedText() + ", " + noun.Count(p.tokens, "dictionary entry", "dictionary entries")
	m := &p.Meta
	m.Crashes, m.Hangs, m.Build, m.Edges = native.CrashRules(), native.HangRules(), p.program.Build, p.program.Edges
	about.Mode, about.Harness = p.program.Mode, p.program.Harness
	err = p.Describe(Kind(), &o.Launch, o, about)
	if o.Join != "" {
		join(&p.Plan)
	}
	return &p.Plan, err
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
		return noun.Count(len(p.Seeds), "seed", "seeds")
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

// Hints for programs without a sanitizer.
const (
	noSanitizer = "it has no sanitizer, so that memory errors are seen late or not at all: build it with -fsanitize=address too"
	oneDamage   = "several of these findings may be one memory error, since the program has no sanitizer: build it with -fsanitize=address, and run the crashes on that with 'teasel triage'"
)

// bare reports whether the program is known to have no sanitizer.
func (p *plan) bare() bool {
	return p.program.Mode == native.ModeRuntime && len(p.program.Sanitizers) == 0
}

// conclude gives a hint if the findings show that the program lacks a sanitizer.
func (p *plan) conclude(w io.Writer, r *report.Run) {
	n := 0
	for i := range r.Summary.Findings {
		if native.Damage(&r.Summary.Findings[i]) {
			n++
		}
	}
	if p.bare() && n > 1 {
		fmt.Fprintf(w, "teasel: hint: %s\n", oneDamage)
	}
}

// introduce prints what is fuzzed, and warnings about it.
func (p *plan) introduce(w io.Writer) {
	fmt.Fprintf(w, "teasel: %s is a %v; inputs go to %s\n", p.command[0], p.program, p.source())
	warnings := p.ignoredArguments()
	if p.Triage == nil { // they are about fuzzing
		warnings = append(warnings, p.program.Warnings...)
	}
	if p.cores != "" {
		warnings = append(warnings, p.cores)
	}
	for _, text := range warnings {
		fmt.Fprintf(w, "teasel: warning: %s\n", text)
	}
	if p.bare() && p.Triage == nil {
		fmt.Fprintf(w, "teasel: hint: %s\n", noSanitizer)
	}
	if p.program.Refusal != "" {
		fmt.Fprintf(w, "teasel: the program refuses an empty input, and says: %s\n", strings.ReplaceAll(p.program.Refusal, "\n", " / "))
	}
	if p.Triage == nil && p.program.Edges > 0 && p.program.Edges < minEdges {
		fmt.Fprintf(w, "teasel: warning: %d edges are next to nothing: was the code under test compiled with 'teasel cc' too?\n", p.program.Edges)
	}
}

func (p *plan) dryRun(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "run\t%s\n", strings.Join(p.command, " "))
	fmt.Fprintf(t, "is\t%v\n", p.program)
	fmt.Fprintf(t, "with\t%s\n", p.program.Runner)
	if p.bare() {
		fmt.Fprintf(t, "hint\t%s\n", noSanitizer)
	}
	fmt.Fprintf(t, "inputs\tgo to %s\n", p.source())
	fmt.Fprintf(t, "seeds\t%s\n", p.seedText())
	fmt.Fprintf(t, "dictionary\t%s\n", noun.Count(p.tokens, "entry", "entries"))
	fmt.Fprintf(t, "time limit\t%v of a run\n", p.Options.Timeout)
	return exit.Failure(t.Flush())
}
