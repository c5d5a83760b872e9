package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/triage"
)

// Program describes a target, as [Target.Inspect] finds it.
type Program struct {
	Mode       string   // how it is run: [ModeRuntime], [ModeAFL] or [ModeBlackBox]
	Runner     string   // a short description of the mode for users
	Harness    bool     // it is a libFuzzer harness: run by hand it takes input files as arguments
	Edges      int      // number of edge counters; 0: unknown, or none
	Modules    int      // number of instrumented modules, the program and its shared libraries; 0: unknown
	Mutator    bool     // it has a mutator or a crossover of its own
	Sanitizers []string // for example AddressSanitizer; nil: unknown, or none
	Map        int      // size of AFL's coverage map, in bytes; 0: there is none
	Persistent bool     // one process runs many inputs
	Shared     bool     // inputs are passed in shared memory
	InMemory   bool     // it is no harness and takes inputs in memory, as AFL++'s macros give them
	Tokens     []string // the dictionary in the program; nil: none
	Build      string   // SHA-256 of its file, hexadecimal
	Warnings   []string // sentences for the user; nil: none
	Refusal    string   // last lines that it writes to standard error when it refuses an empty input; "": it does not, or says nothing
}

// String describes the program on one line: "harness with AddressSanitizer, 1234 edges".
func (p Program) String() string {
	what := "program with a main"
	if p.Harness {
		what = "harness"
	} else if p.Persistent {
		what += " and a loop over inputs"
	}
	with := slices.Clone(p.Sanitizers)
	if p.Mutator {
		with = append(with, "a mutator of its own")
	}
	if len(with) > 0 {
		what += " with " + strings.Join(with, " and ")
	}
	if p.Edges > 0 {
		what += fmt.Sprintf(", %d edges", p.Edges)
	}
	if p.Modules > 1 {
		what += fmt.Sprintf(" in %d modules", p.Modules)
	}
	return what
}

// Inspect starts the program, determines how it was built, and ends it. If the program is at fault, the error is a [*StartError].
func (t Target) Inspect(ctx context.Context) (p Program, err error) {
	b, text, err := t.readImage()
	if err != nil {
		return p, err
	}
	ex, err := t.bound(teasel.Role{Background: true}).open(ctx, b)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	if d, ok := ex.(describer); ok {
		p = d.describe()
		if p.Refusal, err = refusal(ctx, d); err != nil {
			return p, err
		}
	}
	sum := sha256.Sum256(text)
	p.Build = hex.EncodeToString(sum[:])
	return p, nil
}

// describer is an executor of this package.
type describer interface {
	teasel.Executor[[]byte]
	describe() Program
	stderr() string
}

// refusal runs an empty input. What the program says when it refuses that is often why it refuses every input: a name that it does not like,
// or a file or an argument that is missing.
func refusal(ctx context.Context, d describer) (string, error) {
	o := teasel.Observation{Ask: teasel.Ask{Quiet: true, Quick: true}, Runs: 1}
	if err := d.Exec(ctx, nil, &o); err != nil || o.Exit != teasel.ExitRejected {
		return "", err
	}
	return triage.LastLines(d.stderr(), 3), nil
}

func (e *executor) stderr() string    { return e.main.Stderr() }
func (e *aflExecutor) stderr() string { return string(e.server.Stderr()) }
func (e *blackBox) stderr() string    { return string(e.program.Stderr()) }

func (e *executor) describe() Program {
	h := e.main.Hello
	p := Program{Mode: ModeRuntime, Runner: "teasel's runtime", Harness: h.Flags&sancov.Harness != 0, Shared: true, Edges: int(h.Edges), Modules: int(h.Modules)}
	p.Persistent, p.Mutator = h.Flags&(sancov.Harness|sancov.Loops) != 0, h.Flags&(sancov.Mutator|sancov.CrossOver) != 0
	p.InMemory = h.Flags&sancov.InMemory != 0
	flags := h.Flags
	if flags&(sancov.ASan|sancov.MSan|sancov.TSan) != 0 {
		flags &^= sancov.UBSan // the libraries of these sanitizers always include it
	}
	for _, s := range [...]struct {
		flag uint32
		name string
	}{{sancov.ASan, "AddressSanitizer"}, {sancov.MSan, "MemorySanitizer"}, {sancov.TSan, "ThreadSanitizer"},
		{sancov.UBSan, "UndefinedBehaviorSanitizer"}} {
		if flags&s.flag != 0 {
			p.Sanitizers = append(p.Sanitizers, s.name)
		}
	}
	return p
}

func (e *aflExecutor) describe() Program {
	h := e.server.Hello
	dialect := [...]string{"AFL's fork server", "AFL++'s fork server (up to 4.10c)", "AFL++'s fork server (4.20c or later)"}[h.Dialect]
	how := "forked for every input"
	if h.Persistent {
		how = "persistent"
	}
	p := Program{Mode: ModeAFL, Map: h.MapSize, Persistent: h.Persistent, Shared: h.Shared, InMemory: h.Shared, Tokens: h.Tokens,
		Runner: fmt.Sprintf("%s, %s, a map of %d bytes", dialect, how, h.MapSize)}
	if h.Shared {
		p.Runner += ", inputs in shared memory"
	}
	if len(e.target.Tracer) == 0 {
		faster := "a harness or a loop over inputs is fuzzed many times faster than a process for each"
		if h.Persistent {
			faster = "it is fuzzed faster"
		}
		p.Warnings = []string{"the program does not record its comparisons, and every run costs a round trip: built with 'teasel cc' more is found, and " + faster}
	}
	return p
}

func (e *blackBox) describe() Program {
	return Program{Mode: ModeBlackBox, Runner: "no instrumentation: started for every input, judged by exit status and output",
		Warnings: []string{"the program was not built with coverage, so this is black-box fuzzing, which finds little; " + buildHint}}
}
