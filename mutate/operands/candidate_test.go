package operands

import "testing"

func TestFits(t *testing.T) {
	for _, test := range []struct {
		v       uint64
		n, size int
		want    bool
	}{
		{0xff, 1, 4, true}, {0x100, 1, 4, false}, {0xffffffff, 1, 4, true}, {0xffffff00, 1, 4, false}, {0xffffff80, 1, 4, true},
		{^uint64(0), 2, 8, true}, {1 << 40, 4, 8, false}, {1 << 31, 4, 8, true}, {0x8000, 2, 2, true},
	} {
		if got := fits(test.v, test.n, test.size); got != test.want {
			t.Errorf("%#x of %d bytes in %d: %v", test.v, test.size, test.n, got)
		}
	}
}
