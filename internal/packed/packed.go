// Package packed stores sets of numbers compactly: how many there are, then the first, then the differences between neighbours, all as
// unsigned varints. The empty set is the empty string, and equal sets are equal strings.
package packed

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// Pack returns the set of the numbers in ns, which it does not change. Numbers may repeat; 0 is left out.
func Pack[N ~uint64](ns []N) string {
	if !slices.IsSorted(ns) {
		ns = slices.Clone(ns)
		slices.Sort(ns)
	}
	n, last := uint64(0), N(0)
	for _, x := range ns {
		if x != last {
			n, last = n+1, x
		}
	}
	if n == 0 {
		return ""
	}
	b := binary.AppendUvarint(make([]byte, 0, 3*n+8), n)
	last = 0
	for _, x := range ns {
		if x != last {
			b = binary.AppendUvarint(b, uint64(x-last))
			last = x
		}
	}
	return string(b)
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

// Len returns how many numbers a set has.
func Len(set string) int {
	if set == "" {
		return 0
	}
	n, _ := uvarint(set)
	return int(n)
}

// All yields the numbers of a set in ascending order.
func All[N ~uint64](set string) iter.Seq[N] {
	return func(yield func(N) bool) {
		if set == "" {
			return
		}
		_, at := uvarint(set)
		for last := N(0); at < len(set); {
			d, n := uvarint(set[at:])
			at += n
			if last += N(d); !yield(last) {
				return
			}
		}
	}
}

// Check returns data as a set, and an error unless Pack could have made it.
func Check(data []byte) (set string, err error) {
	var ns []uint64
	for at, last := 0, uint64(0); at < len(data); {
		d, n := binary.Uvarint(data[at:])
		if n <= 0 || at > 0 && last+d <= last {
			return "", fmt.Errorf("byte %d of %d is invalid", at, len(data))
		}
		if at > 0 {
			last += d
			ns = append(ns, last)
		}
		at += n
	}
	if set = Pack(ns); set != string(data) {
		return "", fmt.Errorf("%d bytes are not in the shortest form", len(data))
	}
	return set, nil
}
