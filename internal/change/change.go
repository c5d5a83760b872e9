// Package change says how one text differs from another.
package change

import "fmt"

// Of says in a few words how an encoded input differs from the one that it was made from.
func Of(from, to []byte) string {
	n := min(len(from), len(to))
	at := 0
	for at < n && from[at] == to[at] {
		at++
	}
	end := 0
	for end < n-at && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	bytes := func(n int) string {
		if n == 1 {
			return "1 byte"
		}
		return fmt.Sprintf("%d bytes", n)
	}
	switch out, in := len(from)-at-end, len(to)-at-end; {
	case out == 0 && in == 0:
		return "nothing changed"
	case out == 0:
		return fmt.Sprintf("%s inserted at %d", bytes(in), at)
	case in == 0:
		return fmt.Sprintf("%s removed at %d", bytes(out), at)
	default:
		return fmt.Sprintf("%s at %d replaced by %d", bytes(out), at, in)
	}
}
