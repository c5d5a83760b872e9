package fuzztest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// process is a test binary that runs as a fuzz worker. One goroutine at a time uses it.
type process struct {
	m        *memory
	running  *proc.Process
	home     *isolation.Home
	request  int // our ends of the pipes
	answer   int
	reading  sync.WaitGroup // of its standard output
	watch    *watch
	ready    bool   // to run inputs
	space    uint64 // bytes of address space when it had become so
	confined bool   // it has a limit of its address space, or had when it was ended; see watch
	race     bool   // it maps several times the memory of the program
	gone     bool
	written  int64 // bytes of standard error before the batch
	earlier  int64 // and before the one before it
}

// death is how a test process ended.
type death struct {
	cause  judge.Cause
	status syscall.WaitStatus
	stderr string
	short  bool // a hang that had a part of the time limit
}

// startProcess starts the test binary. It says nothing until the first batch.
func startProcess(t *Target, m *memory) (*process, error) {
	var requests, answers [2]int // what is read and what is written
	if err := syscall.Pipe2(requests[:], syscall.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	if err := syscall.Pipe2(answers[:], syscall.O_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("making a pipe: %w", err), syscall.Close(requests[0]), syscall.Close(requests[1]))
	}
	env := []string{agent.Environment + "=3,4,5", agent.TypesEnvironment + "=" + t.types()}
	env = append(env, overlay.Collector(append(os.Environ(), t.Env...), t.memory())...)
	files := []*os.File{os.NewFile(uintptr(requests[0]), "request"), os.NewFile(uintptr(answers[1]), "answer"), m.file}
	p := &process{m: m, race: t.Race, request: requests[1], answer: answers[0]}
	var err error
	if p.home, err = t.makeHome(); err == nil {
		p.running, err = proc.Start(proc.Command{
			Args:  append([]string{t.Binary}, t.arguments(true)...),
			Env:   slices.Concat(env, p.home.Env(), t.Env, overlay.Races(append(os.Environ(), t.Env...))),
			Dir:   t.Dir,
			Files: files,
			On:    p.home.On(),
			Bound: p.home.On() != nil,
		})
	}
	err = errors.Join(err, files[0].Close(), files[1].Close())
	if err != nil {
		syscall.Close(p.request)
		syscall.Close(p.answer)
		if p.running != nil {
			err = errors.Join(err, p.running.Close())
		}
		return nil, errors.Join(err, p.home.Close())
	}
	p.reading.Go(func() { io.Copy(io.Discard, p.running.Stdout) }) // a full pipe would stop the test
	p.watch = newWatch(p.running.PID(), m, t.memory())
	return p, nil
}

// begin waits until the process is ready to run inputs. What it does before that is part of no input's time.
func (p *process) begin(ctx context.Context) (*death, error) {
	count := p.m.Count
	p.m.Count = p.m.From // an empty batch
	_, died, err := p.run(ctx, startTime)
	p.m.Count = count
	if p.ready = died == nil && err == nil; p.ready {
		p.space = occupied(p.running.PID())
		if !p.race {
			p.watch.space.Store(p.space)
		}
	}
	return died, err
}

// run has the process run the batch. It returns how many slots were run; with a death, the last of them is to blame.
func (p *process) run(ctx context.Context, limit time.Duration) (done int, d *death, err error) {
	m := p.m
	atomic.AddUint32(&m.Round, 1)
	m.Current, m.Done = m.From, m.From
	p.earlier, p.written = p.written, p.running.Written()
	p.watch.begin(limit)
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		syscall.Kill(p.running.PID(), syscall.SIGKILL)
	})
	alive := p.trip()
	cancelled := !stop()
	if cancelled {
		<-killed // its number is its own until it is closed
	}
	cause := p.watch.end()
	switch {
	case cancelled:
		p.gone = true
		return 0, nil, ctx.Err()
	case alive && cause == judge.CauseInvalid:
		return min(int(m.Done), int(m.Count)), nil, nil
	}
	at := min(max(int(atomic.LoadUint32(&m.Current)), int(m.From)), int(m.Count)-1)
	d = &death{cause: cause}
	if cause == judge.CauseInvalid {
		d.cause = judge.CauseProcess
	}
	err = p.close()
	d.status, d.stderr = p.status(), p.stderr()
	return at + 1, d, err
}

// trip asks for the batch and waits until it was run. False: the process has ended.
func (p *process) trip() bool {
	var b [1]byte
	for {
		n, err := syscall.Write(p.request, b[:])
		if err == syscall.EINTR {
			continue
		}
		if n != 1 {
			return false
		}
		break
	}
	for {
		n, err := syscall.Read(p.answer, b[:])
		if err != syscall.EINTR {
			return n == 1
		}
	}
}

// close ends the process and everything that it has started.
func (p *process) close() error {
	if p.gone && p.watch == nil {
		return nil
	}
	p.gone = true
	syscall.Close(p.request)
	p.watch.dog.Stop()
	p.confined = p.confined || p.watch.confined
	p.watch = nil
	err := p.running.Close()
	syscall.Close(p.answer)
	p.reading.Wait()
	return errors.Join(err, p.home.Close())
}

// failure is what a test said of the input that has failed. What the race detector found is on standard error.
func (p *process) failure(test string) *judge.Failure {
	text := p.m.message()
	if strings.Contains(text, "race detected") {
		report, _ := p.running.Stderr(p.written)
		text += strings.ToValidUTF8(string(report), "?")
	}
	return &judge.Failure{Cause: judge.CauseTest, Text: text, Test: test}
}

// status is how a closed process ended.
func (p *process) status() syscall.WaitStatus {
	s := p.running.State()
	if s.Signal != 0 {
		return syscall.WaitStatus(s.Signal)
	}
	return syscall.WaitStatus(max(s.Code, 0) << 8)
}

// stderr is what it has written to standard error in the last batch and the one before it, the end of that: a goroutine that an input has left
// behind may have panicked while that one ended, and the process goes on for a while. With the race detector it is the last batch alone: it may
// have survived the race of an earlier input.
func (p *process) stderr() string {
	from := p.earlier
	if p.race {
		from = p.written
	}
	text, _ := p.running.Stderr(from)
	return strings.ToValidUTF8(string(text), "?")
}
