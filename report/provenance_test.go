package report

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A finding says how its input came to be, and whether it was minimised.
func TestProvenance(t *testing.T) {
	for want, f := range map[string]teasel.Finding{
		"a seed, execution 3 of worker 0, not minimised": {Stage: "seeds", Execution: 3, Original: []byte("ab"), Input: []byte("ab")},
		"made by havoc from testcase 0a, 1 byte at 5 replaced by 1, after 3.5s, execution 9 of worker 1, minimised from 4 to 2 bytes": {Stage: "havoc", Parent: "0a",
			Change: "1 byte at 5 replaced by 1", Found: 3500 * time.Millisecond, Execution: 9, Worker: 1, Original: []byte("abcd"), Input: []byte("ab"), Minimal: true},
		"made by generate, execution 0 of worker 0, minimised: 1 bytes are the least":                      {Stage: "generate", Original: []byte("a"), Input: []byte("b"), Minimal: true},
		"made by late, execution 0 of worker 0, made shorter, from 2 to 1 bytes; not minimised to the end": {Stage: "late", Original: []byte("ab"), Input: []byte("b")},
		"execution 0 of worker 0, depends on no input":                                                     {Static: true},
	} {
		if got := Provenance(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
