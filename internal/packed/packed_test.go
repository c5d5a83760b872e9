package packed

import (
	"math"
	"slices"
	"testing"
)

func TestPack(t *testing.T) {
	for _, tt := range []struct{ in, want []uint64 }{
		{nil, nil},
		{[]uint64{0}, nil},
		{[]uint64{9, 7, 9, 0, 7}, []uint64{7, 9}},
		{[]uint64{math.MaxUint64, 1}, []uint64{1, math.MaxUint64}},
	} {
		in := slices.Clone(tt.in)
		set := Pack(in)
		if got := slices.Collect(All[uint64](set)); !slices.Equal(got, tt.want) || Len(set) != len(tt.want) || !slices.Equal(in, tt.in) {
			t.Errorf("%v: got %v of %d, want %v", tt.in, got, Len(set), tt.want)
		}
		if again, err := Check([]byte(set)); err != nil || again != set || Pack(tt.want) != set {
			t.Errorf("%v: %q, %v", tt.in, again, err)
		}
	}
	for _, data := range []string{"\x00", "\x01", "\x02\x05", "\x01\x80", "\x02\x05\x00", "\x01\x85\x00"} {
		if set, err := Check([]byte(data)); err == nil || set != "" {
			t.Errorf("%q was taken for a set", data)
		}
	}
}
