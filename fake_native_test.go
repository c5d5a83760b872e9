package teasel_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A native program in small: a batch of inputs a round trip, and novelty judged where the counters are. It parses
// magic (8), checksum (8, over the rest), kind (1) and dies when the kind is right. A checksum stands between the
// fuzzer and everything after it.

const (
	fakeMagic = 0x7465617365_6c2131
	fakeKind  = 0xe7
)

type nativeTarget struct{ simpler bool }

type nativeExecutor struct {
	simpler bool
	shorted map[teasel.Feature]float64 // the shared map of a real one: the shortest input that reached it
}

var (
	_ teasel.BatchExecutor[[]byte] = (*nativeExecutor)(nil)
	_ teasel.Learner               = (*nativeExecutor)(nil)
)

func (t nativeTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return &nativeExecutor{simpler: t.simpler, shorted: map[teasel.Feature]float64{}}, nil
}

func (e *nativeExecutor) Close() error   { return nil }
func (e *nativeExecutor) BatchSize() int { return 64 }

func (e *nativeExecutor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := e.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
		if obs[i].Exit == teasel.ExitCrash { // the culprit is known, the rest was not run
			return i + 1, nil
		}
	}
	return len(ins), nil
}

func (e *nativeExecutor) Learn(fs []teasel.Feature, c float64) {
	for _, f := range fs {
		if old, ok := e.shorted[f]; !ok || c < old {
			e.shorted[f] = c
		}
	}
}

func (e *nativeExecutor) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	var trace []teasel.Feature
	o.Exit = teasel.ExitOK
	hit := func(f teasel.Feature) { trace = append(trace, f) }
	compare := func(site uint32, a, b uint64, c bool) bool {
		if a != b && o.Ask.Operands {
			o.Operands = append(o.Operands, teasel.Operand{Site: site, Size: 8, Const: c, A: a, B: b})
		}
		return a == b
	}
	hit(1)
	if len(in) >= 17 {
		hit(2)
		if compare(1, fakeMagic, binary.LittleEndian.Uint64(in), true) {
			hit(3)
			if compare(2, checksum(in[16:]), binary.LittleEndian.Uint64(in[8:]), false) {
				hit(4)
				for i := range 8 {
					if in[16]>>i&1 == fakeKind>>i&1 {
						hit(teasel.Feature(10 + i))
					}
				}
				if in[16] == fakeKind {
					o.Exit, o.Detail = teasel.ExitCrash, "right kind"
				}
			}
		}
	}
	for _, f := range trace {
		old, known := e.shorted[f]
		if news := !known || e.simpler && float64(len(in)) < old; news || o.Ask.Features {
			o.Features = append(o.Features, f)
		}
		if !known || float64(len(in)) < old {
			e.shorted[f] = float64(len(in))
		}
		o.Trace = (o.Trace ^ uint64(f)) * 0x100000001b3
	}
	return nil
}

func checksum(p []byte) (sum uint64) {
	for _, c := range p {
		sum = sum*0x100000001b3 ^ uint64(c)
	}
	return sum + 0x5bd1e995
}

type byteMutator struct{}

var _ teasel.Repairer[[]byte] = byteMutator{}

func (byteMutator) Generate(r *teasel.Rand) []byte { return make([]byte, 1+r.IntN(8)) }
func (byteMutator) Complexity(in []byte) float64   { return float64(len(in)) }

func (byteMutator) Mutate(r *teasel.Rand, dst, src []byte) []byte {
	out := append(dst[:0], src...)
	for range 1 + r.IntN(3) {
		switch n := r.IntN(4); {
		case n == 0 || len(out) == 0:
			out = append(out, byte(r.Uint32()))
		case n == 1 && len(out) > 1:
			i := r.IntN(len(out))
			out = append(out[:i], out[i+1:]...)
		default:
			out[r.IntN(len(out))] = byte(r.Uint32())
		}
	}
	return out
}

// Simplify removes halves, quarters and so on, down to single bytes.
func (byteMutator) Simplify(k uint64, dst, src []byte) ([]byte, bool) {
	at, n := int(k), len(src)
	for size := n / 2; size > 0; size /= 2 {
		if blocks := (n + size - 1) / size; at >= blocks {
			at -= blocks
			continue
		}
		return append(append(dst[:0], src[:at*size]...), src[min(n, (at+1)*size):]...), true
	}
	return dst, false
}

// Repair writes the operand that is not in the input over the one that is. A wanted value comes first.
func (byteMutator) Repair(dst, src []byte, ops []teasel.Operand) ([]byte, bool) {
	out, changed := append(dst[:0], src...), false
	for _, op := range ops {
		found := binary.LittleEndian.AppendUint64(nil, op.B)
		for i := 0; i+8 <= len(out); i++ {
			if slices.Equal(out[i:i+8], found) {
				binary.LittleEndian.PutUint64(out[i:], op.A)
				changed = true
				break
			}
		}
	}
	return out, changed
}

// mend runs mutants once more with what they compared mended: input to state, and checksums kept right.
type mend struct{ n int }

func (mend) Name() string { return "mend" }

func (m mend) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	for range m.n {
		s := w.Slot()
		*s = w.Mutator().Mutate(w.Rand(), *s, tc.Input)
		in := slices.Clone(*s)
		if err := w.Commit(ctx); err != nil {
			return err
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
		for range 3 {
			obs, err := w.Probe(ctx, [][]byte{in}, teasel.Ask{Operands: true})
			if err != nil {
				return err
			}
			mended, ok := byteMutator{}.Repair(nil, in, obs[0].Operands)
			if !ok {
				break
			}
			in = mended
		}
	}
	return nil
}

func nativeCampaign(workers int) *teasel.Campaign[[]byte] {
	return &teasel.Campaign[[]byte]{Target: nativeTarget{simpler: true}, Mutator: byteMutator{}, Codec: raw{},
		Seeds: [][]byte{make([]byte, 40)}, Stages: []teasel.Stage[[]byte]{mend{64}, teasel.Havoc[[]byte]{}},
		Workers: workers, Calibrate: 2, StopAfter: 1, Runs: 2_000_000, Seed: 1}
}

func TestNativeFake(t *testing.T) {
	for _, workers := range []int{1, 2} {
		s, err := nativeCampaign(workers).Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 {
			t.Fatalf("%d workers: %d findings after %d executions, want the one behind magic and checksum", workers, len(s.Findings), s.Executions)
		}
		f := s.Findings[0]
		if !f.Confirmed() {
			t.Errorf("%d workers: shown %d of %d times", workers, f.Stable, f.Tries)
		}
		// Every removal of a byte breaks the checksum: only a minimiser that mends it gets down to these 17.
		if len(f.Input) != 17 {
			t.Errorf("%d workers: minimum has %d bytes, want 17", workers, len(f.Input))
		}
	}
}

// A judging executor that only tells of new features would let the pool keep the first, long input of each for ever.
func TestSimplerInputReplaces(t *testing.T) {
	for _, simpler := range []bool{true, false} {
		c := nativeCampaign(1)
		c.Target, c.TrimRuns, c.StopAfter, c.Runs = nativeTarget{simpler: simpler}, -1, 0, 40_000
		c.Stages = []teasel.Stage[[]byte]{teasel.Havoc[[]byte]{}}
		var last []teasel.Entry
		c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			switch e.Kind {
			case teasel.EventAdded:
				last = append(last, e.Entry)
			case teasel.EventEvicted:
				last = slices.DeleteFunc(last, func(x teasel.Entry) bool { return x.Key == e.Entry.Key })
			}
			return nil
		})}
		if _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		shortest := 1 << 20
		for _, e := range last {
			if e.Features.Contains(2) {
				shortest = min(shortest, len(e.Data))
			}
		}
		if simpler != (shortest == 17) {
			t.Errorf("executor tells of simpler inputs: %v: shortest input with 17 bytes or more has %d", simpler, shortest)
		}
	}
}

// Trimming belongs to admission, so what another worker imports is as short as what it finds itself.
func TestImportsAreTrimmed(t *testing.T) {
	h := &teasel.Hub{StopAfter: 0}
	c := nativeCampaign(1)
	c.Runs, c.StopAfter = 3000, 0
	h.Seed(make([]byte, 400))
	if err := c.Work(context.Background(), h.Join(), 0); err != nil {
		t.Fatal(err)
	}
	got, err := h.Join().Sync(context.Background(), teasel.News{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Entries) == 0 {
		t.Fatal("nothing was published")
	}
	for _, e := range got.Entries {
		if len(e.Data) > 17 && !e.Features.Contains(4) { // what is under the checksum cannot be cut
			t.Errorf("an entry of %d bytes was published, features %v", len(e.Data), e.Features)
		}
	}
}

// lengthTarget shows what is new for every length, and always the same trace.
type lengthTarget struct{}

func (t lengthTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (lengthTarget) Close() error { return nil }

func (lengthTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Trace, o.Features = teasel.ExitOK, 1, append(o.Features, teasel.Feature(1+len(in)))
	return nil
}

// What trimming tries on its way is not calibrated and trimmed in turn, or a seed would cost as many times the budget as
// it has shorter neighbours.
func TestTrimmingKeepsNoCandidates(t *testing.T) {
	c := nativeCampaign(1)
	c.Target, c.Seeds, c.TrimRuns, c.Runs, c.StopAfter = lengthTarget{}, [][]byte{make([]byte, 400)}, 100, 5000, 0
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Stages {
		if st.Name == "seeds" && (st.Kept != 1 || st.Executions > 110) {
			t.Errorf("one seed made %d executions and %d testcases", st.Executions, st.Kept)
		}
	}
	if s.Corpus < 5 {
		t.Errorf("only %d testcases: the target did not show its lengths", s.Corpus)
	}
}

// toiling does a tenth of a second's work for each input, and something else for each length.
type workTarget struct{ trimmed *int }

func (t workTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (workTarget) Close() error { return nil }

func (t workTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit, o.Trace, o.Features = teasel.ExitOK, uint64(1+len(in)), append(o.Features, 1); o.Ask.Trace {
		o.Work = 1 << 26
	}
	if o.Ask.Quiet {
		*t.trimmed++
	}
	return nil
}

// A seed that is slow is trimmed a little, and the campaign goes on.
func TestSlowSeedIsTrimmedLittle(t *testing.T) {
	trimmed := 0
	c := nativeCampaign(1)
	c.Target, c.Seeds, c.Runs, c.StopAfter = workTarget{&trimmed}, [][]byte{make([]byte, 400)}, 2000, 0
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if trimmed < 4 || trimmed > 20 {
		t.Errorf("%d executions to trim a seed", trimmed)
	}
}

type reportFunc func(teasel.Event) error

func (f reportFunc) Report(e teasel.Event) error { return f(e) }
