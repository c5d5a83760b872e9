package teasel

import (
	"crypto/sha256"
	"encoding/hex"
)

// ID names a testcase inside one pool: its index in order of arrival. It means nothing in another pool; there the
// content [Key] is the name.
type ID int

// A Codec turns inputs into bytes and back. What it writes is what the corpus on disk, other processes and other
// machines see, so it has to be stable over versions. Encode followed by Decode must give an equal input that shares
// no memory with the first. Several workers may call both concurrently.
type Codec[T any] interface {
	Encode(in T) ([]byte, error)
	Decode(data []byte) (T, error)
}

// Bytes is the [Codec] of inputs that are bytes.
type Bytes struct{}

var _ Codec[[]byte] = Bytes{}

// Encode implements [Codec].
func (Bytes) Encode(in []byte) ([]byte, error) { return in, nil }

// Decode implements [Codec].
func (Bytes) Decode(data []byte) ([]byte, error) { return append([]byte(nil), data...), nil }

// A NoteCodec encodes the notes of a kind ([Testcase].Note). They are stored with their testcases, so that a resumed campaign
// and other workers need not run a testcase to learn its note. One that cannot be decoded any more counts as missing. Both
// methods may be called concurrently.
type NoteCodec interface {
	EncodeNote(note any) ([]byte, error)
	DecodeNote(data []byte) (any, error)
}

// Testcase is an input that was kept, with what is known of it. It belongs to one worker; a stage may read it while
// it runs and may change Step and Note only.
type Testcase[T any] struct {
	ID         ID
	Input      T
	Key        string // content name, the same everywhere
	Complexity float64
	Features   FeatureSet // what it reaches, those left out that did not recur when it was calibrated
	Trace      uint64     // hash of all it reaches; 0: unknown or unstable
	Note       any        // the kind's own annotation, from [Observation.Note]; nil: none
	Step       uint64     // the next ordered step
	Picked     uint64     // times the scheduler chose it
	Depth      int        // mutations away from a seed
	Work       uint64     // what an execution costs, in the executor's unit; 0: unknown
	Focus      Feature    // what it was picked for this time; 0: nothing special

	spent, faults uint64 // on all that was made from it, and on the faults among that; see meter
}

// Key returns the content name of an encoded input: 16 hexadecimal digits of its SHA-256.
func Key(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:8])
}
