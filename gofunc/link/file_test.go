package link_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/link"
)

func TestFile(t *testing.T) {
	for _, test := range []struct{ input, file string }{
		{`{"A":1}`, "go test fuzz v1\nstring(`{\"A\":1}`)\n"},
		{"a`b", "go test fuzz v1\nstring(\"a`b\")\n"},
		{"\xff\n", "go test fuzz v1\nstring(\"\\xff\\n\")\n"},
	} {
		if got := string(link.File([]byte(test.input))); got != test.file {
			t.Errorf("the file of %q is %q, want %q", test.input, got, test.file)
		}
		if back, err := link.Input([]byte(test.file)); err != nil || string(back) != test.input {
			t.Errorf("the input in %q is %q, %v", test.file, back, err)
		}
	}
	if in, err := link.Input([]byte(`{"A":1}`)); err != nil || string(in) != `{"A":1}` {
		t.Errorf("bare JSON is read as %q, %v", in, err)
	}
	for _, file := range []string{"go test fuzz v1\nint(3)\n", "go test fuzz v1\nstring(\"a)\n", "go test fuzz v1\n"} {
		if in, err := link.Input([]byte(file)); err == nil || !strings.HasPrefix(err.Error(), "line 2") {
			t.Errorf("%q is read as %q, %v", file, in, err)
		}
	}
}
