package sancov

import (
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/teaselfuzz/teasel/internal/shm"
)

// Segment is shared memory with the counters of a program with our runtime that is not forked for inputs but runs as it is, a
// server for example. The processes that it starts count there too. A counter keeps its index when the program is started
// again. A segment is for one goroutine at a time.
type Segment struct {
	memory *shm.Segment
	head   *segmentHead
	pages  uint32 // of counters, at most
}

const (
	segmentRoom  = 1024 // pages of counters
	segmentSlack = 64   // pages reserved for modules that are loaded later
)

// NewSegment makes a segment that programs may attach to with permissions mode, such as 0o600. The caller must call Close.
func NewSegment(mode int) (*Segment, error) {
	m, err := shm.New((segmentCounters+segmentRoom)*pageSize, mode)
	if err != nil {
		return nil, err
	}
	s := &Segment{memory: m, head: (*segmentHead)(unsafe.Pointer(unsafe.SliceData(m.Bytes))), pages: segmentRoom}
	*s.head = segmentHead{magic: magic, version: version, capacity: segmentRoom, used: 1} // the first page is for string comparisons
	return s, nil
}

// Env returns the entry of the environment, NAME=value, by which a program finds the segment.
func (s *Segment) Env() string { return "TEASEL_SEGMENT=" + strconv.Itoa(s.memory.ID) }

// Attached reports whether a program has attached to the segment.
func (s *Segment) Attached() bool { return s.used() > 1 }

// used returns the number of pages of counters in use, limited to pages: the program may have written anything.
func (s *Segment) used() uint32 { return min(atomic.LoadUint32(&s.head.used), s.pages) }

// Limit fixes and returns the largest number of counters: those in use now and some for modules that are loaded later.
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

// Fault returns the fault of the first process that a fatal signal has ended since Clear was called. If Signal is 0, there was
// none.
func (s *Segment) Fault() (f Fault) {
	r := s.results()
	if atomic.LoadUint32(&r.signal) == 0 {
		return f
	}
	f = r.fault()
	f.Frames = append(f.Frames, r.frames[:min(r.frameCount, maxFrames)]...)
	return f
}

// Record starts, or stops, the recording of comparisons.
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

// Operands returns the comparisons since the recording started. The slice is valid until the next recording starts.
func (s *Segment) Operands() []Operand {
	n := min(atomic.LoadUint32(&s.results().operandsUsed), segmentRecords)
	return unsafe.Slice((*Operand)(unsafe.Pointer(&s.memory.Bytes[segmentOperands*pageSize])), n)
}

func (s *Segment) results() *results {
	return (*results)(unsafe.Pointer(&s.memory.Bytes[segmentResults*pageSize]))
}

// Close detaches from the memory. Closing a nil segment does nothing.
func (s *Segment) Close() error {
	if s == nil {
		return nil
	}
	return s.memory.Close()
}
