// Package progress shows how far a piece of work has come that takes a while, and how long it may still take.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel/monitor"
	"github.com/teaselfuzz/teasel/view"
)

// Line is the progress of a number of things to do. In a terminal it is one line that is written again and again, and removed in the end;
// elsewhere it is a line every few seconds, also while one of the things takes long. Nothing is shown of what takes less than two seconds.
// After the last call of Show, Clear has to be called. A nil Line shows nothing. It is for one goroutine at a time.
type Line struct {
	w        io.Writer
	terminal bool
	unit     string
	total    int
	began    time.Time
	watching sync.WaitGroup
	stop     chan struct{} // ends the goroutine that writes while one thing takes long; nil: there is none

	mu      sync.Mutex // of the rest
	done    int
	more    string
	changed time.Time // when Show was called last
	last    time.Time // when something was written last
	wrote   bool
	width   int // of what is in the terminal's line; 0: nothing is
}

const (
	quiet      = 2 * time.Second // that nothing is shown
	everyFrame = 100 * time.Millisecond
	everyLook  = time.Second // while one thing takes long
	everyLine  = 5 * time.Second
)

// New returns the progress of so many things, called by their plural.
func New(w io.Writer, unit string, total int) *Line {
	return &Line{w: w, terminal: monitor.Terminal(w) != nil, unit: unit, total: total, began: time.Now()}
}

// Show says how many of the things are done, and what else there is to say; "": nothing.
func (l *Line) Show(done int, more string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.done, l.more, l.changed = done, more, time.Now()
	l.write()
	l.mu.Unlock()
	if l.stop == nil {
		l.stop = make(chan struct{})
		l.watching.Go(func() { l.watch(l.stop) })
	}
}

// watch writes the line anew until stop is closed.
func (l *Line) watch(stop chan struct{}) {
	tick := time.NewTicker(everyLook)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			l.mu.Lock()
			l.write()
			l.mu.Unlock()
		}
	}
}

// write writes the line if it is time.
func (l *Line) write() {
	now := time.Now()
	every := everyLine
	if l.terminal {
		every = everyFrame
	}
	if now.Sub(l.began) < quiet || l.wrote && now.Sub(l.last) < every {
		return
	}
	l.wrote, l.last = true, now
	text := fmt.Sprintf("teasel: %d of %d %s", l.done, l.total, l.unit)
	if left, ok := view.Left(now.Sub(l.began), uint64(max(l.done, 0)), uint64(max(l.total, 0))); ok {
		text += ", about " + left.String() + " left"
	}
	if l.more != "" {
		text += ", " + l.more
	}
	if took := now.Sub(l.changed); took >= quiet {
		text += fmt.Sprintf(", the next one takes %v so far", took.Round(time.Second))
	}
	if !l.terminal {
		fmt.Fprintln(l.w, text)
		return
	}
	fmt.Fprint(l.w, "\r"+text+strings.Repeat(" ", max(0, l.width-len(text))))
	l.width = len(text)
}

// Clear removes the terminal's line, so that something else can be written, and ends what Show has begun.
func (l *Line) Clear() {
	if l == nil {
		return
	}
	if l.stop != nil {
		close(l.stop)
		l.watching.Wait()
		l.stop = nil
	}
	if l.width > 0 {
		fmt.Fprint(l.w, "\r"+strings.Repeat(" ", l.width)+"\r")
		l.width = 0
	}
}

// Wait writes a line that says what is waited for, unless the returned function is called before two seconds have passed. That has to be
// called.
func Wait(w io.Writer, what string) (done func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTimer(quiet)
		defer t.Stop()
		select {
		case <-t.C:
			fmt.Fprintf(w, "teasel: %s\n", what)
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}
