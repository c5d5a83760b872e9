package mcp

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// capture returns a string that stands for the value at a JSON pointer in the result of an earlier step. The pointer may
// end in "#N" for the N-th token of the text there.
func capture(step int, pointer string) *mutate.JSON {
	return mutate.NewString("@{" + strconv.Itoa(step) + ":" + pointer + "}")
}

// The canary file, by its absolute path, by a relative one and as a URI, and its directory.
const (
	canaryPath     = "@{canary}"
	canaryRelative = "@{canary:rel}"
	canaryURI      = "@{canary:uri}"
	canaryDir      = "@{canary:dir}"
	canarySibling  = "@{canary:sibling}"     // a file in a directory beside an allowed one, by its absolute path
	canarySibRel   = "@{canary:rel-sibling}" // and as seen from the allowed one
	canaryLink     = "@{canary:link}"        // a file by way of a symbolic link in an allowed directory
)

// hugeText stands for a text that is longer than the limits that servers have: so long it is in a script of [CheckLarge] only,
// since most of what mutators make of it would be a waste of time.
const (
	hugeText   = "@{huge}"
	hugeLength = 17 << 20
	fairLength = 32 << 10 // elsewhere
)

// longText returns n plain characters.
func longText(n int) string { return strings.Repeat("a", n) }
