package pipe_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
)

const workerEnv = "TEASEL_TEST_PIPE_WORKER"

// TestMain is the worker process too: it takes seeds, and does with the first one what that says.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) == "" {
		os.Exit(m.Run())
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work() error {
	rw, err := pipe.Inherit(3, 4)
	if err != nil {
		return err
	}
	x, err := pipe.Dial(context.Background(), rw, pipe.Config{})
	if err != nil {
		return err
	}
	got, err := x.Sync(context.Background(), teasel.News{WantsSeeds: true})
	if err != nil {
		return err
	}
	switch order := string(got.Entries[0].Data); order {
	case "die":
		os.Exit(7)
	case "freeze":
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(time.Minute) // another thread may be the one that takes the signal, a moment later
	}
	if _, err := x.Sync(context.Background(), teasel.News{Executions: 5, Leaving: true}); err != nil {
		return err
	}
	return x.Close()
}

// leaks fails the test if goroutines are left when it ends.
func leaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	})
}

// serve serves a worker in the background.
func serve(ctx context.Context, rw io.ReadWriteCloser, x teasel.Exchange, c pipe.Config) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- pipe.Serve(ctx, rw, x, c) }()
	return func() error { return <-done }
}

func seeded(seeds ...string) *teasel.Hub {
	h := &teasel.Hub{}
	for _, s := range seeds {
		h.Seed([]byte(s))
	}
	return h
}

// News, replies and the end of a campaign pass in both directions.
func TestPipe(t *testing.T) {
	leaks(t)
	h := seeded("seed")
	h.Pause = &teasel.Pause{}
	if _, err := h.Join().Sync(t.Context(), teasel.News{Unstable: []teasel.Feature{4}, Entries: []teasel.Entry{{Key: "k", Data: []byte{1},
		Runs: 2, Note: []byte{3}, Features: teasel.NewFeatureSet(1, 1<<63)}}}); err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	wait := serve(t.Context(), far, h.Join(), pipe.Config{})
	x, err := pipe.Dial(t.Context(), near, pipe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	finding := teasel.Finding{Rule: "r", Severity: teasel.High, Input: []byte{0, 1}, Stable: 1, Tries: 3}
	got, err := x.Sync(t.Context(), teasel.News{Executions: 7, Findings: []teasel.Finding{finding}})
	if err != nil || len(got.Entries) != 1 || got.Entries[0].Features != teasel.NewFeatureSet(1, 1<<63) || len(got.Unstable) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err = x.Sync(t.Context(), teasel.News{WantsSeeds: true}); err != nil || len(got.Entries) != 1 || string(got.Entries[0].Data) != "seed" {
		t.Fatalf("got %+v, %v", got, err)
	}
	h.Pause.Set(true)
	if got, err := x.Sync(t.Context(), teasel.News{}); err != nil || !got.Wait {
		t.Errorf("paused: %+v, %v", got, err)
	}
	h.Stop("stopped")
	if got, err := x.Sync(t.Context(), teasel.News{}); err != teasel.ErrStop || got.Stopped != "stopped" {
		t.Errorf("after stop: %+v, %v", got, err)
	}
	if _, err := x.Sync(t.Context(), teasel.News{Leaving: true}); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if err := errors.Join(x.Close(), wait()); err != nil {
		t.Error(err)
	}
	if s := h.Summary(); s.Executions != 7 || len(s.Findings) != 1 || s.Findings[0].Input[1] != 1 || s.Findings[0].Severity != teasel.High {
		t.Errorf("summary %+v", s)
	}
	if _, err := x.Sync(t.Context(), teasel.News{}); err == nil {
		t.Error("a closed connection can be used")
	}
}

// The hub's errors reach the worker.
func TestErrorOfTheHub(t *testing.T) {
	leaks(t)
	near, far := net.Pipe()
	wait := serve(t.Context(), far, exchangeFunc(func(context.Context, teasel.News) (teasel.Reply, error) {
		return teasel.Reply{}, errors.New("the disk is full")
	}), pipe.Config{})
	x, err := pipe.Dial(t.Context(), near, pipe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Sync(t.Context(), teasel.News{}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(x.Close(), wait()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("serving: %v", err)
	}
}

type exchangeFunc func(context.Context, teasel.News) (teasel.Reply, error)

func (f exchangeFunc) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	return f(ctx, n)
}

// A worker that says nothing, before the greeting or after it, does not block its parent, nor does one whose parent gives up.
func TestHungWorker(t *testing.T) {
	for _, test := range []struct {
		name   string
		greets bool
		cancel bool
		want   string
	}{
		{"before the greeting", false, false, "no sign of life"},
		{"after the greeting", true, false, "no sign of life"},
		{"cancelled before the greeting", false, true, "context canceled"},
		{"cancelled", true, true, "context canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			near, far := net.Pipe()
			defer near.Close()
			h := seeded("seed")
			c := pipe.Config{Silence: 50 * time.Millisecond}
			if test.cancel {
				c.Silence = time.Hour
			}
			wait := serve(ctx, far, h.Join(), c)
			if test.greets {
				fmt.Fprint(near, "teasel-pipe 1 -\n")
				if line, err := bufio.NewReader(near).ReadString('\n'); err != nil || !strings.HasPrefix(line, "teasel-pipe 1 ") {
					t.Errorf("greeted by %q, %v", line, err)
				}
			}
			if test.cancel {
				cancel()
			}
			if err := wait(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// A worker does not wait for a parent that is hung or gone.
func TestHungParent(t *testing.T) {
	leaks(t)
	for _, gone := range []bool{false, true} {
		near, far := net.Pipe()
		go func() {
			r := bufio.NewReader(far)
			_, _ = r.ReadString('\n')
			fmt.Fprint(far, "teasel-pipe 1 -\n")
			if gone {
				far.Close()
			}
		}()
		c := pipe.Config{Silence: 50 * time.Millisecond}
		if gone {
			c.Silence = time.Hour
		}
		x, err := pipe.Dial(t.Context(), near, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Sync(t.Context(), teasel.News{}); err == nil {
			t.Error("a call without an answer has succeeded")
		}
		if err := errors.Join(x.Close(), far.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Ends that do not fit say so, both of them.
func TestVersions(t *testing.T) {
	leaks(t)
	for _, test := range []struct{ worker, parent, want string }{
		{"v1.2.3", "v1.2.4", "teasel v1.2.3 here, teasel v1.2.4 there"},
		{"v1.2.3", "v1.2.3", ""},
		{"v1.2.3", "", ""}, // a program that is being developed has no version
	} {
		near, far := net.Pipe()
		wait := serve(t.Context(), far, seeded().Join(), pipe.Config{Version: test.parent})
		x, err := pipe.Dial(t.Context(), near, pipe.Config{Version: test.worker})
		if test.want == "" {
			if err != nil {
				t.Errorf("%v: %v", test, err)
				continue
			}
			if _, err := x.Sync(t.Context(), teasel.News{Leaving: true}); err != nil {
				t.Error(err)
			}
			if err := errors.Join(x.Close(), wait()); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, pipe.ErrVersion) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("worker: %v", err)
		}
		if err := wait(); !errors.Is(err, pipe.ErrVersion) || !strings.Contains(err.Error(), "teasel v1.2.4 here, teasel v1.2.3 there") {
			t.Errorf("parent: %v", err)
		}
	}
}

// What greets in another way is no worker.
func TestGreeting(t *testing.T) {
	leaks(t)
	for greeting, want := range map[string]string{
		"teasel-pipe 2 v9.0.0\n":  "protocol 1 of teasel - here, protocol 2 of teasel v9.0.0 there",
		"PASS\n":                  `expected "teasel-pipe", found "PASS`,
		"teasel-pipe x y\n":       `expected "teasel-pipe"`,
		strings.Repeat("x", 9999): `expected "teasel-pipe", found "xxxx`,
		"":                        io.ErrUnexpectedEOF.Error(),
	} {
		near, far := net.Pipe()
		wait := serve(t.Context(), far, seeded().Join(), pipe.Config{Version: "-"})
		go func() {
			_, _ = io.WriteString(near, greeting)
			if greeting != "" {
				_, _ = io.Copy(io.Discard, near)
			}
			near.Close()
		}()
		if err := wait(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", greeting, err, want)
		}
	}
}

// heldStream is a stream whose writes wait, once it is held.
type heldStream struct {
	net.Conn
	held    atomic.Bool
	writing chan bool
	release chan bool
}

func (s *heldStream) Write(b []byte) (int, error) {
	if s.held.Swap(false) {
		s.writing <- true
		<-s.release
	}
	return s.Conn.Write(b)
}

// What is news in a call that was given up before it was sent comes with the next one, once.
func TestNewsOfAnAbandonedCall(t *testing.T) {
	leaks(t)
	h := seeded()
	near, far := net.Pipe()
	wait := serve(t.Context(), far, h.Join(), pipe.Config{})
	held := &heldStream{Conn: near, writing: make(chan bool), release: make(chan bool)}
	x, err := pipe.Dial(t.Context(), held, pipe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	news := func(subject string) teasel.News {
		return teasel.News{Executions: 1, Stages: []teasel.StageStats{{Name: "havoc", Executions: 1}}, Finished: []uint64{1},
			Findings: []teasel.Finding{{Rule: "r", Subject: subject, Severity: teasel.High, Stable: 3, Tries: 3, Occurrences: 1}}}
	}
	held.held.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-held.writing
		cancel()
	}()
	for _, subject := range []string{"being sent", "not sent"} {
		if _, err := x.Sync(ctx, news(subject)); !errors.Is(err, context.Canceled) {
			t.Errorf("a call whose context has ended: %v", err)
		}
	}
	held.release <- true
	last := news("last")
	last.Leaving = true
	if _, err := x.Sync(t.Context(), last); err != nil {
		t.Errorf("the last call: %v", err)
	}
	if err := errors.Join(x.Close(), wait()); err != nil {
		t.Error(err)
	}
	s := h.Summary()
	if s.Executions != 3 || len(s.Findings) != 3 || len(s.Stages) != 1 || s.Stages[0].Executions != 3 {
		t.Errorf("%d executions, findings %v, stages %v; want three of each", s.Executions, s.Findings, s.Stages)
	}
}

// A worker that has left and does not close the connection is not waited for.
func TestWorkerLeavesItOpen(t *testing.T) {
	leaks(t)
	near, far := net.Pipe()
	wait := serve(t.Context(), far, seeded().Join(), pipe.Config{Silence: 50 * time.Millisecond})
	x, err := pipe.Dial(t.Context(), near, pipe.Config{Silence: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Sync(t.Context(), teasel.News{Leaving: true}); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if err := errors.Join(wait(), x.Close()); err != nil {
		t.Error(err)
	}
}

// When a call is given up, what its reply brings comes with the next one.
func TestAbandonedCall(t *testing.T) {
	leaks(t)
	near, far := net.Pipe()
	entered, proceed, calls := make(chan bool), make(chan bool), 0
	wait := serve(t.Context(), far, exchangeFunc(func(context.Context, teasel.News) (teasel.Reply, error) {
		if calls++; calls == 1 {
			entered <- true
			<-proceed
		}
		return teasel.Reply{Entries: []teasel.Entry{{Key: fmt.Sprint(calls)}}}, nil
	}), pipe.Config{})
	x, err := pipe.Dial(t.Context(), near, pipe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	if _, err := x.Sync(ctx, teasel.News{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the call that was given up: %v", err)
	}
	proceed <- true
	got, err := x.Sync(t.Context(), teasel.News{Leaving: true})
	if err != nil || len(got.Entries) != 2 || got.Entries[0].Key != "1" || got.Entries[1].Key != "2" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := errors.Join(x.Close(), wait()); err != nil {
		t.Error(err)
	}
}

// process runs a worker process to its end and returns what Serve does.
func process(t *testing.T, x teasel.Exchange, c pipe.Config) error {
	down, toWorker, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromWorker, up, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"=1")
	cmd.ExtraFiles, cmd.Stderr = []*os.File{down, up}, os.Stderr
	err = cmd.Start()
	if e := errors.Join(down.Close(), up.Close()); err != nil || e != nil {
		t.Fatal(err, e)
	}
	err = pipe.Serve(t.Context(), pipe.Files(fromWorker, toWorker), x, c)
	_ = cmd.Process.Kill() // a frozen one would stay
	_ = cmd.Wait()         // how it ended is what the tests are about
	return err
}

// A worker process that dies or freezes is noticed, and what it had goes to the next one.
func TestProcesses(t *testing.T) {
	leaks(t)
	h := seeded("die", "freeze", "leave")
	reported := false
	c := pipe.Config{Died: func() teasel.News {
		reported = true
		return teasel.News{Executions: 1}
	}}
	var died int
	for range 10 {
		if h.Summary().Waiting == 1 {
			break
		}
		c.Silence = time.Minute
		if died >= 3 {
			c.Silence = 2 * time.Second // the first seed has been given up, and the next one freezes
		}
		err := process(t, h.Join(), c)
		if want := "unexpected EOF"; died < 3 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("worker %d: %v, want %s", died, err, want)
		}
		if want := "no sign of life for 2s"; died >= 3 && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("worker %d: %v, want %s", died, err, want)
		}
		died++
	}
	if died != 5 || !reported {
		t.Errorf("%d workers have died, reported %v", died, reported)
	}
	if err := process(t, h.Join(), pipe.Config{}); err != nil {
		t.Error(err)
	}
	if s := h.Summary(); s.Executions != 5+5 || s.Waiting != 0 {
		t.Errorf("%d executions, %d seeds are waiting", s.Executions, s.Waiting)
	}
}
