package operands_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// recorder is an executor of a program that compares the first four bytes of its input with a constant. It records that comparison.
type recorder struct{ history operands.History }

func (r *recorder) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return new(recorder), nil
}

func (r *recorder) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	var rec operands.Recording
	o.Exit, o.Features = teasel.ExitOK, []teasel.Feature{1}
	if len(in) >= 4 {
		n := binary.LittleEndian.Uint32(in)
		rec.Numbers = append(rec.Numbers, teasel.Operand{Site: 1, Size: 4, Const: true, A: 0xcafed00d, B: uint64(n)})
		if n == 0xcafed00d {
			o.Exit, o.Detail = teasel.ExitCrash, "the number was right"
		}
	}
	r.history.Ran(1)
	if o.Ask.Operands {
		r.history.Attach(o, &rec)
	}
	return nil
}

func (r *recorder) Close() error { return nil }

func Example() {
	c := teasel.Campaign[[]byte]{
		Target:    new(recorder),
		Mutator:   new(mutate.Bytes),
		Codec:     codec{}, // stores inputs unchanged
		Stages:    append(operands.Stages(), teasel.Havoc[[]byte]{}),
		Seeds:     [][]byte{[]byte("12345678")},
		StopAfter: 1,
		Runs:      1000,
	}
	s, err := c.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range s.Findings {
		fmt.Printf("%s %x\n", f.Message, f.Input[:4])
	}
	// Output: the number was right 0dd0feca
}
