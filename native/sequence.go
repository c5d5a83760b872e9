package native

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate"
)

// sequenceMark begins an input that stands for several, which a program runs one after another in one process, for a fault may need what
// those before it have left behind. Of each there are its length in decimal, a line feed, and its bytes. The driver of a harness, in
// teasel_driver.c, reads this too.
const sequenceMark = "teasel: inputs of one process\n"

// sequenceOf returns an input that stands for several.
func sequenceOf(ins [][]byte) []byte {
	if len(ins) == 1 {
		return slices.Clone(ins[0])
	}
	out := []byte(sequenceMark)
	for _, in := range ins {
		out = append(strconv.AppendInt(out, int64(len(in)), 10), '\n')
		out = append(out, in...)
	}
	return out
}

// marked reports whether an input begins with the mark.
func marked(in []byte) bool {
	return len(in) > len(sequenceMark) && string(in[:len(sequenceMark)]) == sequenceMark
}

// sequence returns the inputs that one stands for; nil: it stands for itself.
func sequence(in []byte) (ins [][]byte) {
	if !marked(in) {
		return nil
	}
	for rest := in[len(sequenceMark):]; len(rest) > 0; {
		length, after, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.Atoi(string(length))
		if err != nil || n < 0 || n > len(after) {
			return nil
		}
		ins, rest = append(ins, after[:n:n]), after[n:]
	}
	return ins
}

// Several reports whether an input stands for several, one after another in one process. By hand a harness runs them so, and no other program.
func Several(in []byte) bool { return len(sequence(in)) > 1 }

// mutator is a [mutate.Bytes] that knows inputs which stand for several.
type mutator struct{ *mutate.Bytes }

var (
	_ teasel.Joiner[[]byte]     = mutator{}
	_ teasel.Simplifier[[]byte] = mutator{}
)

// NewMutator returns a mutator for programs. What it joins stands for several inputs, which a [Target] runs in one process. It uses m.
func NewMutator(m *mutate.Bytes) teasel.Mutator[[]byte] { return mutator{m} }

// Join implements [teasel.Joiner].
func (mutator) Join(ins [][]byte) []byte { return sequenceOf(ins) }

// Parts implements [teasel.Joiner].
func (mutator) Parts(in []byte) int { return max(len(sequence(in)), 1) }

// Keep implements [teasel.Joiner].
func (mutator) Keep(in []byte, parts []int) []byte {
	ins := sequence(in)
	if ins == nil {
		return slices.Clone(in)
	}
	kept := make([][]byte, len(parts))
	for i, p := range parts {
		kept[i] = ins[p]
	}
	return sequenceOf(kept)
}

// Simplify makes one of several inputs simpler, the last first.
func (m mutator) Simplify(k uint64, dst, src []byte) ([]byte, bool) {
	ins := sequence(src)
	if ins == nil {
		return m.Bytes.Simplify(k, dst, src)
	}
	for i, in := range slices.Backward(ins) {
		if n := m.Candidates(len(in)); k >= n {
			k -= n
			continue
		}
		simpler, ok := m.Bytes.Simplify(k, nil, in)
		ins[i] = simpler
		return sequenceOf(ins), ok
	}
	return dst[:0], false
}

// history is what a process has run, which a fault may need.
type history struct {
	bytes []byte
	ends  []int // of each input
}

// What is remembered at least, if it was run, and at most. It is long enough for what the engine puts in front of an input.
const (
	historyInputs = 1 << 15
	historyBytes  = 1 << 20
)

// ran adds inputs.
func (h *history) ran(ins [][]byte) {
	all, ends := h.bytes, h.ends
	for _, in := range ins {
		if len(ends) >= 2*historyInputs || len(all) >= 2*historyBytes {
			h.bytes, h.ends = all, ends
			h.forget()
			all, ends = h.bytes, h.ends
		}
		all = append(all, in...)
		ends = append(ends, len(all))
	}
	h.bytes, h.ends = all, ends
}

// forget removes the older half, so that each input is moved once.
func (h *history) forget() {
	from := (len(h.ends) + 1) / 2
	for from < len(h.ends) && len(h.bytes)-h.ends[from-1] > historyBytes {
		from++
	}
	at := h.ends[from-1]
	h.bytes = append(h.bytes[:0], h.bytes[at:]...)
	h.ends = append(h.ends[:0], h.ends[from:]...)
	for i := range h.ends {
		h.ends[i] -= at
	}
}

func (h *history) clear() { h.bytes, h.ends = h.bytes[:0], h.ends[:0] }

// inputs returns copies of the inputs, oldest first.
func (h *history) inputs() (ins [][]byte) {
	all, at := slices.Clone(h.bytes), 0
	ins = make([][]byte, len(h.ends))
	for i, end := range h.ends {
		ins[i], at = all[at:end:end], end
	}
	return ins
}

// remember adds what the main process has run.
func (e *executor) remember(s *sancov.Server, ins [][]byte) {
	if s == e.main && s.Hello.Flags&(sancov.Harness|sancov.Loops) != 0 { // any other runs each input in a process of its own
		e.ran.ran(ins)
	}
}

// buried notes that the process has died of the input which it ran last.
func (e *executor) buried(o *teasel.Observation, s *sancov.Server) {
	if s == e.main {
		e.dead, e.ran = e.ran, e.dead
		e.ran.clear()
		e.death, _ = o.Evidence.(*Crash)
	}
}

// History implements [teasel.Historian], for an input of which the process has died.
func (e *executor) History(o *teasel.Observation) [][]byte {
	if c, _ := o.Evidence.(*Crash); c == nil || c != e.death {
		return nil
	}
	ins := e.dead.inputs()
	return ins[max(0, len(ins)-historyInputs):]
}

// sequence runs inputs one after another in one process, up to the first that ends in a fault. The observation is of the last that ran.
func (e *executor) sequence(ctx context.Context, ins [][]byte, o *teasel.Observation, limit time.Duration) error {
	ask, runs := o.Ask, uint32(0)
	for at := 0; at < len(ins); {
		obs := make([]teasel.Observation, min(e.BatchSize(), len(ins)-at))
		for i := range obs {
			obs[i].Ask, obs[i].Runs = ask, 1
		}
		n, err := e.batch(ctx, ins[at:at+len(obs)], obs, limit)
		if err != nil {
			return err
		}
		for i := range obs[:n] {
			runs += obs[i].Runs
		}
		at += n
		*o = obs[n-1]
		if c, ok := o.Evidence.(*Crash); ok {
			c.Before = at - 1
			break
		}
	}
	o.Runs = runs
	return nil
}
