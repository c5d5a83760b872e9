package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel"
)

// entryVersion is the first byte of an entry on the wire.
const entryVersion = 1

// Entry is a testcase on its way between machines, or a message about unstable features, which has no data.
type Entry struct {
	Key      string
	Build    string // of the target and of teasel where it was found: features mean the same only within one
	Machine  string // that found it
	Features teasel.FeatureSet
	Data     []byte            // the encoded input
	Unstable teasel.FeatureSet // that Machine has seen to vary between runs of one input
	Sequence uint64            // of its message; set by [Link.Pull]
}

// MarshalBinary returns the entry without its key, which is in the subject.
func (e *Entry) MarshalBinary() ([]byte, error) {
	features, err := e.Features.MarshalBinary()
	if err != nil {
		return nil, err
	}
	parts := [][]byte{[]byte(e.Build), []byte(e.Machine), features, e.Data}
	if e.Unstable.Len() > 0 {
		unstable, err := e.Unstable.MarshalBinary()
		if err != nil {
			return nil, err
		}
		parts = append(parts, unstable)
	}
	b := []byte{entryVersion}
	for _, part := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary has returned. Parts that a later version adds at the end are passed over.
func (e *Entry) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != entryVersion {
		return fmt.Errorf("decoding an entry: expected version %d", entryVersion)
	}
	var parts [5][]byte
	rest := b[1:]
	for i := range parts {
		if i == len(parts)-1 && len(rest) == 0 { // it is there only if it says something
			break
		}
		n, used := binary.Uvarint(rest)
		if used <= 0 || n > uint64(len(rest)-used) {
			return errors.New("decoding an entry: it is cut off")
		}
		parts[i], rest = rest[used:used+int(n)], rest[used+int(n):]
	}
	if err := e.Features.UnmarshalBinary(parts[2]); err != nil {
		return fmt.Errorf("decoding an entry: %w", err)
	}
	if len(parts[4]) > 0 {
		if err := e.Unstable.UnmarshalBinary(parts[4]); err != nil {
			return fmt.Errorf("decoding an entry: %w", err)
		}
	}
	e.Build, e.Machine, e.Data = string(parts[0]), string(parts[1]), parts[3]
	return nil
}
