package sancov

import (
	"unsafe"
)

// The constants of runtime/layout.h.
const (
	version       = 10
	magic         = 0x6c65736165740a01
	line          = 64
	maxFrames     = 64
	maxSamples    = 5
	maxTextLength = 32
	siteCount     = 1 << 16
	pageSize      = 4096
	fdCount       = 7
	askSample     = 50
	lastSample    = 51
	sampleOver    = 1 << 30
)

// The layout of a segment, in pages.
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

// Texts is the number of counters, the first ones, that count results of string comparisons instead of edges.
const Texts = 64 * line

// What teasel asks of a run.
const (
	AskFeatures = 1 << iota // all features, not only new ones
	AskTrace                // the hash of the trace, the work and the processor time
	AskOperands
	AskQuiet   // do not change the maps of known features
	AskStacks  // make a sanitizer keep the stacks of allocations, for its report
	AskNoLeaks // do not check for leaks
)

const (
	commandRun    = 1
	commandRenew  = 2
	commandMutate = 3
	statusDone    = 1
	statusDead    = 2
	statusRenewed = 3
)

// Properties of a target, in [Hello.Flags].
const (
	Harness = 1 << iota
	ASan
	MSan
	UBSan
	Mutator   // the harness has LLVMFuzzerCustomMutator
	CrossOver // the harness has LLVMFuzzerCustomCrossOver
	TSan
	Loops    // a process of the program runs many inputs, in AFL's persistent mode
	InMemory // the program takes inputs in memory, as AFL's macros give them
)

// Properties of an operand, in [Operand.Flags].
const (
	OperandEqual = 1 << iota
	OperandConst
	OperandText
	OperandSwitch
)

// Hello describes a target, as it does itself when it starts.
type Hello struct {
	magic    uint64
	version  uint32
	Counters uint32
	Modules  uint32
	Flags    uint32
	PID      uint32 // process number of the server, which forks the children
	Edges    uint32 // number of counters, without the gaps between modules
	Shape    uint64 // hash of the order of the counters: two builds with equal Shape and Counters may share a memory
}

// segmentHead is the beginning of a segment; module describes the counters of one program or library in it.
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

// control is the beginning of the memory that the target can only read.
type control struct {
	nonce                       uint64
	mallocLimit                 uint64
	capacity, slotCount         uint32
	featureCount, operandCount  uint32
	controlSize, slots, watched uint64
	mutations, inputs           uint64
	resultsSize, outcomes       uint64
	virgin, maxLen, shortest    uint64
	features, operands, outputs uint64
	from, count, maxRuns, watch uint32
	round, sent                 uint32
	asked                       uint64
}

// results is the beginning of the memory that the target can write, so that it may contain anything.
type results struct {
	cur                                             uint32
	pid                                             int32
	featuresUsed, operandsUsed                      uint32
	uncounted, unhooked, samples, forked, leakCheck uint32
	signal, code, access                            uint32
	frameCount                                      uint32
	address, pc, sp                                 uint64
	frames                                          [maxFrames]uint64
}

// slot is one input of a batch.
type slot struct {
	offset      uint64
	length, ask uint32
}

// command and answer are the messages on the pipes.
type (
	command struct{ round, word uint32 }
	answer  struct {
		nonce            uint64
		round, word      uint32
		status, reserved uint32
	}
)

// Outcome is the result of one input of a batch. The target writes it, so that it may contain anything.
type Outcome struct {
	featureFirst uint32
	featureCount uint32
	operandFirst uint32
	operandCount uint32
	Trace        uint64 // hash of the counters, if AskTrace was set
	Work         uint64 // sum of the counters, if AskTrace was set
	CPU          uint64 // processor time in nanoseconds, if AskTrace was set
	Status       uint32 // wait status of a forked program
	Rejected     uint32 // not 0: the harness returned -1
	length       uint32
	_            uint32
}

// FeatureCount returns how many features the run has reported.
func (o *Outcome) FeatureCount() int { return int(o.featureCount) }

// Operand is a recorded comparison.
type Operand struct {
	Site    uint32
	Flags   uint8
	Size    uint8
	ALength uint8
	BLength uint8
	A, B    [maxTextLength]byte
}

// Number returns the operands of a comparison of numbers.
func (o *Operand) Number() (a, b uint64) {
	return *(*uint64)(unsafe.Pointer(&o.A)), *(*uint64)(unsafe.Pointer(&o.B))
}

// Text returns the operands of a comparison of strings, at most their first 32 bytes.
func (o *Operand) Text() (a, b []byte) {
	return o.A[:min(o.ALength, maxTextLength)], o.B[:min(o.BLength, maxTextLength)]
}
