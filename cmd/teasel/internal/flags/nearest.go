package flags

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/spelling"
)

// Nearest returns the name that was probably meant: one that begins with the typed text, has the same letters, or differs by at most
// two letters; "": there is none.
func Nearest(typed string, names []string) string {
	letters := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	best, least := "", 3
	for _, name := range names {
		d := spelling.Distance(typed, name)
		if len(typed) > 1 && strings.HasPrefix(name, typed) || letters(name) == letters(typed) {
			d = min(d, 1)
		}
		if d < least && 2*d < len(typed) { // two letters may be all of a short word
			best, least = name, d
		}
	}
	return best
}
