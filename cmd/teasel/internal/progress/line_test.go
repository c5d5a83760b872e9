package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLine: nothing is written of what is quick; then a line every few seconds or, in a terminal, one that is written again.
func TestLine(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		steps    []time.Duration // between two things of ten
		want     string
	}{
		"quick":                 {false, []time.Duration{time.Second, time.Second / 2}, ""},
		"a file":                {false, []time.Duration{2 * time.Second, 4 * time.Second, 1500 * time.Millisecond}, "teasel: 1 of 10 inputs, about 18s left, more\nteasel: 2 of 10 inputs, about 28s left, more\n"},
		"one that takes long":   {false, []time.Duration{time.Second, 9500 * time.Millisecond}, "teasel: 1 of 10 inputs, about 18s left, more\nteasel: 1 of 10 inputs, about 1m0s left, more, the next one takes 6s so far\n"},
		"a terminal":            {true, []time.Duration{1500 * time.Millisecond, 600 * time.Millisecond, 10 * time.Millisecond, 90 * time.Millisecond}, "\rteasel: 2 of 10 inputs, about 8s left, more\rteasel: 4 of 10 inputs, about 3s left, more\r" + strings.Repeat(" ", 43) + "\r"},
		"a quick one, terminal": {true, []time.Duration{time.Second}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			l := New(&out, "inputs", 10)
			l.terminal = tt.terminal
			for i, step := range tt.steps {
				time.Sleep(step)
				l.Show(i+1, "more")
			}
			l.Clear()
			if out.String() != tt.want {
				t.Errorf("%s: %q, want %q", name, out.String(), tt.want)
			}
		})
	}
	var none *Line
	none.Show(1, "")
	none.Clear()
}

func TestWait(t *testing.T) {
	for took, want := range map[time.Duration]string{time.Second: "", 3 * time.Second: "teasel: waiting\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			done := Wait(&out, "waiting")
			time.Sleep(took)
			done()
			if out.String() != want {
				t.Errorf("after %v: %q, want %q", took, out.String(), want)
			}
		})
	}
}
