package pipe

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Config has the settings of one end of a connection. The zero value will do.
type Config struct {
	Version string        // of the module, which has to be the same at both ends; "": that of the program, if it is known
	Silence time.Duration // after which the other end counts as hung; a heartbeat comes four times as often; 0: 30 s

	// Died is called by Serve when the worker has died or is hung, and returns its last news: Worker, of which Number must be the
	// worker's, and what the parent has learned since the worker's last call, such as a finding for its death (in Findings if it
	// was confirmed, else in Unconfirmed). Serve sets Leaving, Died and Pending. The worker's seeds and its errand go to others,
	// unless Finished has the errand's ID. To have the death confirmed by another worker, call [teasel.Hub.Errand]. nil: nothing.
	Died func() teasel.News
}

func (c *Config) silence() time.Duration { return cmp.Or(c.Silence, 30*time.Second) }

// Files returns the stream that reads from r and writes to w. Its Close closes both, which ends calls in progress if the
// files are ends of pipes made by [os.Pipe], or come from [Inherit].
func Files(r, w *os.File) io.ReadWriteCloser { return files{r, w} }

type files struct{ r, w *os.File }

func (f files) Read(b []byte) (int, error)  { return f.r.Read(b) }
func (f files) Write(b []byte) (int, error) { return f.w.Write(b) }
func (f files) Close() error                { return errors.Join(f.w.Close(), f.r.Close()) }

// Inherit returns the stream over two file descriptors that a worker process got from its parent, such as 3 and 4 for
// [os/exec.Cmd.ExtraFiles]. It is called once.
func Inherit(r, w uintptr) (io.ReadWriteCloser, error) {
	var open [2]*os.File
	for i, fd := range []uintptr{r, w} {
		// Only a file that is not blocking when it is made can be closed while it is read.
		if err := syscall.SetNonblock(int(fd), true); err != nil {
			return nil, fmt.Errorf("inheriting file descriptor %d: %w", fd, err)
		}
		open[i] = os.NewFile(fd, fmt.Sprintf("inherited %d", fd))
	}
	return files{open[0], open[1]}, nil
}

// message is what goes in either direction. One without a payload is a heartbeat.
type message struct {
	News  *teasel.News
	Reply *reply
}

type reply struct {
	teasel.Reply
	Stop bool   // with teasel.ErrStop
	Err  string // "": none
}

// line is one end of an open connection: a goroutine that sends, with heartbeats, and one that receives.
type line struct {
	rw   io.ReadWriteCloser
	out  chan message
	in   chan message
	mute chan struct{} // closed when nothing can be sent any more; lost says why
	lost error
	done chan struct{} // closed when the connection has ended; err says why
	err  error
	once sync.Once
	wait sync.WaitGroup
}

var (
	errClosed = errors.New("connection is closed")
	errSilent = errors.New("no sign of life")
)

// open starts the goroutines of a connection whose ends have greeted each other. They end with ctx at the latest.
func open(ctx context.Context, rw io.ReadWriteCloser, r io.Reader, silence time.Duration) *line {
	l := &line{rw: rw, out: make(chan message), in: make(chan message), mute: make(chan struct{}), done: make(chan struct{})}
	alive := make(chan struct{}, 1)
	l.wait.Go(func() { l.send(silence) })
	l.wait.Go(func() { l.receive(r, alive) })
	l.wait.Go(func() { l.watch(ctx, silence, alive) })
	return l
}

// end closes the connection. The first cause is kept.
func (l *line) end(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.done)
		l.rw.Close() // ends what is being read and written
	})
}

// close ends the connection and waits for its goroutines.
func (l *line) close(err error) {
	l.end(err)
	l.wait.Wait()
}

func (l *line) send(silence time.Duration) {
	enc, beat := gob.NewEncoder(l.rw), time.NewTicker(max(silence/4, time.Millisecond))
	defer beat.Stop()
	for {
		var m message
		select {
		case <-l.done:
			return
		case m = <-l.out:
		case <-beat.C:
		}
		if err := enc.Encode(m); err != nil {
			l.lost = fmt.Errorf("sending: %w", err) // what the other end has sent before it went away is still to be received
			close(l.mute)
			return
		}
	}
}

func (l *line) receive(r io.Reader, alive chan<- struct{}) {
	dec := gob.NewDecoder(r)
	for {
		var m message
		if err := dec.Decode(&m); err != nil {
			l.end(fmt.Errorf("receiving: %w", err))
			return
		}
		select {
		case alive <- struct{}{}:
		default:
		}
		if m.News == nil && m.Reply == nil {
			continue
		}
		select {
		case l.in <- m:
		case <-l.done:
			return
		}
	}
}

func (l *line) watch(ctx context.Context, silence time.Duration, alive <-chan struct{}) {
	limit := time.NewTimer(silence)
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			l.end(ctx.Err())
		case <-limit.C:
			l.end(fmt.Errorf("%w for %v", errSilent, silence))
		case <-alive:
			limit.Reset(silence)
		case <-l.done:
			return
		}
	}
}
