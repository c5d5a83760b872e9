package sancov

import (
	"bytes"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Limits says how much room there is in a memory.
type Limits struct {
	Slots    int    // inputs of a batch
	Inputs   int    // bytes of all inputs of a batch
	Operands int    // records of a batch
	Malloc   uint64 // bytes of one allocation that is reported as out of memory; 0: none is
}

// Memory is what teasel and its targets share: one file that the target may only read and one that it writes. Neither has
// a name in any file system, so the kernel frees it when the last process that has it is gone, however that ends. Several
// targets of one shape may share a memory, as long as one runs at a time.
//
// Nothing is believed of what the target writes. All counts and places are kept here, as is a copy of what is known of
// features, which follows from what the target has reported and with which its own is compared after every batch.
type Memory struct {
	limits Limits
	files  [2]*os.File // control, results
	maps   [2][]byte
	shape  Hello

	c         *control
	slots     []slot
	watched   []byte
	mutations []mutation
	inputs    []byte

	r        *results
	outcomes []Outcome
	theirs   knowledge // the target's
	ours     knowledge
	features []uint32
	operands []Operand
	outputs  []byte

	fresh []uint32 // features that were new in the batch under audit
	count int      // inputs of the batch
	used  int      // bytes of them
	spans []span
}

// knowledge is what is known of features: see runtime/counters.h.
type knowledge struct {
	virgin   []byte
	maxLen   []uint16
	shortest []uint16
}

// NewMemory makes a memory that gets its size when the first target has said how many counters it has.
func NewMemory(l Limits) (*Memory, error) {
	m := &Memory{limits: l}
	for i, name := range [...]string{"control", "results"} {
		fd, err := unix.MemfdCreate("teasel-"+name, unix.MFD_CLOEXEC)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("making shared memory: %w", err), m.Close())
		}
		m.files[i] = os.NewFile(uintptr(fd), name)
	}
	return m, nil
}

// errShape is what lay returns when a second target does not fit the first.
var errShape = errors.New("its counters are not those of the other build")

// area lays out one memory.
type area struct{ size uint64 }

func (a *area) take(n uint64) (from uint64) {
	from = a.size
	a.size = (a.size + n + pageSize - 1) &^ (pageSize - 1)
	return from
}

// lay makes the layout for the first target, and checks that further ones fit it.
func (m *Memory) lay(h Hello) error {
	if m.c != nil {
		if h.Counters != m.shape.Counters || h.Shape != m.shape.Shape || h.Modules != m.shape.Modules {
			return errShape
		}
		return nil
	}
	if h.Counters > 1<<26 {
		return fmt.Errorf("%d counters are more than there is room for", h.Counters)
	}
	slack := h.Counters/4 + 1<<14 // for libraries that are loaded later
	capacity := uint64(h.Counters+slack+line-1) &^ (line - 1)
	slots, operands := uint64(m.limits.Slots), uint64(m.limits.Operands)
	x := control{mallocLimit: m.limits.Malloc, capacity: uint32(capacity), slotCount: uint32(slots),
		featureCount: uint32(featureRoom(capacity, m.limits.Slots)), operandCount: uint32(operands)}
	var nonce [8]byte
	crand.Read(nonce[:]) // never fails
	x.nonce = binary.NativeEndian.Uint64(nonce[:])
	in, out := area{pageSize}, area{pageSize}
	x.slots = in.take(slots * uint64(unsafe.Sizeof(slot{})))
	x.watched = in.take(siteCount / 8)
	x.mutations = in.take(slots * uint64(unsafe.Sizeof(mutation{})))
	x.inputs = in.take(uint64(m.limits.Inputs))
	x.outcomes = out.take(slots * uint64(unsafe.Sizeof(Outcome{})))
	x.virgin = out.take(capacity)
	x.maxLen = out.take(capacity / 4)
	x.shortest = out.take(capacity * 16)
	x.features = out.take(uint64(x.featureCount) * 4)
	x.operands = out.take(operands * uint64(unsafe.Sizeof(Operand{})))
	x.outputs = out.take(uint64(m.limits.Inputs))
	x.controlSize, x.resultsSize = in.size, out.size
	for i, size := range [...]uint64{in.size, out.size} {
		if err := m.files[i].Truncate(int64(size)); err != nil {
			return fmt.Errorf("sizing shared memory: %w", err)
		}
		b, err := syscall.Mmap(int(m.files[i].Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("mapping shared memory: %w", err)
		}
		m.maps[i] = b
	}
	m.shape = h
	c, r := m.maps[0], m.maps[1]
	m.c = (*control)(unsafe.Pointer(&c[0]))
	*m.c = x
	m.slots = view[slot](c, x.slots, slots)
	m.watched = view[byte](c, x.watched, siteCount/8)
	m.mutations = view[mutation](c, x.mutations, slots)
	m.inputs = view[byte](c, x.inputs, uint64(m.limits.Inputs))
	m.r = (*results)(unsafe.Pointer(&r[0]))
	m.outcomes = view[Outcome](r, x.outcomes, slots)
	m.theirs = knowledge{view[byte](r, x.virgin, capacity), view[uint16](r, x.maxLen, capacity/8), view[uint16](r, x.shortest, capacity*8)}
	m.ours = knowledge{make([]byte, capacity), make([]uint16, capacity/8), make([]uint16, capacity*8)}
	m.features = view[uint32](r, x.features, uint64(x.featureCount))
	m.operands = view[Operand](r, x.operands, operands)
	m.outputs = view[byte](r, x.outputs, uint64(m.limits.Inputs))
	for i := range m.ours.virgin {
		m.ours.virgin[i] = 0xff
	}
	copy(m.theirs.virgin, m.ours.virgin)
	return nil
}

// view is a part of a memory as entries.
func view[E any](b []byte, from, n uint64) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(&b[from])), n)
}

// mostFeatures bounds the table of features, of a program with millions of counters.
const mostFeatures = 1 << 26

// featureRoom returns how many features a batch may have: each input may have asked for all of its own, one of each counter
// at most. Of that the kernel gives memory only to what is written.
func featureRoom(capacity uint64, slots int) uint64 {
	return min(max(2*capacity+1<<16, uint64(slots)*capacity), mostFeatures)
}

// offer leaves the addresses of calls to be switched off where the inputs will be.
func (m *Memory) offer(hooks []uint64) {
	room := unsafe.Slice((*uint64)(unsafe.Pointer(&m.inputs[0])), len(m.inputs)/8)
	m.c.count = uint32(copy(room, hooks))
	m.r.unhooked = 0
}

// Close gives the memory back.
func (m *Memory) Close() (err error) {
	for i := range m.files {
		if m.files[i] != nil {
			err = errors.Join(err, m.files[i].Close())
		}
		if m.maps[i] != nil {
			err = errors.Join(err, syscall.Munmap(m.maps[i]))
		}
		m.files[i], m.maps[i] = nil, nil
	}
	return err
}

// Clear begins a new batch.
func (m *Memory) Clear() { m.count, m.used = 0, 0 }

// Add puts an input into the batch. False: there is no room left for it.
func (m *Memory) Add(in []byte, ask uint32) bool {
	if m.count == len(m.slots) || len(in) > len(m.inputs)-m.used {
		return false
	}
	copy(m.inputs[m.used:], in)
	m.slots[m.count] = slot{offset: m.c.inputs + uint64(m.used), length: uint32(len(in)), ask: ask}
	m.used = min((m.used+len(in)+15)&^15, len(m.inputs))
	m.count++
	return true
}

// Watch has the next runs record these comparisons only, perhaps a few more; none: all.
func (m *Memory) Watch(sites []uint32) {
	if m.c.watch > 0 {
		clear(m.watched)
	}
	m.c.watch = uint32(len(sites))
	for _, s := range sites {
		k := s * 0x9e3779b1 >> 16
		m.watched[k/8] |= 1 << (k % 8)
	}
}

// Outcome returns what came of the i-th input of the batch.
func (m *Memory) Outcome(i int) *Outcome { return &m.outcomes[i] }

// Features returns what a run has reached: numbers of counters times 8 plus the bucket. They are lent until the next batch.
func (m *Memory) Features(o *Outcome) []uint32 {
	return part(m.features, o.featureFirst, o.featureCount)
}

// Operands returns what was compared in a run, lent until the next batch.
func (m *Memory) Operands(o *Outcome) []Operand {
	return part(m.operands, o.operandFirst, o.operandCount)
}

// part does not trust its numbers: they come from the target.
func part[E any](all []E, first, count uint32) []E {
	from := min(int(first), len(all))
	return all[from:min(from+int(count), len(all))]
}

// Learn notes that a feature is known from an input of that length.
func (m *Memory) Learn(f uint32, length int) {
	if int(f) >= len(m.ours.shortest) {
		return
	}
	n := uint16(min(length, 1<<16-1))
	m.ours.learn(f, n)
	m.theirs.learn(f, n)
}

func (k *knowledge) learn(f uint32, n uint16) {
	if bit := byte(1) << (f % 8); k.virgin[f/8]&bit != 0 {
		k.virgin[f/8] &^= bit
		k.shortest[f] = n
		k.maxLen[f/64] = max(k.maxLen[f/64], n)
	} else {
		k.shortest[f] = min(k.shortest[f], n) // maxLen may stay too high: that only costs time
	}
}

// Forget makes a feature new again.
func (m *Memory) Forget(f uint32) {
	if int(f) < len(m.ours.shortest) {
		for _, k := range [...]*knowledge{&m.ours, &m.theirs} {
			k.virgin[f/8] |= 1 << (f % 8)
			k.shortest[f] = 0
		}
	}
}

// audit takes in what the inputs of a batch have reported as known from now on, and reports whether the target has written
// over its memory: its map of new features differs from what follows from its reports. Then the maps are put right, and
// nothing that the batch has reported is to be believed. A child that dies while it reports a feature leaves one that it has
// not told.
func (m *Memory) audit(from, n int, died bool) (damaged bool) {
	m.fresh = m.fresh[:0]
	for i := from; i < n && !damaged; i++ {
		if s := m.slots[i]; s.ask&AskQuiet == 0 && m.outcomes[i].Refused == 0 {
			damaged = !m.believe(m.Features(&m.outcomes[i]), uint16(min(s.length, 1<<16-1)))
		}
	}
	if !damaged && bytes.Equal(m.theirs.virgin, m.ours.virgin) {
		return false
	}
	damaged = damaged || !died || m.differing() > 1
	for _, f := range m.fresh {
		if damaged {
			m.Forget(f)
		}
	}
	copy(m.theirs.virgin, m.ours.virgin)
	copy(m.theirs.shortest, m.ours.shortest)
	copy(m.theirs.maxLen, m.ours.maxLen)
	return damaged
}

// believe notes the features of a run, as long as each of them has become known in the target's map as well.
func (m *Memory) believe(fs []uint32, length uint16) bool {
	for _, f := range fs {
		bit := byte(1) << (f % 8)
		if int(f) >= len(m.ours.shortest) || m.theirs.virgin[f/8]&bit != 0 {
			return false
		}
		if m.ours.virgin[f/8]&bit != 0 {
			m.fresh = append(m.fresh, f)
		}
		m.ours.learn(f, length)
	}
	return true
}

// differing counts the features that only one side takes for new.
func (m *Memory) differing() (n int) {
	for i, b := range m.ours.virgin {
		n += bits.OnesCount8(b ^ m.theirs.virgin[i])
	}
	return n
}

// Counters returns how many counters there are, those of padding included.
func (m *Memory) Counters() int { return int(m.shape.Counters) }

// position says which input runs: it grows with each of a batch.
func (m *Memory) position() uint64 {
	return uint64(atomic.LoadUint32(&m.c.round))<<32 | uint64(atomic.LoadUint32(&m.r.cur))
}
