package script

import "math/bits"

// Work in bytes on the wire, which is what most of the time of most servers goes with.
const (
	messageWork = 256
	aloneWork   = 16 << 10 // the server idles before and after it
)

// Work returns how much there was to do for the script: a power of two, so that a date in an answer makes no difference to it. alone
// says that nothing else was in flight.
func (t *Transcript) Work(alone bool) uint64 {
	n := uint64(messageWork * (len(t.Sent) + len(t.Received)))
	for i := range t.Sent {
		n += uint64(len(t.Sent[i].Raw))
	}
	for i := range t.Received {
		n += uint64(len(t.Received[i].Raw))
	}
	if alone {
		n += aloneWork
	}
	return 1 << bits.Len64(n)
}

// Executions returns how many requests were answered, given up or cancelled.
func (t *Transcript) Executions() (n uint32) {
	for i := range t.Sent {
		if s := &t.Sent[i]; s.Answer >= 0 || s.Withdrawn || s.Regular && t.Hung {
			n++
		}
	}
	return n
}
