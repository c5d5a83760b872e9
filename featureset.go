package teasel

import (
	"fmt"
	"iter"
	"slices"

	"github.com/teaselfuzz/teasel/internal/packed"
)

// FeatureSet is an immutable set of features. It is stored compactly, as the differences between its members in order, so
// that a testcase which reaches 1,000 edges takes about 2 KB and copies of the set share them. The zero value is
// empty. Sets may be compared with ==.
type FeatureSet struct {
	packed string // see package packed
}

// NewFeatureSet returns the set of fs, which it does not change. Members may repeat; 0 is no feature and left out.
func NewFeatureSet(fs ...Feature) FeatureSet { return FeatureSet{packed.Pack(fs)} }

// Len returns the number of members.
func (s FeatureSet) Len() int { return packed.Len(s.packed) }

// All yields the members in ascending order.
func (s FeatureSet) All() iter.Seq[Feature] { return packed.All[Feature](s.packed) }

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
	set, err := packed.Check(data)
	if err != nil {
		return fmt.Errorf("decoding features: %w", err)
	}
	s.packed = set
	return nil
}
