package sancov

import (
	"context"
	"time"
)

// Mutation is a change that the harness's own mutator makes to an input.
type Mutation struct {
	Input     []byte
	Other     []byte // with CrossOver the second input; otherwise a token that LLVMFuzzerMutate may insert, nil: none
	CrossOver bool   // call LLVMFuzzerCustomCrossOver instead of LLVMFuzzerCustomMutator
	MaxLength int    // of the mutant, in bytes; Ask raises it to the length of Input
	Times     int    // calls of LLVMFuzzerCustomMutator
	Seed      uint32
}

// mutation is a Mutation in the shared memory.
type mutation struct {
	offset, with, output              uint64
	length, withLength                uint32
	maxLength, times, seed, crossOver uint32
}

// span is a part of the outputs in the memory.
type span struct{ at, maxLength int }

// Ask adds a mutation to the batch, which must consist of mutations only. It returns false if there is no room for it.
func (m *Memory) Ask(c Mutation) bool {
	maxLength := max(c.MaxLength, len(c.Input))
	if m.count == 0 {
		m.spans = m.spans[:0]
	}
	at := 0
	if n := len(m.spans); n > 0 {
		at = (m.spans[n-1].at + m.spans[n-1].maxLength + line - 1) &^ (line - 1)
	}
	if m.count == len(m.mutations) || len(c.Input)+len(c.Other)+2*line > len(m.inputs)-m.used || maxLength > len(m.outputs)-at {
		return false
	}
	x := mutation{length: uint32(len(c.Input)), withLength: uint32(len(c.Other)), output: m.c.outputs + uint64(at),
		maxLength: uint32(maxLength), times: uint32(c.Times), seed: c.Seed}
	x.offset, x.with = m.place(c.Input), m.place(c.Other)
	if c.CrossOver {
		x.crossOver = 1
	}
	m.mutations[m.count] = x
	m.spans = append(m.spans, span{at, maxLength})
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

// Mutated returns the mutant that the i-th mutation made, valid until the next batch, and false if it is longer than MaxLength.
func (m *Memory) Mutated(i int) ([]byte, bool) {
	o, n := m.spans[i], int(m.outcomes[i].length)
	if n > o.maxLength {
		return nil, false
	}
	return m.outputs[o.at:][:n], true
}

// Mutate makes the mutations of the batch in the target. The results are those of [Server.Run].
func (s *Server) Mutate(ctx context.Context, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandMutate, 0, limit)
}
