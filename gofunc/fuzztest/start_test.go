package fuzztest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// What a fuzz test does before F.Fuzz is part of no input's time: it may take longer than an input may.
func TestSlowStart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/slow\n\ngo 1.24\n", "slow_test.go": `package slow

import (
	"testing"
	"time"
)

func FuzzSlow(f *testing.F) {
	time.Sleep(2 * time.Second)
	f.Fuzz(func(t *testing.T, s string) {})
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ex := open(t, &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzSlow", Timeout: time.Second})
	if f := judged(t, ex, []byte("a")); f != nil {
		t.Errorf("%s: %s", f.Rule, f.Message)
	}
	if s, ok := ex.(interface{ Starting() time.Duration }); !ok || s.Starting() == 0 {
		t.Error("the executor does not say how long the process took to start")
	}
}
