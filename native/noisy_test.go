package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestNoisyOutput: no write fails, however much a program writes, and a crash has the end of the output.
func TestNoisyOutput(t *testing.T) {
	for mode, compiler := range map[string]string{native.ModeBlackBox: "gcc", native.ModeAFL: "afl-clang-fast"} {
		t.Run(mode, func(t *testing.T) {
			ex := start(t, native.Target{Command: []string{aflBuild(t, compiler, "noisy.c")}, Mode: mode})
			for range 3 {
				if o := exec1(t, ex, teasel.Ask{}, "quiet"); o.Exit != teasel.ExitOK {
					t.Errorf("%v: %s", o.Exit, o.Detail)
				}
			}
			o := exec1(t, ex, teasel.Ask{}, "bug")
			if c, ok := o.Evidence.(*native.Crash); !ok || c.Rule != "native/abort" || !strings.HasSuffix(c.Report, "nnn"+"the end") {
				t.Errorf("%v: %s, %d bytes of report", o.Exit, o.Detail, len(o.Detail))
			}
		})
	}
}
