package mutate

import (
	"bytes"
	"testing"
)

// TestBlocksReachTheEnd: the last byte can be deleted, overwritten and copied.
func TestBlocksReachTheEnd(t *testing.T) {
	src := make([]byte, 64)
	for i := range src {
		src[i] = byte(i)
	}
	last := src[63]
	for _, test := range []struct {
		op   Operator
		ends int // how often the last byte occurs in the result
	}{{OpDelete, 0}, {OpFixedOverwrite, 0}, {OpCopyOverwrite, 2}} {
		found := false
		for seed := range uint64(1000) {
			got, _ := new(Bytes).Apply(random(seed), test.op, nil, src, nil)
			found = found || bytes.Count(got, []byte{last}) == test.ends
		}
		if !found {
			t.Errorf("%s: none of 1000 results has the last byte %d times", test.op, test.ends)
		}
	}
	seen := map[string]int{}
	for seed := range uint64(1000) {
		got, _ := new(Bytes).Apply(random(seed), OpDelete, nil, []byte("ab"), nil)
		seen[string(got)]++
	}
	if len(seen) != 2 || seen["a"] < 300 || seen["b"] < 300 {
		t.Errorf("deleting from ab gives %v", seen)
	}
}
