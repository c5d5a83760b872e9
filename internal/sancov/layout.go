package sancov

import (
	"unsafe"
)

// These are the constants of runtime/layout.h.
const (
	version    = 8
	magic      = 0x6c65736165740a01
	line       = 64
	maxFrames  = 64
	maxSamples = 5
	maxText    = 32
	siteCount  = 1 << 16
	pageSize   = 4096
	fdCount    = 7
	askSample  = 50
	lastSample = 51
	sampleOver = 1 << 30
)

// A segment, in pages.
const (
	segmentRecording = 1
	segmentSites     = 2
	segmentControl   = 18
	segmentResults   = 19
	segmentOperands  = 20
	segmentCounters  = 56
	segmentRecords   = 2048
	maxModules       = 64
)

// Texts is how many counters, the first ones, are of comparisons of texts and of no edge.
const Texts = 64 * line

// What a run is asked for.
const (
	AskFeatures = 1 << iota // all features, not only new ones
	AskTrace                // the hash and the work
	AskOperands
	AskQuiet  // leave the maps of known features as they are
	AskStacks // have a sanitizer keep the stacks of allocations, for its report
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

// segmentHead is the beginning of a segment, and module a part of its counters.
type (
	segmentHead struct {
		magic          uint64
		version        uint32
		capacity, used uint32
		_              uint32
		modules        [maxModules]module
	}
	module struct {
		key          uint64
		first, pages uint32
	}
)

// control is the beginning of the memory that the target may only read.
type control struct {
	nonce                        uint64
	mallocLimit                  uint64
	capacity, slotCount          uint32
	featureCount, operandCount   uint32
	controlSize, slots, watched  uint64
	mutations, inputs            uint64
	resultsSize, outcomes        uint64
	virgin, maxLen, shortest     uint64
	features, operands, outputs  uint64
	from, count, mostRuns, watch uint32
	round, sent                  uint32
	asked                        uint64
}

// results is the beginning of the memory that the target writes, so that anything may be in it.
type results struct {
	cur                              uint32
	pid                              int32
	featuresUsed, operandsUsed       uint32
	late, unhooked, samples, looking uint32
	signal, code, access             uint32
	frameCount                       uint32
	address, pc, sp                  uint64
	frames                           [maxFrames]uint64
}

// slot is one input of a batch.
type slot struct {
	offset      uint64
	length, ask uint32
}

// command and answer are what goes over the pipes.
type (
	command struct{ round, word uint32 }
	answer  struct {
		nonce            uint64
		round, word      uint32
		status, reserved uint32
	}
)

// Outcome is what came of one input of a batch. The target writes it, so it may be anything.
type Outcome struct {
	featureFirst uint32
	featureCount uint32
	operandFirst uint32
	operandCount uint32
	Trace        uint64
	Work         uint64
	CPU          uint64 // nanoseconds, if the trace was asked for
	Status       uint32 // of a forked program, as wait gives it
	Refused      uint32
	length       uint32
	_            uint32
}

// FeatureCount is how many features the run has.
func (o *Outcome) FeatureCount() int { return int(o.featureCount) }

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
