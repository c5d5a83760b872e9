package netproto

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/operands"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A bug behind two bytes that the server compares with constants, in a message whose checksum has to be right, is two swaps away.
func TestOperandsLeadThroughChecksum(t *testing.T) {
	target := plantedTarget(t, plantedSource(t, "server.c", ours))
	e := open(t, target)
	m := &dialogue.Mutator{Model: target.Model}
	in := dialogue.Seeds(target.Model)[1]
	before := 0
	for _, b := range "te" { // of the note "text", that the server compares with '!'
		o := teasel.Observation{Ask: teasel.Ask{Operands: true, Quiet: true}}
		if err := e.Exec(context.Background(), in, &o); err != nil {
			t.Fatal(err)
		}
		rec, _ := o.Note.(*operands.Recording)
		if rec == nil || !slices.ContainsFunc(rec.Numbers, func(op teasel.Operand) bool { return op.Const && op.A == '!' && op.B == uint64(b) }) {
			t.Fatalf("that %q was compared with '!' is not recorded: %+v", b, rec)
		}
		at := slices.Index(flat(in)[before:], byte(b)) + before
		all := operands.Swaps(flat(in), rec)
		if !slices.Contains(all, operands.Swap{At: at, Length: 1, Text: "!"}) {
			t.Fatalf("no swap at %d: %v", at, all)
		}
		out, ok := m.Replace(nil, in, at, 1, "!")
		if !ok {
			t.Fatal("the byte cannot be replaced")
		}
		in, before = out, at
	}
	var o teasel.Observation
	if err := e.Exec(context.Background(), in, &o); err != nil || o.Exit != teasel.ExitCrash {
		t.Errorf("%v, %v with %q", o.Exit, err, flat(in))
	}
}
