// Package noun writes how many there are of something.
package noun

import "strconv"

// Count returns a count of things: "1 input", "2 inputs". more is the plural; "": the noun with an s.
func Count(n int, one, more string) string {
	switch {
	case n == 1:
		return "1 " + one
	case more == "":
		more = one + "s"
	}
	return strconv.Itoa(n) + " " + more
}
