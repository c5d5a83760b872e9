package change

import "testing"

func TestOf(t *testing.T) {
	for _, c := range [][3]string{
		{"seed", "seed", "nothing changed"}, {"seed", "seaed", "1 byte inserted at 2"}, {"seed", "sd", "2 bytes removed at 1"}, {"seed", "send", "1 byte at 2 replaced by 1"},
	} {
		if got := Of([]byte(c[0]), []byte(c[1])); got != c[2] {
			t.Errorf("%q to %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
