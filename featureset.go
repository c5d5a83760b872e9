package teasel

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// FeatureSet is an immutable set of features. It is stored compactly, as the differences between its members in order, so
// that a testcase which reaches 1,000 edges takes about 2 KB and copies of the set share them. The zero value is
// empty. Sets may be compared with ==.
type FeatureSet struct {
	packed string // number of members, then the first, then the differences, as unsigned varints; "": none
}

// NewFeatureSet returns the set of fs, which it does not change. Members may repeat; 0 is no feature and left out.
func NewFeatureSet(fs ...Feature) FeatureSet {
	if !slices.IsSorted(fs) {
		fs = slices.Clone(fs)
		slices.Sort(fs)
	}
	n, last := uint64(0), Feature(0)
	for _, f := range fs {
		if f != last {
			n, last = n+1, f
		}
	}
	if n == 0 {
		return FeatureSet{}
	}
	b := binary.AppendUvarint(make([]byte, 0, 3*n+8), n)
	last = 0
	for _, f := range fs {
		if f != last {
			b = binary.AppendUvarint(b, uint64(f-last))
			last = f
		}
	}
	return FeatureSet{string(b)}
}

// uvarint is [binary.Uvarint] of a string whose content is known to be valid.
func uvarint(s string) (x uint64, n int) {
	for shift := 0; ; shift += 7 {
		b := s[n]
		n++
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x, n
		}
	}
}

// Len returns the number of members.
func (s FeatureSet) Len() int {
	if s.packed == "" {
		return 0
	}
	n, _ := uvarint(s.packed)
	return int(n)
}

// All yields the members in ascending order.
func (s FeatureSet) All() iter.Seq[Feature] {
	return func(yield func(Feature) bool) {
		if s.packed == "" {
			return
		}
		_, at := uvarint(s.packed)
		for last := Feature(0); at < len(s.packed); {
			d, n := uvarint(s.packed[at:])
			at += n
			if last += Feature(d); !yield(last) {
				return
			}
		}
	}
}

// Append appends the members in ascending order to fs.
func (s FeatureSet) Append(fs []Feature) []Feature {
	fs = slices.Grow(fs, s.Len())
	for f := range s.All() {
		fs = append(fs, f)
	}
	return fs
}

// Contains reports whether f is a member, in time proportional to the size of the set.
func (s FeatureSet) Contains(f Feature) bool {
	for g := range s.All() {
		if g >= f {
			return g == f
		}
	}
	return false
}

// String returns the members in brackets, as those of a slice are printed.
func (s FeatureSet) String() string { return fmt.Sprint(s.Append(nil)) }

// MarshalBinary implements [encoding.BinaryMarshaler]. It never fails.
func (s FeatureSet) MarshalBinary() ([]byte, error) { return []byte(s.packed), nil }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It takes what MarshalBinary returns and nothing else.
func (s *FeatureSet) UnmarshalBinary(data []byte) error {
	var fs []Feature
	for at, last := 0, Feature(0); at < len(data); {
		d, n := binary.Uvarint(data[at:])
		if n <= 0 || at > 0 && last+Feature(d) <= last {
			return fmt.Errorf("decoding features: byte %d of %d is invalid", at, len(data))
		}
		if at > 0 {
			last += Feature(d)
			fs = append(fs, last)
		}
		at += n
	}
	if got := NewFeatureSet(fs...); got.packed != string(data) {
		return fmt.Errorf("decoding features: %d bytes are not in the shortest form", len(data))
	}
	s.packed = string(data)
	return nil
}
