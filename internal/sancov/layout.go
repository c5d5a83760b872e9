package sancov

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These are the constants of runtime/layout.h.
const (
	version    = 6
	magic      = 0x6c65736165740a01
	line       = 64
	maxFrames  = 64
	maxSamples = 5
	maxText    = 32
	siteCount  = 1 << 16
	headerSize = 4096
	fdCount    = 6
	askSample  = syscall.Signal(50)
	lastSample = syscall.Signal(51)
	sampleOver = 1 << 30
)

// Texts is how many counters, the first ones, are of comparisons of texts and of no edge.
const Texts = 64 * line

// What is asked of a run.
const (
	AskFeatures = 1 << iota // all features, not only news
	AskTrace                // the hash and the work
	AskOperands
	AskQuiet // leave the maps of what is known as they are
)

const (
	commandRun    = 1
	commandRenew  = 2
	commandMutate = 3
	statusDone    = 1
	statusDead    = 2
	statusRenewed = 3
)

// What a target is, in [Hello.Flags].
const (
	Harness = 1 << iota
	ASan
	MSan
	UBSan
	Mutator // it can change an input by itself
	Crosser // and make one of two
	TSan
)

// What an operand is.
const (
	OperandEqual = 1 << iota
	OperandConst
	OperandText
	OperandSwitch
)

// Hello is what a target says of itself when it starts.
type Hello struct {
	magic    uint64
	version  uint32
	Counters uint32
	Modules  uint32
	Flags    uint32
	PID      uint32 // of the process that forks
	Edges    uint32 // counters without the gaps between modules
	Shape    uint64 // of its counters: two builds with the same shape and number may share a memory
}

type header struct {
	magic, size                      uint64
	capacity, slotCount              uint32
	featureCount, operandCount       uint32
	slots, virgin, bar, shortest     uint64
	features, operands               uint64
	watched, mutations, inputs       uint64
	from, count, mostRuns, watching  uint32
	round, cur                       uint32
	pid                              int32
	status                           uint32
	featuresUsed, operandsUsed       uint32
	late, unhooked, samples, looking uint32
	asked                            uint64
	signal, code, access, frameCount uint32
	address, pc, sp                  uint64
	frames                           [maxFrames]uint64
}

// Slot is one input of a batch and what came of it. The target writes what comes after Ask, so it may be anything.
type Slot struct {
	offset       uint64
	length       uint32
	Ask          uint32
	featureFirst uint32
	featureCount uint32
	operandFirst uint32
	operandCount uint32
	Trace        uint64
	Work         uint64
	CPU          uint64 // nanoseconds, if the trace was asked for
	Status       uint32 // of a forked program, as wait gives it
	Refused      uint32
}

// FeatureCount is how many features the slot has.
func (s *Slot) FeatureCount() int { return int(s.featureCount) }

// Operand is one comparison.
type Operand struct {
	Site    uint32
	Flags   uint8
	Size    uint8
	ALength uint8
	BLength uint8
	A, B    [maxText]byte
}

// Number returns the operands as numbers.
func (o *Operand) Number() (a, b uint64) {
	return *(*uint64)(unsafe.Pointer(&o.A)), *(*uint64)(unsafe.Pointer(&o.B))
}

// Text returns the operands as text.
func (o *Operand) Text() (a, b []byte) {
	return o.A[:min(o.ALength, maxText)], o.B[:min(o.BLength, maxText)]
}

// Limits says how much room there is in a memory.
type Limits struct {
	Slots    int // inputs of a batch
	Inputs   int // bytes of all inputs of a batch
	Operands int // records of a batch
}

// Memory is what teasel and its targets share. It has no name in any file system, so the kernel frees it when the last
// of them is gone, however it goes. Several targets of one shape may share a memory, as long as one runs at a time.
type Memory struct {
	limits Limits
	file   *os.File
	bytes  []byte
	shape  Hello

	h        *header
	slots    []Slot
	virgin   []byte
	bar      []uint16
	shortest []uint16
	features []uint32
	operands []Operand
	watched  []byte
	changes  []mutation
	inputs   []byte
	used     int
	outputs  []span // of the mutations
}

// NewMemory makes a memory that gets its size when the first target has said how many counters it has.
func NewMemory(l Limits) (*Memory, error) {
	fd, err := unix.MemfdCreate("teasel", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making shared memory: %w", err)
	}
	return &Memory{limits: l, file: os.NewFile(uintptr(fd), "teasel")}, nil
}

// errShape is what lay returns when a second target does not fit the first.
var errShape = errors.New("its counters are not those of the other build")

// lay makes the layout for the first target, and checks that further ones fit it.
func (m *Memory) lay(h Hello) error {
	if m.h != nil {
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
	at := uint64(headerSize)
	area := func(n uint64) (from uint64) {
		from = at
		at = (at + n + headerSize - 1) &^ (headerSize - 1)
		return from
	}
	x := header{magic: magic, capacity: uint32(capacity), slotCount: uint32(m.limits.Slots),
		featureCount: uint32(featureRoom(capacity, m.limits.Slots)), operandCount: uint32(m.limits.Operands)}
	x.slots = area(uint64(m.limits.Slots) * uint64(unsafe.Sizeof(Slot{})))
	x.virgin = area(capacity)
	x.bar = area(capacity / 4)
	x.shortest = area(capacity * 16)
	x.features = area(uint64(x.featureCount) * 4)
	x.operands = area(uint64(m.limits.Operands) * uint64(unsafe.Sizeof(Operand{})))
	x.watched = area(siteCount / 8)
	x.mutations = area(uint64(m.limits.Slots) * uint64(unsafe.Sizeof(mutation{})))
	x.inputs = area(uint64(m.limits.Inputs))
	x.size = at
	if err := m.file.Truncate(int64(at)); err != nil {
		return fmt.Errorf("sizing shared memory: %w", err)
	}
	b, err := syscall.Mmap(int(m.file.Fd()), 0, int(at), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping shared memory: %w", err)
	}
	m.bytes, m.shape = b, h
	m.h = (*header)(unsafe.Pointer(&b[0]))
	*m.h = x
	m.slots = unsafe.Slice((*Slot)(unsafe.Pointer(&b[x.slots])), m.limits.Slots)
	m.virgin = b[x.virgin:][:capacity]
	m.bar = unsafe.Slice((*uint16)(unsafe.Pointer(&b[x.bar])), capacity/8)
	m.shortest = unsafe.Slice((*uint16)(unsafe.Pointer(&b[x.shortest])), capacity*8)
	m.features = unsafe.Slice((*uint32)(unsafe.Pointer(&b[x.features])), x.featureCount)
	m.operands = unsafe.Slice((*Operand)(unsafe.Pointer(&b[x.operands])), m.limits.Operands)
	m.watched = b[x.watched:][:siteCount/8]
	m.changes = unsafe.Slice((*mutation)(unsafe.Pointer(&b[x.mutations])), m.limits.Slots)
	m.inputs = b[x.inputs:][:m.limits.Inputs]
	for i := range m.virgin {
		m.virgin[i] = 0xff
	}
	return nil
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
	m.h.count = uint32(copy(room, hooks))
	m.h.unhooked = 0
}

// Close gives the memory back.
func (m *Memory) Close() error {
	err := m.file.Close()
	if m.bytes != nil {
		err = errors.Join(err, syscall.Munmap(m.bytes))
		m.bytes = nil
	}
	return err
}

// Clear begins a new batch.
func (m *Memory) Clear() { m.h.count, m.used = 0, 0 }

// Add puts an input into the batch. False: there is no room left for it.
func (m *Memory) Add(in []byte, ask uint32) bool {
	n := int(m.h.count)
	if n == len(m.slots) || len(in) > len(m.inputs)-m.used {
		return false
	}
	copy(m.inputs[m.used:], in)
	s := &m.slots[n]
	s.offset, s.length, s.Ask = m.h.inputs+uint64(m.used), uint32(len(in)), ask
	m.used = min((m.used+len(in)+15)&^15, len(m.inputs))
	m.h.count++
	return true
}

// Watch has the next runs record these comparisons only, perhaps a few more; none: all.
func (m *Memory) Watch(sites []uint32) {
	if m.h.watching > 0 {
		clear(m.watched)
	}
	m.h.watching = uint32(len(sites))
	for _, s := range sites {
		k := s * 0x9e3779b1 >> 16
		m.watched[k/8] |= 1 << (k % 8)
	}
}

// Slot returns the i-th input of the batch.
func (m *Memory) Slot(i int) *Slot { return &m.slots[i] }

// Features returns what a slot has reached: numbers of counters times 8 plus the bucket. They are lent until the next
// batch.
func (m *Memory) Features(s *Slot) []uint32 { return part(m.features, s.featureFirst, s.featureCount) }

// Operands returns what was compared in a slot, lent until the next batch.
func (m *Memory) Operands(s *Slot) []Operand { return part(m.operands, s.operandFirst, s.operandCount) }

// part does not trust its numbers: they come from the target.
func part[E any](all []E, first, count uint32) []E {
	from := min(int(first), len(all))
	return all[from:min(from+int(count), len(all))]
}

// Learn notes that a feature is known from an input of that length.
func (m *Memory) Learn(f uint32, length int) {
	if int(f) >= len(m.shortest) {
		return
	}
	n := uint16(min(length, 1<<16-1))
	if bit := byte(1) << (f % 8); m.virgin[f/8]&bit != 0 {
		m.virgin[f/8] &^= bit
		m.shortest[f] = n
		m.bar[f/64] = max(m.bar[f/64], n)
	} else {
		m.shortest[f] = min(m.shortest[f], n) // the bar may stay too high: that only costs time
	}
}

// Forget makes a feature news again.
func (m *Memory) Forget(f uint32) {
	if int(f) < len(m.shortest) {
		m.virgin[f/8] |= 1 << (f % 8)
		m.shortest[f] = 0
	}
}

// Counters returns how many counters there are, those of padding included.
func (m *Memory) Counters() int { return int(m.shape.Counters) }

// position says which input runs: it changes with each.
func (m *Memory) position() uint64 {
	return uint64(atomic.LoadUint32(&m.h.round))<<32 | uint64(atomic.LoadUint32(&m.h.cur))
}
