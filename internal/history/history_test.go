package history

import (
	"bytes"
	"fmt"
	"testing"
)

// The last inputs are held, so many and so many bytes of them.
func TestRingIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name         string
		inputs, size int
		want         int // that are held, but for the last
	}{
		{"none", 0, 0, 0},
		{"few", 3, 10, 2},
		{"many", 3000, 10, MaxInputs - 1},
		{"large", 3000, 1 << 16, MaxBytes>>16 - 1},
		{"one that is too large", 3, MaxBytes + 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r Ring
			for range 2 { // the second time in memory that was used before
				for i := range tt.inputs {
					data := bytes.Repeat([]byte{byte(i)}, tt.size)
					if place := r.Add(data); place != i || r.Added() != i+1 {
						t.Fatalf("input %d is at place %d, of %d", i, place, r.Added())
					}
					clear(data)
				}
				past := r.Before(r.Added() - 1)
				if len(past) != tt.want {
					t.Fatalf("%d inputs, want %d", len(past), tt.want)
				}
				for i, data := range past {
					want := bytes.Repeat([]byte{byte(tt.inputs - 1 - len(past) + i)}, tt.size)
					if !bytes.Equal(data, want) {
						t.Fatalf("input %d is %.10x of %d bytes, want %.10x of %d", i, data, len(data), want, len(want))
					}
				}
				r.Clear()
				if past := r.Before(r.Added()); len(past) > 0 || r.Added() != 0 {
					t.Errorf("%d inputs after Clear, %d added", len(past), r.Added())
				}
			}
		})
	}
}

func TestBefore(t *testing.T) {
	var r Ring
	for i := range 5 {
		r.Add(fmt.Append(nil, i))
	}
	r.MarkSlow(1)
	r.MarkSlow(17) // which is not there
	for place, want := range []string{"", "0", "0", "0 2", "0 2 3", "0 2 3 4", "0 2 3 4"} {
		if got := bytes.Join(r.Before(place), []byte(" ")); string(got) != want {
			t.Errorf("before place %d: %q, want %q", place, got, want)
		}
	}
	for i := range MaxInputs {
		r.Add(fmt.Append(nil, i))
	}
	r.MarkSlow(1) // forgotten: none of those that are held
	if n := len(r.Before(r.Added())); n != MaxInputs {
		t.Errorf("%d inputs, want %d", n, MaxInputs)
	}
	if past := r.Before(3); len(past) > 0 {
		t.Errorf("%d inputs before one that is forgotten", len(past))
	}
}

// Memory that long inputs have taken is given back, and adding takes none.
func TestRingMemory(t *testing.T) {
	var r Ring
	for range 8 {
		r.Add(make([]byte, MaxBytes))
	}
	short := make([]byte, 100)
	for range 8 * MaxBytes / len(short) {
		r.Add(short)
	}
	if cap(r.packed) > maxSpare {
		t.Errorf("%d bytes are held", cap(r.packed))
	}
	if n := testing.AllocsPerRun(10*MaxInputs, func() { r.Add(short) }); n > 0 {
		t.Errorf("adding allocates %v times", n)
	}
}
