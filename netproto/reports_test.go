package netproto

import (
	"context"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// The report of a sanitizer is read although the server has sent its standard error elsewhere, and a server that was started
// again does not show the report of the one before.
func TestReportOfDetachedServer(t *testing.T) {
	bad, clean := plantedSource(t, "detached.c", "clang", "-fsanitize=address"), plantedSource(t, "detached.c", "clang", "-fsanitize=address", "-DCLEAN")
	long := dialogue.Raw([]byte("hello"), []byte(strings.Repeat("a", 40)))
	for _, mode := range [][]string{nil, {"fork"}} {
		for _, program := range []string{bad, clean} {
			e := open(t, Target{Address: "127.0.0.1:{port}", Command: append([]string{program, "{port}"}, mode...)})
			for try := range 2 {
				for _, in := range []*dialogue.Dialogue{long, dialogue.Raw([]byte("short"))} {
					fs, _, err := teasel.Replay(context.Background(), e, Detectors(), in)
					if err != nil {
						t.Fatal(err)
					}
					if program == clean || in != long {
						if len(fs) > 0 {
							t.Errorf("%v: no bug, but %+v", mode, fs)
						}
						continue
					}
					if len(fs) != 1 || fs[0].Rule != judge.RuleMemoryError || !strings.HasPrefix(fs[0].Fault, "keep:18 <") {
						t.Fatalf("%v, try %d: %+v", mode, try, fs)
					}
				}
			}
		}
	}
}
