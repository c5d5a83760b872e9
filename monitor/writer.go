package monitor

import (
	"io"
	"time"
)

// asyncWriter writes in a goroutine of its own, so that neither a stopped terminal nor a pipe without a reader holds up a campaign. It
// writes nothing more after the first error.
type asyncWriter struct {
	wake chan struct{}
	done chan struct{}
}

// closeTimeout is how long Close waits for the last write.
const closeTimeout = 2 * time.Second

// start begins to write to out what next returns: after each wakeUp, and once more at the end.
func (w *asyncWriter) start(out io.Writer, next func() []byte) {
	w.wake, w.done = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(w.done)
		failed := false
		write := func() {
			if text := next(); len(text) > 0 && !failed {
				_, err := out.Write(text)
				failed = err != nil
			}
		}
		for range w.wake {
			write()
		}
		write()
	}()
}

// wakeUp asks for next to be called soon. It never waits. It must not be called after stop.
func (w *asyncWriter) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default: // next will be called anyway
	}
}

// stop writes what is left, if that takes no longer than closeTimeout.
func (w *asyncWriter) stop() {
	close(w.wake)
	select {
	case <-w.done:
	case <-time.After(closeTimeout):
	}
}
