package native

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// ofMemory are the rules of which one access breaks this one or that, by where it goes.
var ofMemory = [...]string{ruleHeap, ruleStack, ruleGlobal, ruleFreed, ruleScope, ruleDouble, ruleBadFree, ruleJump, ruleSegv, ruleNull, ruleSanitizer}

// place names the access by all of the target's own calls that led to it, each with its line and column; "" if it is none
// of memory, or not known so well.
func (c *Crash) place() string {
	top := c.top()
	if top == nil || top.Line == 0 || c.late() || !slices.Contains(ofMemory[:], c.Rule) {
		return ""
	}
	h := sha256.New()
	for _, f := range c.Stack {
		if !f.foreign() {
			fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\n", f.Function, f.File, f.Line, f.column)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
