package agent

import "unsafe"

// Environment is the variable that starts the agent: file descriptors separated by commas. One is where to describe
// the fuzz test as JSON; three are requests, answers and shared memory.
const Environment = "TEASEL_GO_AGENT"

// TypesEnvironment is the variable with the types of the fuzz target's arguments, separated by commas.
const TypesEnvironment = "TEASEL_GO_TYPES"

// Version changes with the layout.
const Version = 1

// Magic is at the beginning of the shared memory.
const Magic = 0x6c65736165740b01

// Buckets is how many features a counter has: one for each range of counts.
const Buckets = 8

// States is how many distinct states a test can observe. They are numbered behind the counters.
const States = 1 << 14

// Texts is how many bytes of a compared text are recorded.
const Texts = 32

// Sites is how many bits the filter of watched comparisons has.
const Sites = 1 << 16

// SiteRecords is how many comparisons of one site are recorded in one execution. Loops would use up all room.
const SiteRecords = 32

// What is asked of an execution, as bits of Slot.Ask.
const (
	AskFeatures = 1 << iota // all features, not only new ones
	AskTrace                // the hash and the work
	AskOperands             // what was compared
	AskQuiet                // nothing that is reached becomes known
)

// What an execution came to: the values of Slot.Verdict.
const (
	VerdictNone    = iota // it was not run, or did not end
	VerdictPassed         // as go test judges it
	VerdictSkipped        // it has called t.Skip or the like, and not failed
	VerdictFailed         // Header.Message says why
)

// What an operand is, as bits of Operand.Flags.
const (
	OperandEqual = 1 << iota // both sides were equal
	OperandConst             // A is a constant of the program
	OperandText              // texts, not numbers
)

// Header is the first page of the shared memory. Offsets count from its beginning, in bytes. The parent writes all of
// it but where a field says that the agent does.
type Header struct {
	Magic         uint64
	Size          uint64 // of the memory
	Version       uint32
	Counters      uint32 // of the compiler
	Capacity      uint32 // counters, then states, rounded up
	SlotCount     uint32
	FeatureRoom   uint32 // numbers
	OperandRoom   uint32 // records
	MessageRoom   uint32 // bytes
	Watching      uint32 // watched sites; 0: all
	From          uint32 // the first slot to run
	Count         uint32 // slots of the batch
	Current       uint32 // the slot that runs; the agent writes it before it begins
	Done          uint32 // slots that were run; the agent's
	StatesOffset  uint64
	StatesCount   uint32 // states observed in this execution; the test's
	StatesRoom    uint32
	Round         uint32 // counts round trips
	FeaturesUsed  uint32 // the agent's
	OperandsUsed  uint32 // the agent's
	MessageLength uint32 // the agent's
	Lives         uint32 // times a testing.T was made; the agent's
	MaxStack      uint32 // bytes that a goroutine's stack may have in the batch; 0: as many as the test allows
	Slots         uint64 // offset of the slots
	Virgin        uint64 // a byte for each counter: buckets that are not known
	Bar           uint64 // the greatest length in Shortest among eight counters; a longer input cannot improve any of them
	Shortest      uint64 // for each feature, the length of the shortest input
	Features      uint64
	Operands      uint64
	Watched       uint64
	Message       uint64
	Inputs        uint64
}

// HeaderSize is the room of the header.
const HeaderSize = 4096

// Slot is one input of a batch, and what came of it.
type Slot struct {
	Offset       uint64 // of the input
	Length       uint32
	Ask          uint32
	FeatureFirst uint32 // the rest is the agent's
	FeatureCount uint32
	OperandFirst uint32
	OperandCount uint32
	Trace        uint64 // hash of everything reached, 0 if it was not asked for
	Work         uint64 // sum of the counters
	Nanoseconds  uint64 // if the trace was asked for
	Verdict      uint32
	_            uint32
}

// Operand is one comparison. A and B hold numbers in the machine's byte order, or the beginnings of texts.
type Operand struct {
	Site             uint32
	Flags            uint8
	Size             uint8 // bytes of a number
	ALength, BLength uint8 // of texts
	A, B             [Texts]byte
}

// Memory is the shared memory with its parts. The memory belongs to whoever mapped it.
type Memory struct {
	*Header
	Slot     []Slot
	Virgin   []byte
	Bar      []uint16
	Shortest []uint16
	Feature  []uint32
	Operand  []Operand
	Watched  []byte
	Message  []byte
	Input    []byte
	State    []uint64
}

// Over returns the parts of a memory whose header is filled in. The caller has checked the header.
func Over(b []byte) *Memory {
	h := (*Header)(unsafe.Pointer(&b[0]))
	return &Memory{
		Header:   h,
		Slot:     unsafe.Slice((*Slot)(unsafe.Pointer(&b[h.Slots])), h.SlotCount),
		Virgin:   b[h.Virgin:][:h.Capacity],
		Bar:      unsafe.Slice((*uint16)(unsafe.Pointer(&b[h.Bar])), h.Capacity/8),
		Shortest: unsafe.Slice((*uint16)(unsafe.Pointer(&b[h.Shortest])), h.Capacity*Buckets),
		Feature:  unsafe.Slice((*uint32)(unsafe.Pointer(&b[h.Features])), h.FeatureRoom),
		Operand:  unsafe.Slice((*Operand)(unsafe.Pointer(&b[h.Operands])), h.OperandRoom),
		Watched:  b[h.Watched:][:Sites/8],
		Message:  b[h.Message:][:h.MessageRoom],
		Input:    b[h.Inputs:],
		State:    unsafe.Slice((*uint64)(unsafe.Pointer(&b[h.StatesOffset])), h.StatesRoom),
	}
}
