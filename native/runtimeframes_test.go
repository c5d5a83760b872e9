package native

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// TestWithoutRuntime: of a stack there is what is the program's own, wherever in the runtime a run has ended.
func TestWithoutRuntime(t *testing.T) {
	for _, tt := range []struct{ stack, want []string }{
		{[]string{"parse", "LLVMFuzzerTestOneInput", "teasel_child", "main"}, []string{"parse", "LLVMFuzzerTestOneInput"}},
		{[]string{"teasel_number", "chase", "chase", "teasel_run"}, []string{"chase", "chase"}},
		{[]string{"teasel_text", "__wrap_strcmp", "find", "main", "__wrap_main"}, []string{"find", "main"}},
		{[]string{"teasel_of_the_user", "main"}, []string{"teasel_of_the_user", "main"}},
	} {
		var stack triage.Stack
		for _, name := range tt.stack {
			stack = append(stack, triage.Frame{Function: name})
		}
		var got []string
		for _, f := range withoutRuntime(stack) {
			got = append(got, f.Function)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %v: %v, want %v", tt.stack, got, tt.want)
		}
	}
}
