package native

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// What a thread was seen to do most of the time names the fault, though one look broke off within the runtime.
func TestStackOfLooks(t *testing.T) {
	stack := func(functions ...string) (s triage.Stack) {
		for _, f := range functions {
			s = append(s, triage.Frame{Function: f})
		}
		return s
	}
	whole := func(f string) triage.Stack { return stack(f, "hold", "LLVMFuzzerTestOneInput", "main", "_start") }
	h := thread{stacks: []triage.Stack{stack("write_shadow"), whole("memset"), whole("malloc"), whole("memset")}}
	if top := h.stack().Top(); top == nil || top.Function != "hold" {
		t.Errorf("it is in %v, want hold", top)
	}
	h.stacks = []triage.Stack{whole("memset"), stack("other", "main", "_start")}
	if top := h.stack().Top(); top == nil || top.Function != "main" {
		t.Errorf("it is in %v, want main", top)
	}
}
