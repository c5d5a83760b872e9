package script

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Placeholder returns a string that stands for the value at a JSON pointer in the result of an earlier step. The pointer may
// end in "#N" for the N-th token of the text there.
func Placeholder(step int, pointer string) *mutate.JSON {
	return mutate.NewString("@{" + strconv.Itoa(step) + ":" + pointer + "}")
}

// The canary file, by its absolute path, by a relative one and as a URI, and its directory.
const (
	CanaryPath     = "@{canary}"
	CanaryRelative = "@{canary:rel}"
	CanaryURI      = "@{canary:uri}"
	CanaryDir      = "@{canary:dir}"
	CanarySibling  = "@{canary:sibling}"     // a file in a directory beside an allowed one, by its absolute path
	CanarySibRel   = "@{canary:rel-sibling}" // and as seen from the allowed one
	CanaryBeside   = "@{canary:beside}"      // that directory
	CanaryRoot     = "@{canary:root}"        // the allowed one
	CanaryLink     = "@{canary:link}"        // a file by way of a symbolic link in an allowed directory
)

// HugeText stands for a text that is longer than the limits that servers have: so long it is in a script of [check.Large] only,
// since most of what mutators make of it would be a waste of time.
const (
	HugeText   = "@{huge}"
	Unique     = "@{unique}" // small letters and digits that no earlier execution had, the same in the whole script
	hugeLength = 17 << 20
	fairLength = 32 << 10 // elsewhere
)

// LongText returns n plain characters.
func LongText(n int) string { return strings.Repeat("a", n) }
