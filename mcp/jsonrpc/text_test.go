package jsonrpc

import "testing"

// A text in quotes is escaped once, and what is left out of it is counted outside of them.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                `"plain"`,
		"\x1b[31mred\u202e \"": `"\x1b[31mred\u202e \""`,
		"\xff":                 `"\xff"`,
		"12345678901éé":        `"12345678901é" … (15 bytes in all)`,
	} {
		if got := Quote(in, 14); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
	if got, want := Cut("\x1b[31mredder than red", 12), `\u001b[31mredder  … (20 bytes in all)`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
