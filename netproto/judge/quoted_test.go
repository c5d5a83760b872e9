package judge

import (
	"strconv"
	"testing"
)

// Bytes are shown as bytes, also where they happen to be UTF-8, and can be read back.
func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"": `""`, "a\"\\\n": `"a\"\\\n"`, "\xc5\x81\x00": `"\xc5\x81\x00"`, "é": `"\xc3\xa9"`} {
		got := quoted([]byte(in))
		if back, err := strconv.Unquote(got); got != want || back != in || err != nil {
			t.Errorf("%q: %s, want %s; back %q, %v", in, got, want, back, err)
		}
	}
}
