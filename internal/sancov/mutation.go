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
	offset, with               uint64
	length, withLength         uint32
	most, times, seed, crosses uint32
}

// span is a part of the memory's inputs.
type span struct{ at, most int }

// Ask puts a mutation into the batch, which has mutations alone. False: there is no room left for it.
func (m *Memory) Ask(c Mutation) bool {
	n, most := int(m.h.count), max(c.Most, len(c.Input))
	if n == len(m.changes) || most+len(c.With)+2*line > len(m.inputs)-m.used {
		return false
	}
	if n == 0 {
		m.outputs = m.outputs[:0]
	}
	place := func(b []byte, room int) (at int) {
		at = m.used
		copy(m.inputs[at:], b)
		m.used += (room + line - 1) &^ (line - 1)
		return at
	}
	at := place(c.Input, most)
	x := mutation{offset: m.h.inputs + uint64(at), length: uint32(len(c.Input)), withLength: uint32(len(c.With)),
		most: uint32(most), times: uint32(c.Times), seed: c.Seed}
	x.with = m.h.inputs + uint64(place(c.With, len(c.With)))
	if c.Cross {
		x.crosses = 1
	}
	m.changes[n] = x
	m.outputs = append(m.outputs, span{at, most})
	m.h.count++
	return true
}

// Mutated returns what became of the i-th mutation, lent until the next batch; false: it is longer than it may be.
func (m *Memory) Mutated(i int) ([]byte, bool) {
	o, n := m.outputs[i], int(m.changes[i].length)
	if n > o.most {
		return nil, false
	}
	return m.inputs[o.at:][:n], true
}

// Mutate has the target make the mutations of the batch. What it returns is as of [Server.Run].
func (s *Server) Mutate(ctx context.Context, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandMutate, 0, limit)
}
