package program

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestMemoryByHand: a harness that has held too much memory is given the same limits by hand, and another finding's is not.
func TestMemoryByHand(t *testing.T) {
	const target = `{"command":["./h"],"timeout":1000000000,"memory_limit":536870912,"malloc_limit":67108864,"harness":true}`
	for rule, want := range map[string]string{native.MemoryRule: "./h -rss_limit_mb=512 -malloc_limit_mb=64 in", native.RuleUndefined: "UBSAN_OPTIONS=halt_on_error=1 ./h in"} {
		if got := byHand([]byte(target), &teasel.Finding{Rule: rule}, "in"); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// TestSeveralByHand: inputs that run one after another are run so by a harness, and by hand by no other program, as one with __AFL_LOOP.
func TestSeveralByHand(t *testing.T) {
	f := &teasel.Finding{Rule: "native/double-free", Input: []byte("teasel: inputs of one process\n4\nOPEN4\nSHUT")}
	for target, want := range map[string]string{`{"command":["./h"],"harness":true}`: "./h in", `{"command":["./loop"]}`: ""} {
		if got := byHand([]byte(target), f, "in"); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	f.Input = []byte("SHUT")
	if got := byHand([]byte(`{"command":["./loop"]}`), f, "in"); got != "./loop < in" {
		t.Errorf("one input: %q", got)
	}
}
