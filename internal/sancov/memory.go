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

// Limits sets the sizes of a memory.
type Limits struct {
	Slots    int    // inputs of a batch
	Inputs   int    // bytes of all inputs of a batch
	Operands int    // recorded comparisons of a batch
	Malloc   uint64 // size of a single allocation, in bytes, above which out of memory is reported; 0: no limit
}

// Memory is the memory that teasel and its targets share: one file that the target can only read and one that it can write.
// Neither has a name in any file system, so that the kernel frees it when the last process that has it open has ended. Several
// targets with the same Shape may share a memory, as long as only one of them runs at a time. A Memory is for one goroutine at
// a time.
//
// Data that the target writes is not trusted. All counts and offsets are kept here, as is a copy of the maps of known features,
// which is computed from the features that the target reports and compared with the target's maps after every batch.
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
	reported knownFeatures // the target's maps
	verified knownFeatures // our copy
	features []uint32
	operands []Operand
	outputs  []byte

	newInBatch []uint32 // features that were new in the batch under audit
	count      int      // inputs in the batch
	used       int      // bytes that these occupy
	spans      []span
}

// knownFeatures are the maps of known features: see runtime/counters.h.
type knownFeatures struct {
	virgin   []byte
	maxLen   []uint16
	shortest []uint16
}

// NewMemory makes a memory. It gets its size from the number of counters of the first target that [Start] starts with it. The
// caller must call Close.
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

// errShape is the error of a second target whose counters differ from those of the first.
var errShape = errors.New("its counters differ from those of the other build")

// area allocates parts of a file from its beginning on, in whole pages.
type area struct{ size uint64 }

func (a *area) take(n uint64) (from uint64) {
	from = a.size
	a.size = (a.size + n + pageSize - 1) &^ (pageSize - 1)
	return from
}

// layOut lays out the files for the first target, and checks that the counters of further targets are the same.
func (m *Memory) layOut(h Hello) error {
	if m.c != nil {
		if h.Counters != m.shape.Counters || h.Shape != m.shape.Shape || h.Modules != m.shape.Modules {
			return errShape
		}
		return nil
	}
	if h.Counters > 1<<26 {
		return fmt.Errorf("it has %d counters, expected at most %d", h.Counters, 1<<26)
	}
	slack := h.Counters/4 + 1<<14 // for libraries that are loaded later
	capacity := uint64(h.Counters+slack+line-1) &^ (line - 1)
	slots, operands := uint64(m.limits.Slots), uint64(m.limits.Operands)
	x := control{mallocLimit: m.limits.Malloc, capacity: uint32(capacity), slotCount: uint32(slots),
		featureCount: uint32(featureCapacity(capacity, m.limits.Slots)), operandCount: uint32(operands)}
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
	m.use(&x)
	return nil
}

// use has the parts of the mapped memory where x says that they are.
func (m *Memory) use(x *control) {
	c, r := m.maps[0], m.maps[1]
	slots, capacity := uint64(x.slotCount), uint64(x.capacity)
	m.c = (*control)(unsafe.Pointer(&c[0]))
	*m.c = *x
	m.slots = view[slot](c, x.slots, slots)
	m.watched = view[byte](c, x.watched, siteCount/8)
	m.mutations = view[mutation](c, x.mutations, slots)
	m.inputs = view[byte](c, x.inputs, uint64(m.limits.Inputs))
	m.r = (*results)(unsafe.Pointer(&r[0]))
	m.outcomes = view[Outcome](r, x.outcomes, slots)
	m.reported = knownFeatures{view[byte](r, x.virgin, capacity), view[uint16](r, x.maxLen, capacity/8), view[uint16](r, x.shortest, capacity*8)}
	m.verified = knownFeatures{make([]byte, capacity), make([]uint16, capacity/8), make([]uint16, capacity*8)}
	m.features = view[uint32](r, x.features, uint64(x.featureCount))
	m.operands = view[Operand](r, x.operands, uint64(x.operandCount))
	m.outputs = view[byte](r, x.outputs, uint64(m.limits.Inputs))
	for i := range m.verified.virgin {
		m.verified.virgin[i] = 0xff
	}
	copy(m.reported.virgin, m.verified.virgin)
}

// view returns n entries of type E at an offset of a file.
func view[E any](b []byte, from, n uint64) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(&b[from])), n)
}

// maxFeatures is the largest size of the table of features, for programs with millions of counters.
const maxFeatures = 1 << 26

// featureCapacity returns the size of the table of features: every input of a batch may report all features that it reaches,
// at most one per counter. The kernel allocates only those pages of the table that are written.
func featureCapacity(capacity uint64, slots int) uint64 {
	return min(max(2*capacity+1<<16, uint64(slots)*capacity), maxFeatures)
}

// offerHooks passes the addresses of hook calls to be switched off, in the place of the inputs.
func (m *Memory) offerHooks(hooks []uint64) {
	room := unsafe.Slice((*uint64)(unsafe.Pointer(&m.inputs[0])), len(m.inputs)/8)
	m.c.count = uint32(copy(room, hooks))
	m.r.unhooked = 0
}

// Close unmaps the memory and closes the files. It may be called more than once.
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

// Clear starts a new, empty batch.
func (m *Memory) Clear() { m.count, m.used = 0, 0 }

// Add copies an input into the batch, with what is asked of its run: a sum of Ask constants. It returns false if there is no
// room for the input.
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

// Watch makes the next runs record the comparisons at these sites only; no sites: all comparisons. Sites are matched by a hash
// of 16 bits, so that a few others may be recorded too.
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

// Outcome returns the result of the i-th input of the batch. It is valid until the next batch.
func (m *Memory) Outcome(i int) *Outcome { return &m.outcomes[i] }

// Features returns the features that a run has reported: 8 times the index of a counter plus the bucket of its hits. The slice is
// valid until the next batch.
func (m *Memory) Features(o *Outcome) []uint32 {
	return subslice(m.features, o.featureFirst, o.featureCount)
}

// Operands returns the comparisons that a run has recorded. The slice is valid until the next batch.
func (m *Memory) Operands(o *Outcome) []Operand {
	return subslice(m.operands, o.operandFirst, o.operandCount)
}

// subslice returns a part of all. It checks the bounds, which come from the target and may have any value.
func subslice[E any](all []E, first, count uint32) []E {
	from := min(int(first), len(all))
	return all[from:min(from+int(count), len(all))]
}

// Learn marks a feature as known from an input of that length, in bytes.
func (m *Memory) Learn(f uint32, length int) {
	if int(f) >= len(m.verified.shortest) {
		return
	}
	n := uint16(min(length, 1<<16-1))
	m.verified.learn(f, n)
	m.reported.learn(f, n)
}

func (k *knownFeatures) learn(f uint32, n uint16) {
	if bit := byte(1) << (f % 8); k.virgin[f/8]&bit != 0 {
		k.virgin[f/8] &^= bit
		k.shortest[f] = n
		k.maxLen[f/64] = max(k.maxLen[f/64], n)
	} else {
		k.shortest[f] = min(k.shortest[f], n) // maxLen may stay too high, which only costs time
	}
}

// Forget marks a feature as unknown, so that it is new when it is reached again.
func (m *Memory) Forget(f uint32) {
	if int(f) < len(m.verified.shortest) {
		for _, k := range [...]*knownFeatures{&m.verified, &m.reported} {
			k.virgin[f/8] |= 1 << (f % 8)
			k.shortest[f] = 0
		}
	}
}

// audit marks the features that the inputs of a batch have reported as known, and returns true if the target has overwritten
// its memory: then the target's map of unknown features differs from the one that follows from its reports. In that case audit
// restores the maps, and the reports of the batch must not be used. A child that dies while it reports a feature may have
// marked one feature as known without reporting it.
func (m *Memory) audit(from, n int, died bool) (damaged bool) {
	m.newInBatch = m.newInBatch[:0]
	for i := from; i < n && !damaged; i++ {
		if s := m.slots[i]; s.ask&AskQuiet == 0 && m.outcomes[i].Rejected == 0 {
			damaged = !m.acceptReported(m.Features(&m.outcomes[i]), uint16(min(s.length, 1<<16-1)))
		}
	}
	if !damaged && bytes.Equal(m.reported.virgin, m.verified.virgin) {
		return false
	}
	damaged = damaged || !died || m.countDifferences() > 1
	for _, f := range m.newInBatch {
		if damaged {
			m.Forget(f)
		}
	}
	copy(m.reported.virgin, m.verified.virgin)
	copy(m.reported.shortest, m.verified.shortest)
	copy(m.reported.maxLen, m.verified.maxLen)
	return damaged
}

// acceptReported marks the reported features of a run as known, and returns false if one of them is not marked in the target's
// map.
func (m *Memory) acceptReported(fs []uint32, length uint16) bool {
	for _, f := range fs {
		bit := byte(1) << (f % 8)
		if int(f) >= len(m.verified.shortest) || m.reported.virgin[f/8]&bit != 0 {
			return false
		}
		if m.verified.virgin[f/8]&bit != 0 {
			m.newInBatch = append(m.newInBatch, f)
		}
		m.verified.learn(f, length)
	}
	return true
}

// countDifferences returns the number of features that are unknown in one of the two maps only.
func (m *Memory) countDifferences() (n int) {
	for i, b := range m.verified.virgin {
		n += bits.OnesCount8(b ^ m.reported.virgin[i])
	}
	return n
}

// currentRun returns the number of the run in flight: it increases with every input of a batch and with every batch.
func (m *Memory) currentRun() uint64 {
	return uint64(atomic.LoadUint32(&m.c.round))<<32 | uint64(atomic.LoadUint32(&m.r.cur))
}
