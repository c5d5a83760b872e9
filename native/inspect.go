package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel/internal/sancov"
)

// Inspection says how a program will be run, and what its user should know.
type Inspection struct {
	Mode       string   // [ModeRuntime], [ModeAFL] or [ModeBlackBox]
	Summary    string   // the same for people, a few words
	Counters   int      // of coverage; 0: none
	Persistent bool     // one process runs many inputs
	Deferred   bool     // the program says where it starts its server
	Shared     bool     // inputs come through shared memory
	Tokens     []string // a dictionary that the program brings with it
	Warnings   []string // sentences; nil: all is well
}

// Inspect starts the program, looks at what it is, and ends it.
func (t Target) Inspect(ctx context.Context) (Inspection, error) {
	ex, err := t.Open(ctx)
	if err != nil {
		return Inspection{}, err
	}
	var i Inspection
	switch e := ex.(type) {
	case *executor:
		i = e.inspect()
	case *aflExecutor:
		i = e.inspect()
	case *blackBox:
		i = e.inspect()
	default:
		err = fmt.Errorf("inspecting %T", ex)
	}
	return i, errors.Join(err, ex.Close())
}

func (e *executor) inspect() Inspection {
	h := e.plain.Hello
	i := Inspection{Mode: ModeRuntime, Summary: "program with teasel's runtime, forked for every input", Counters: int(h.Counters), Shared: true}
	if h.Flags&sancov.Harness != 0 {
		i.Summary, i.Persistent = "harness with teasel's runtime", true
	}
	return i
}

func (e *aflExecutor) inspect() Inspection {
	h := e.server.Hello
	i := Inspection{Mode: ModeAFL, Counters: h.MapSize, Persistent: h.Loops, Deferred: h.Deferred, Shared: h.Shared, Tokens: h.Tokens}
	dialect := [...]string{"AFL's fork server", "AFL++'s fork server (up to 4.10c)", "AFL++'s fork server (4.20c or later)"}[h.Dialect]
	how := "forked for every input"
	if h.Loops {
		how = "persistent"
	}
	i.Summary = fmt.Sprintf("%s, %s, a map of %d bytes", dialect, how, h.MapSize)
	if h.Shared {
		i.Summary += ", inputs in shared memory"
	}
	if len(h.Tokens) > 0 {
		i.Summary += fmt.Sprintf(", a dictionary of %d tokens", len(h.Tokens))
	}
	if len(e.target.Tracer) == 0 {
		i.Warnings = append(i.Warnings, "nothing is known of what the program compares, and every run costs a round trip: to find more, faster, "+instrumentHint)
	}
	return i
}

func (e *blackBox) inspect() Inspection {
	return Inspection{Mode: ModeBlackBox, Summary: "no instrumentation: started for every input, judged by exit status and output", Warnings: []string{
		"the program was not built for coverage, so this is blind fuzzing, which finds little: " + instrumentHint}}
}
