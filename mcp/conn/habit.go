package conn

import "sync/atomic"

// A habit is what a server does with connections on which nothing is. Some close them after each answer, and do not say so: a request may be
// on its way then, and nobody knows whether it was read.
type habit struct {
	kept   atomic.Int32 // connections that have carried one more request
	closed atomic.Int32 // connections that were found closed
}

// leastClosed is how many connections have to be found closed before that is a habit.
const leastClosed = 4

// closes reports whether connections are mostly closed after an answer.
func (h *habit) closes() bool {
	n := h.closed.Load()
	return n >= leastClosed && n > h.kept.Load()
}
