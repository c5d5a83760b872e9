package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/internal/sancov"
)

// Program is what a target turned out to be when it was started.
type Program struct {
	Runner     string   // what it is run with, in a word or two for people
	Harness    bool     // it has no main of its own: by hand it takes its inputs' files as arguments
	Edges      int      // instrumented places; 0: unknown, or none
	Modules    int      // that hold them: the program and its shared libraries
	Sanitizers []string // for example AddressSanitizer
}

// String returns it on one line: "harness with AddressSanitizer, 1234 edges".
func (p Program) String() string {
	what := "program with a main"
	if p.Harness {
		what = "harness"
	}
	if len(p.Sanitizers) > 0 {
		what += " with " + strings.Join(p.Sanitizers, " and ")
	}
	if p.Edges > 0 {
		what += fmt.Sprintf(", %d edges", p.Edges)
	}
	if p.Modules > 1 {
		what += fmt.Sprintf(" in %d modules", p.Modules)
	}
	return what
}

// Inspect starts the program, looks at what it is, and ends it again. What is wrong with the program is a [StartError].
func (t Target) Inspect(ctx context.Context) (p Program, err error) {
	ex, err := t.Open(ctx)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	if d, ok := ex.(interface{ program() Program }); ok {
		p = d.program()
	}
	return p, nil
}

func (e *executor) program() Program {
	h := e.plain.Hello
	p := Program{Runner: "teasel's runtime", Harness: h.Flags&sancov.Harness != 0, Edges: int(h.Edges), Modules: int(h.Modules)}
	flags := h.Flags
	if flags&(sancov.ASan|sancov.MSan) != 0 {
		flags &^= sancov.UBSan // their libraries have it in them, used or not
	}
	for _, s := range [...]struct {
		flag uint32
		name string
	}{{sancov.ASan, "AddressSanitizer"}, {sancov.MSan, "MemorySanitizer"}, {sancov.UBSan, "UndefinedBehaviorSanitizer"}} {
		if flags&s.flag != 0 {
			p.Sanitizers = append(p.Sanitizers, s.name)
		}
	}
	return p
}
