package script

import (
	"strings"
	"testing"
)

// TestStderrTail: a server that logs its messages, with a picture in one, leaves room for what it says last.
func TestStderrTail(t *testing.T) {
	long := "write: " + strings.Repeat("iVBORw0KGgo", 1000)
	var many strings.Builder
	for range 300 {
		many.WriteString("one more line\r\n")
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", " \n", ""},
		{"short", "a\n\n  b\r\nc", "a\n  b\nc\n"},
		{"long lines", long + "\n" + long + "\npanic: last", long[:200] + " … (11007 bytes in all)\n" + long[:200] + " … (11007 bytes in all)\npanic: last\n"},
		{"many lines", many.String() + "panic: last", strings.Repeat("one more line\n", 133) + "panic: last\n"},
	} {
		if got := stderrTail([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
