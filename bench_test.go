package teasel_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// The engine around a target that does nothing and a mutator that only copies, so that what is measured is the
// engine. The goal: at most 50 ns an execution in batches of 64, at most 100 ns singly, no allocation.

type noop struct{ size int }

func (n noop) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	if n.size > 1 {
		return noopBatch{size: n.size}, nil
	}
	return noopSingle{}, nil
}

type noopSingle struct{}

func (noopSingle) Exec(_ context.Context, _ []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	return nil
}
func (noopSingle) Close() error { return nil }

type noopBatch struct {
	noopSingle
	size int
}

func (n noopBatch) BatchSize() int { return n.size }
func (n noopBatch) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range obs {
		obs[i].Exit = teasel.ExitOK
	}
	return len(ins), nil
}

type copies struct{}

func (copies) Generate(*teasel.Rand) []byte                  { return make([]byte, 100) }
func (copies) Mutate(_ *teasel.Rand, dst, src []byte) []byte { return append(dst[:0], src...) }
func (copies) Complexity(in []byte) float64                  { return float64(len(in)) }
func (copies) Cross(_ *teasel.Rand, dst, a, _ []byte) []byte { return append(dst[:0], a...) }

type raw struct{}

func (raw) Encode(in []byte) ([]byte, error)   { return in, nil }
func (raw) Decode(data []byte) ([]byte, error) { return append([]byte(nil), data...), nil }

type edits struct{ copies }

func (edits) Change(r *teasel.Rand, in *[]byte) { (*in)[r.IntN(len(*in))] ^= 1 }
func (edits) Undo(in *[]byte)                   {}

func BenchmarkEngine(b *testing.B) {
	for _, bench := range []struct {
		name    string
		size    int
		workers int
		mut     teasel.Mutator[[]byte]
	}{
		{"batch64", 64, 1, copies{}},
		{"batch64-two", 64, 2, copies{}},
		{"single", 1, 1, copies{}},
		{"single-two", 1, 2, copies{}},
		{"undo", 1, 1, edits{}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			c := teasel.Campaign[[]byte]{Target: first{noop{bench.size}}, Mutator: bench.mut, Codec: raw{},
				Seeds: [][]byte{make([]byte, 100)}, Workers: bench.workers, Runs: uint64(b.N)}
			s, err := c.Run(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if s.Executions < uint64(b.N) {
				b.Fatalf("%d executions of %d", s.Executions, b.N)
			}
		})
	}
}

// first gives the seed a feature, so that there is a testcase to work on.
type first struct{ noop }

func (f first) Open(ctx context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	ex, err := f.noop.Open(ctx, role)
	if b, ok := ex.(noopBatch); ok {
		return &firstBatch{noopBatch: b}, err
	}
	return &firstSingle{}, err
}

type firstBatch struct {
	noopBatch
	done bool
}

func (f *firstBatch) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	if !f.done {
		f.done = true
		obs[0].Features = append(obs[0].Features, 1)
	}
	return f.noopBatch.ExecBatch(ctx, ins, obs)
}

type firstSingle struct {
	noopSingle
	done bool
}

func (f *firstSingle) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if !f.done {
		f.done = true
		o.Features = append(o.Features, 1)
	}
	return f.noopSingle.Exec(ctx, in, o)
}
