package agent

import (
	"errors"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// runner is the one that runs inputs in this process.
type runner struct {
	fds      [3]int // requests, answers, shared memory
	m        *Memory
	counters []byte
	kinds    []Kind
	loop     []any // the arguments that stand for all inputs of a batch

	next     uint32 // the slot to run
	open     bool   // an input runs, or has run and was not judged
	touched  atomic.Bool
	returned bool // from the fuzz target that is open
	skipped  bool // the testing.T that ended last was skipped
	began    time.Time
	copied   []byte // what a target that takes bytes works on
	parts    [][]byte
	news     novelty
}

var process = newRunner(os.Getenv(Environment), os.Getenv(TypesEnvironment))

func newRunner(fds, types string) *runner {
	if fds == "" {
		return nil
	}
	w := &runner{kinds: ParseKinds(types), copied: []byte{}}
	for i, text := range strings.Split(fds, ",") {
		if n, err := strconv.Atoi(text); err == nil && i < len(w.fds) {
			w.fds[i] = n
		}
	}
	w.loop = []any{&Loop{w}}
	return w
}

// On reports whether the process was started by teasel.
func On() bool { return process != nil }

// Describing reports whether the process was started to say what its fuzz test is.
func Describing() bool { return process != nil && process.m == nil && process.fds[1] == 0 }

// Touch notes that a testing.T was used for what binds it to one input, such as its context.
func Touch() {
	if process != nil {
		process.touched.Store(true)
	}
}

// Ended is called where package testing has run an input, or the inputs of a [Loop], with one testing.T: skipped says what that has come to.
func Ended(skipped bool) {
	if process != nil {
		process.skipped = skipped
	}
}

// Begin and Returned are called where package testing resets and takes coverage, in the goroutine of the fuzz target. Within
// a [Loop] they do nothing but for the last input of a testing.T, which may end by a panic or runtime.Goexit.
func Begin() {
	if process != nil && process.m != nil {
		clear(process.counters)
		process.begin()
	}
}

// Returned notes that the fuzz target has returned: what comes is the functions of T.Cleanup, and what package testing does itself.
func Returned() {
	if process != nil {
		process.returned = process.open
	}
}

// End judges the input that runs, if its fuzz target has returned. It is called where package testing is about to report, which subtests come
// to as well.
func End() {
	if process != nil && process.open && process.returned {
		process.end()
	}
}

// Serve runs batches until the parent goes away. run runs one input with a testing.T of its own and returns what the
// test said if it failed; if the arguments are a [Loop], it runs as many inputs as one testing.T may serve. fast says
// whether run knows of that.
func Serve(counters []byte, fast bool, run func(arguments []any) error) error {
	w := process
	if err := w.attach(counters); err != nil {
		return err
	}
	MarkFailures()
	for {
		if ok, err := w.request(); err != nil || !ok {
			return err
		}
		w.batch(fast, run)
		if err := w.answer(); err != nil {
			return err
		}
	}
}

// attach maps the shared memory.
func (w *runner) attach(counters []byte) error {
	size := os.Getpagesize()
	b, err := syscall.Mmap(w.fds[2], 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	h := (*Header)(unsafe.Pointer(&b[0]))
	magic, version, whole, n := h.Magic, h.Version, h.Size, int(h.Counters)
	if err := syscall.Munmap(b); err != nil {
		return err
	}
	if magic != Magic || version != Version || n != len(counters) {
		return errors.New("the shared memory is of another version of teasel, or of another test")
	}
	if b, err = syscall.Mmap(w.fds[2], 0, int(whole), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
		return err
	}
	w.m, w.counters = Over(b), counters
	w.news.m = w.m
	recorder.attach(w.m)
	return nil
}

// request waits for the next batch. False: the parent is gone.
func (w *runner) request() (bool, error) {
	var b [1]byte
	for {
		n, err := syscall.Read(w.fds[0], b[:])
		if err != syscall.EINTR {
			return n == 1 && err == nil, nil
		}
	}
}

func (w *runner) answer() error {
	for {
		_, err := syscall.Write(w.fds[1], []byte{0})
		if err != syscall.EINTR {
			return err
		}
	}
}

// batch runs inputs up to the first that fails.
func (w *runner) batch(fast bool, run func([]any) error) {
	m := w.m
	w.next, m.MessageLength, m.FeaturesUsed, m.OperandsUsed = m.From, 0, 0, 0
	defer limitStack(int(m.MaxStack))()
	for w.next < m.Count {
		m.Lives++
		first := w.next
		w.touched.Store(false)
		w.skipped = false
		arguments := w.loop
		if !fast {
			arguments = w.arguments(nil)
		}
		err := run(arguments)
		if w.open { // the test ended the goroutine in a way that skips deferred calls, or goes on in another one
			w.end()
		}
		if w.next == first { // it did not come to the target
			w.next++
		}
		last := &m.Slot[w.next-1]
		switch {
		case err != nil:
			last.Verdict = VerdictFailed
		case w.skipped:
			last.Verdict = VerdictSkipped
		default:
			last.Verdict = VerdictPassed
		}
		if err != nil {
			m.MessageLength = uint32(copy(m.Message, Shorten(err.Error(), len(m.Message))))
			break
		}
	}
	atomic.StoreUint32(&m.Done, w.next)
}

// begin notes that the next input runs.
func (w *runner) begin() {
	m := w.m
	atomic.StoreUint32(&m.Current, w.next)
	s := &m.Slot[w.next]
	s.FeatureFirst, s.FeatureCount, s.OperandFirst, s.OperandCount = m.FeaturesUsed, 0, m.OperandsUsed, 0
	s.Trace, s.Work, s.Nanoseconds, s.Verdict = 0, 0, 0, VerdictNone
	w.open, w.returned = true, false
	m.StatesCount = 0
	if s.Ask == 0 {
		return
	}
	if s.Ask&AskTrace != 0 {
		w.began = time.Now()
	}
	if s.Ask&AskOperands != 0 {
		recorder.begin()
	}
}

// end judges the input that runs.
func (w *runner) end() {
	w.open = false
	m, s, j := w.m, &w.m.Slot[w.next], &w.news
	if s.Ask&AskOperands != 0 {
		recorder.end()
		s.OperandCount = m.OperandsUsed - s.OperandFirst
	}
	if s.Ask&AskTrace != 0 {
		s.Nanoseconds = uint64(time.Since(w.began))
	}
	j.slot, j.ask, j.length, j.work, j.trace = s, s.Ask, uint16(min(s.Length, 1<<16-1)), 0, 0
	j.scan(w.counters)
	j.states()
	s.Trace, s.Work = j.trace, j.work
	w.next++
}

// input returns the bytes of the next input, which are not to be written to.
func (w *runner) input() []byte {
	s := &w.m.Slot[w.next]
	from := s.Offset - w.m.Inputs
	return w.m.Input[from:][:s.Length:s.Length]
}

// private returns a copy of b that the target may write to until the next call. It is never nil; see
// [Kind.Value].
func (w *runner) private(b []byte) []byte {
	w.copied = append(w.copied[:0], b...)
	return w.copied[:len(b):len(b)]
}

// arguments appends the values of the next input.
func (w *runner) arguments(values []any) []any {
	w.parts = Split(w.kinds, w.private(w.input()), w.parts[:0])
	for i, k := range w.kinds {
		values = append(values, k.Value(w.parts[i]))
	}
	return values
}

// Loop is an argument that stands for all inputs of a batch.
type Loop struct{ w *runner }

// Run calls the fuzz target with one input after another, until dirty says that what target is the first argument of
// cannot serve another one. A target of one argument that is bytes or a string is called as bytes or text, for speed.
func (l *Loop) Run(target, t reflect.Value, bytes func([]byte), text func(string), dirty func() bool) {
	w := l.w
	single := len(w.kinds) == 1
	arguments := make([]reflect.Value, 1+len(w.kinds))
	arguments[0] = t
	var values []any
	for w.next < w.m.Count {
		if w.open { // the first one: Begin was called by package testing
			w.open = false
		}
		switch {
		case single && bytes != nil:
			b := w.private(w.input())
			w.begin()
			bytes(b)
		case single && text != nil:
			s := string(w.input())
			w.begin()
			text(s)
		default:
			values = w.arguments(values[:0])
			for i := range values {
				arguments[i+1] = reflect.ValueOf(values[i])
			}
			w.begin()
			target.Call(arguments)
		}
		if dirty() || w.touched.Load() {
			return
		}
		w.end()
		w.m.Slot[w.next-1].Verdict = VerdictPassed
	}
}
