package monitor

import (
	"io"
	"time"
)

// pump writes in a goroutine of its own, so that a terminal that is stopped, or a pipe that nobody reads, holds up
// nobody. After the first error nothing is written any more.
type pump struct {
	wake chan struct{}
	done chan struct{}
}

// patience is how long Close waits for a writer that does not take what is left.
const patience = 2 * time.Second

// start begins to write to w what next returns, whenever there is news and once more at the end.
func (p *pump) start(w io.Writer, next func() []byte) {
	p.wake, p.done = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(p.done)
		failed := false
		write := func() {
			if text := next(); len(text) > 0 && !failed {
				_, err := w.Write(text)
				failed = err != nil
			}
		}
		for range p.wake {
			write()
		}
		write()
	}()
}

// news asks for next to be called soon. It never waits. The caller sees to it that none comes after stop.
func (p *pump) news() {
	select {
	case p.wake <- struct{}{}:
	default: // it will be called anyway
	}
}

func (p *pump) stop() {
	close(p.wake)
	select {
	case <-p.done:
	case <-time.After(patience):
	}
}
