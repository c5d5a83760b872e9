package plantedtest

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// planted is the server's program, built once for all tests.
var planted string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "plantedtest-")
		if err == nil {
			defer os.RemoveAll(dir)
			planted, err = Build(context.Background(), dir, Planted)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// TestConformance compares every reply of the clean twin with the one that the specification requires.
func TestConformance(t *testing.T) {
	pairs := 0
	for _, sc := range readScripts(t, "testdata/conformance.txt") {
		for _, st := range sc.steps {
			if st.verb == ">" {
				pairs++
			}
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			sc.run(t, start(t, planted, "-bugs", "none"), false)
		})
	}
	if pairs < 80 {
		t.Errorf("the scripts send %d messages, want at least 80", pairs)
	}
}
