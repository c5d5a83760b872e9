package teasel_test

import (
	"context"
	"fmt"

	"github.com/teaselfuzz/teasel"
)

// nesting is the target: it dies of "(((". What it reaches is how deep it got.
type nesting struct{}

func (n nesting) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return n, nil }
func (n nesting) Close() error                                                       { return nil }

func (n nesting) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	depth := 0
	for depth < len(in) && in[depth] == '(' {
		depth++
	}
	o.Exit = teasel.ExitOK
	o.Features = append(o.Features, teasel.Feature(depth+1))
	if depth >= 3 {
		o.Exit, o.Detail = teasel.ExitCrash, "stack overflow"
	}
	return nil
}

// A whole campaign: the target says what it reached, the engine does the rest.
func Example() {
	c := teasel.Campaign[[]byte]{
		Target:    nesting{},
		Mutator:   byteMutator{}, // package mutate has better ones
		Codec:     raw{},
		Seeds:     [][]byte{[]byte("hello")},
		Calibrate: 1,
		StopAfter: 1,
	}
	sum, err := c.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range sum.Findings {
		fmt.Printf("%s: %s, shown %d of %d times by %q\n", f.Rule, f.Message, f.Stable, f.Tries, f.Input)
	}
	// Output: crash: stack overflow, shown 3 of 3 times by "((("
}
