package script

import "testing"

// TestMemoryOfCopies: scripts are copied into the same memory again and again, and one that was large once must not keep what
// that took for ever.
func TestMemoryOfCopies(t *testing.T) {
	line := func(n int) Step { return Step{Line: make([]byte, n)} }
	const long = 10 * keptLine
	dst := Copy(Script{}, Script{Steps: []Step{line(long), line(long)}})
	dst = Copy(dst, Script{Steps: []Step{line(10)}})
	for i, s := range dst.Steps[:2] {
		if cap(s.Line) > keptLine {
			t.Errorf("step %d keeps %d bytes", i, cap(s.Line))
		}
	}
	same := Copy(Script{}, Script{Steps: []Step{line(long)}})
	if n := testing.AllocsPerRun(10, func() { same = Copy(same, Script{Steps: same.Steps[:1]}) }); n > 0 {
		t.Errorf("a script of the same size costs %v allocations", n)
	}
}
