package fuzztest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// Room of one batch. Pages that nobody writes take no memory.
const (
	slotRoom    = 1024
	featureRoom = 1 << 20
	operandRoom = 1 << 16
	messageRoom = 64 << 10
	stateRoom   = 1 << 12
	inputRoom   = 32 << 20
)

// memory is what we share with the test processes of one executor, one after another. It has no name in any file system,
// so that the kernel frees it when the last of them is gone.
type memory struct {
	*agent.Memory
	file  *os.File
	bytes []byte
	used  uint64 // bytes of inputs
}

// newMemory lays out a memory for a test with so many counters.
func newMemory(counters int) (*memory, error) {
	const page = agent.HeaderSize
	h := agent.Header{Magic: agent.Magic, Version: agent.Version, Counters: uint32(counters), Capacity: uint32((counters+agent.States+63)&^63 + 0),
		SlotCount: slotRoom, FeatureRoom: featureRoom, OperandRoom: operandRoom, MessageRoom: messageRoom, StatesRoom: stateRoom}
	at := uint64(page)
	area := func(n uint64) (from uint64) {
		from = at
		at = (at + n + page - 1) &^ (page - 1)
		return from
	}
	capacity := uint64(h.Capacity)
	h.Slots = area(slotRoom * uint64(unsafe.Sizeof(agent.Slot{})))
	h.Virgin, h.Bar, h.Shortest = area(capacity), area(capacity/4), area(2*agent.Buckets*capacity)
	h.Features, h.Operands = area(4*featureRoom), area(operandRoom*uint64(unsafe.Sizeof(agent.Operand{})))
	h.Watched, h.Message, h.StatesOffset, h.Inputs = area(agent.Sites/8), area(messageRoom), area(8*stateRoom), area(inputRoom)
	h.Size = at
	fd, err := unix.MemfdCreate("teasel", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making shared memory: %w", err)
	}
	m := &memory{file: os.NewFile(uintptr(fd), "teasel")}
	if err := m.file.Truncate(int64(at)); err != nil {
		return nil, errors.Join(fmt.Errorf("sizing shared memory: %w", err), m.file.Close())
	}
	if m.bytes, err = syscall.Mmap(fd, 0, int(at), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
		return nil, errors.Join(fmt.Errorf("mapping shared memory: %w", err), m.file.Close())
	}
	*(*agent.Header)(unsafe.Pointer(&m.bytes[0])) = h
	m.Memory = agent.Over(m.bytes)
	for i := range m.Virgin {
		m.Virgin[i] = 0xff
	}
	return m, nil
}

func (m *memory) close() error {
	return errors.Join(m.file.Close(), syscall.Munmap(m.bytes))
}

// clear begins a batch.
func (m *memory) clear() { m.Count, m.From, m.used = 0, 0, 0 }

// add puts an input into the batch. False: there is no room left for it.
func (m *memory) add(in []byte, ask uint32) bool {
	n := m.Count
	if n == m.SlotCount || uint64(len(in)) > uint64(len(m.Input))-m.used {
		return false
	}
	copy(m.Input[m.used:], in)
	m.Slot[n] = agent.Slot{Offset: m.Inputs + m.used, Length: uint32(len(in)), Ask: ask}
	m.used = min(m.used+uint64(len(in)+7)&^7, uint64(len(m.Input)))
	m.Count++
	return true
}

// watch has the next executions record the comparisons of these sites only, perhaps of a few more; none: all.
func (m *memory) watch(sites []uint32) {
	if m.Watching > 0 {
		clear(m.Watched)
	}
	m.Watching = uint32(len(sites))
	for _, s := range sites {
		k := s * 0x9e3779b1 >> 16
		m.Watched[k/8] |= 1 << (k % 8)
	}
}

// features returns what an execution has reached that was asked for, rising. It is a copy: the target could write there.
func (m *memory) features(s *agent.Slot) []uint32 {
	out := slices.Clone(part(m.Feature, s.FeatureFirst, s.FeatureCount))
	slices.Sort(out)
	return out
}

// operands returns what an execution compared, lent until the next batch.
func (m *memory) operands(s *agent.Slot) []agent.Operand {
	return part(m.Operand, s.OperandFirst, s.OperandCount)
}

// input returns the bytes of an input of the batch, lent until the next one.
func (m *memory) input(slot int) []byte {
	s := &m.Slot[slot]
	return part(m.Input, uint32(s.Offset-m.Inputs), s.Length)
}

// part does not trust its numbers, which come from the test process.
func part[E any](all []E, first, count uint32) []E {
	from := min(int(first), len(all))
	return all[from:min(from+int(count), len(all))]
}

// message returns what the test said of the input that failed.
func (m *memory) message() string {
	return string(m.Message[:min(int(m.MessageLength), len(m.Message))])
}

// learn notes that a feature is known from an input of that length.
func (m *memory) learn(f uint32, length uint16) {
	if int(f) >= len(m.Shortest) {
		return
	}
	counter, bit := f/agent.Buckets, uint8(1)<<(f%agent.Buckets)
	if m.Virgin[counter]&bit != 0 {
		m.Virgin[counter] &^= bit
		m.Shortest[f] = length
		m.Bar[counter/8] = max(m.Bar[counter/8], length)
		return
	}
	m.Shortest[f] = min(m.Shortest[f], length) // the bar may stay too high: that only costs time
}

// forget makes a feature new again.
func (m *memory) forget(f uint32) {
	if int(f) < len(m.Shortest) {
		m.Virgin[f/agent.Buckets] |= 1 << (f % agent.Buckets)
		m.Shortest[f] = 0
	}
}

// position changes with every input that begins to run.
func (m *memory) position() uint64 {
	return uint64(atomic.LoadUint32(&m.Round))<<32 | uint64(atomic.LoadUint32(&m.Current))
}
