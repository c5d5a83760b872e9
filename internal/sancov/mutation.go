package sancov

import (
	"context"
	"time"
)

// Mutation is a change of an input that a harness's own mutator is to make.
type Mutation struct {
	Input []byte
	With  []byte // the other input of a crossing; else a token that may be put into it
	Cross bool
	Most  int // bytes of what becomes of it, at least those of Input
	Times int // that it is changed, if it is not crossed
	Seed  uint32
}

// mutation is how the target sees it.
type mutation struct {
	offset, with, output       uint64
	length, withLength         uint32
	most, times, seed, crosses uint32
}

// span is a part of the memory's outputs.
type span struct{ at, most int }

// Ask puts a mutation into the batch, which has mutations alone. False: there is no room left for it.
func (m *Memory) Ask(c Mutation) bool {
	most := max(c.Most, len(c.Input))
	if m.count == 0 {
		m.spans = m.spans[:0]
	}
	at := 0
	if n := len(m.spans); n > 0 {
		at = (m.spans[n-1].at + m.spans[n-1].most + line - 1) &^ (line - 1)
	}
	if m.count == len(m.mutations) || len(c.Input)+len(c.With)+2*line > len(m.inputs)-m.used || most > len(m.outputs)-at {
		return false
	}
	x := mutation{length: uint32(len(c.Input)), withLength: uint32(len(c.With)), output: m.c.outputs + uint64(at),
		most: uint32(most), times: uint32(c.Times), seed: c.Seed}
	x.offset, x.with = m.place(c.Input), m.place(c.With)
	if c.Cross {
		x.crosses = 1
	}
	m.mutations[m.count] = x
	m.spans = append(m.spans, span{at, most})
	m.count++
	return true
}

// place puts bytes among the inputs and returns their offset in the memory.
func (m *Memory) place(b []byte) uint64 {
	at := m.used
	copy(m.inputs[at:], b)
	m.used += (len(b) + line - 1) &^ (line - 1)
	return m.c.inputs + uint64(at)
}

// Mutated returns what became of the i-th mutation, lent until the next batch; false: it is longer than it may be.
func (m *Memory) Mutated(i int) ([]byte, bool) {
	o, n := m.spans[i], int(m.outcomes[i].length)
	if n > o.most {
		return nil, false
	}
	return m.outputs[o.at:][:n], true
}

// Mutate has the target make the mutations of the batch. What it returns is as of [Server.Run].
func (s *Server) Mutate(ctx context.Context, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandMutate, 0, limit)
}
