package agent

import "runtime/debug"

// plainStack is how large the runtime lets a goroutine's stack become, on machines of 64 bits.
const plainStack = 1_000_000_000

// limitStack lets goroutines' stacks become no larger than limit until restore is called; 0: as large as before. A test that sets a limit
// of its own keeps it.
func limitStack(limit int) (restore func()) {
	if limit == 0 {
		return func() {}
	}
	if before := debug.SetMaxStack(limit); before != plainStack {
		debug.SetMaxStack(before)
		return func() {}
	}
	return func() {
		if now := debug.SetMaxStack(plainStack); now != limit {
			debug.SetMaxStack(now)
		}
	}
}
