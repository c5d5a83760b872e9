package sancov

import (
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/teaselfuzz/teasel/internal/shm"
)

// Segment is where a program with our runtime counts that is not forked for inputs but runs as whatever it is, a server for
// example. Everything that it starts counts there too. A counter keeps its place when its program is started again. One
// goroutine at a time uses a segment.
type Segment struct {
	memory *shm.Segment
	head   *segmentHead
	pages  uint32 // of counters, at most
}

const (
	segmentRoom  = 1024 // pages of counters
	segmentSlack = 64   // of them for modules that are loaded later
)

// NewSegment makes a segment that programs may attach to as mode says, such as 0o600.
func NewSegment(mode int) (*Segment, error) {
	m, err := shm.New((segmentCounters+segmentRoom)*pageSize, mode)
	if err != nil {
		return nil, err
	}
	s := &Segment{memory: m, head: (*segmentHead)(unsafe.Pointer(unsafe.SliceData(m.Bytes))), pages: segmentRoom}
	*s.head = segmentHead{magic: magic, version: version, capacity: segmentRoom, used: 1} // the first page is of comparisons of texts
	return s, nil
}

// Env is what a program has to find in its environment, NAME=value.
func (s *Segment) Env() string { return "TEASEL_SEGMENT=" + strconv.Itoa(s.memory.ID) }

// Attached reports whether a program counts here.
func (s *Segment) Attached() bool { return s.used() > 1 }

// used is how many pages of counters there are. The program may have written anything.
func (s *Segment) used() uint32 { return min(atomic.LoadUint32(&s.head.used), s.pages) }

// Limit returns how many counters there can be from now on: those that there are, and some for what is loaded later.
func (s *Segment) Limit() int {
	s.pages = min(s.used()+segmentSlack, segmentRoom)
	atomic.StoreUint32(&s.head.capacity, s.pages)
	return int(s.pages) * pageSize
}

// Counts returns the counters. They are valid until the segment is closed, and change while the program runs.
func (s *Segment) Counts() []byte {
	return s.memory.Bytes[segmentCounters*pageSize:][:int(s.used())*pageSize]
}

// Clear sets all counters to zero and forgets a fault.
func (s *Segment) Clear() {
	clear(s.Counts())
	s.results().signal = 0
}

// Fault returns what the first process has noted that a fatal signal ended since the counters were cleared; no signal: none.
func (s *Segment) Fault() (f Fault) {
	r := s.results()
	if atomic.LoadUint32(&r.signal) == 0 {
		return f
	}
	f = r.fault()
	f.Frames = append(f.Frames, r.frames[:min(r.frameCount, maxFrames)]...)
	return f
}

// Record has the program say what it compares, from now on, or no longer.
func (s *Segment) Record(on bool) {
	recording := (*uint32)(unsafe.Pointer(&s.memory.Bytes[segmentRecording*pageSize]))
	if !on {
		atomic.StoreUint32(recording, 0)
		return
	}
	clear(s.memory.Bytes[segmentSites*pageSize:][:siteCount])
	atomic.StoreUint32(&s.results().operandsUsed, 0)
	atomic.StoreUint32(recording, 1)
}

// Operands returns what was compared since recording began, in memory that the next recording uses.
func (s *Segment) Operands() []Operand {
	n := min(atomic.LoadUint32(&s.results().operandsUsed), segmentRecords)
	return unsafe.Slice((*Operand)(unsafe.Pointer(&s.memory.Bytes[segmentOperands*pageSize])), n)
}

func (s *Segment) results() *results {
	return (*results)(unsafe.Pointer(&s.memory.Bytes[segmentResults*pageSize]))
}

// Close gives the memory back. A nil segment is closed already.
func (s *Segment) Close() error {
	if s == nil {
		return nil
	}
	return s.memory.Close()
}
