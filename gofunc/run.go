package gofunc

import (
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"sync"
	"testing"
	"unsafe"

	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// runner calls the test for one input after another. A test may end its goroutine, by t.Fatal or t.Skip, so it does not
// run on the engine's: it has a coroutine, which costs a tenth of what handing over to a goroutine does. One testing.T serves
// many inputs, until one of them leaves something behind in it.
type runner struct {
	parent  *testing.T
	check   func(t *testing.T, in unsafe.Pointer)
	fields  fields
	session *session
	runs    int
	next    func() (struct{}, bool)
	stop    func()

	mallocs func() uint64  // objects that were ever allocated; nil: nobody wants to know
	in      unsafe.Pointer // of the present call
	objects uint64         // that the present call has allocated
	ended   bool           // it returned
	text    string         // of a panic, or of a test that has ended its goroutine; "": neither
	goexit  bool
	skipped bool // the test has skipped it
}

// sessionRuns is how many inputs a testing.T serves at most.
const sessionRuns = 1 << 10

// session is a subtest whose testing.T is in use elsewhere.
type session struct {
	t     *testing.T
	over  chan struct{} // closed to end it
	ended chan struct{} // closed when it has
}

func newSession(parent *testing.T) *session {
	s := &session{over: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan *testing.T)
	go func() {
		defer close(s.ended)
		parent.Run("input", func(t *testing.T) {
			ready <- t
			<-s.over
		})
	}()
	s.t = <-ready
	return s
}

// close ends the subtest; what the test has registered with Cleanup runs now.
func (s *session) close() {
	close(s.over)
	<-s.ended
}

// ready makes what a call needs. Package testing works for that, which must not count as something that the input reaches.
func (r *runner) ready() {
	if r.session == nil {
		r.session = newSession(r.parent)
	}
	if r.next == nil {
		r.next, r.stop = iter.Pull(r.loop)
	}
}

// run calls the test. What it leaves to be done at its end, functions registered with Cleanup, is done in settle, of which pending says
// that it is part of what the input reaches.
func (r *runner) run(in unsafe.Pointer) (pending bool) {
	r.in, r.ended, r.text, r.goexit = in, false, "", false
	r.next()
	return r.fields.used(r.session.t)
}

// settle ends a session that cannot serve another call, and returns what package testing would print of a failure; "" if the test passed
// or was skipped.
func (r *runner) settle() (failure string) {
	t := r.session.t
	failed := t.Failed()
	r.skipped = t.Skipped() && !failed
	if r.goexit {
		r.abandon()
	}
	switch r.runs++; {
	case r.text != "":
		failure = r.text
	case failed:
		failure = r.fields.output(t)
	}
	if failed || r.goexit || r.text != "" || r.runs%sessionRuns == 0 || r.fields.used(t) {
		s := r.session
		r.session = nil
		s.close()
		if failure == "" && s.t.Failed() { // a function registered with Cleanup has failed it
			failure = r.fields.output(s.t)
		}
	} else {
		r.fields.forget(t)
	}
	return failure
}

// loop is the coroutine.
func (r *runner) loop(yield func(struct{}) bool) {
	for {
		r.call(yield)
		if !yield(struct{}{}) {
			return
		}
	}
}

func (r *runner) call(yield func(struct{}) bool) {
	before := r.allocated()
	defer func() {
		r.objects = r.allocated() - before
		if r.ended {
			return
		}
		if p := recover(); p != nil {
			r.text = fmt.Sprintf("panic: %v\n\n%s", p, debug.Stack())
			return
		}
		if t := r.session.t; !t.Failed() && !t.Skipped() { // neither t.FailNow nor t.Skip ends it, or those of another test
			r.text = judge.NoReturn + "\n\n" + string(debug.Stack())
		}
		// The goroutine is ending and nothing can keep it. The engine gets its result from here, and lets the rest of
		// the end happen elsewhere.
		r.goexit = true
		yield(struct{}{})
	}()
	r.check(r.session.t, r.in)
	r.ended = true
}

func (r *runner) allocated() uint64 {
	if r.mallocs == nil {
		return 0
	}
	return r.mallocs()
}

// abandon lets the coroutine come to its end. The end is passed on to whoever waits for it, so that is a goroutine of its
// own.
func (r *runner) abandon() {
	stop := r.stop
	r.next, r.stop = nil, nil
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop()
	}()
	<-done
}

func (r *runner) close() {
	if r.stop != nil {
		r.stop()
		r.next, r.stop = nil, nil
	}
	if r.session != nil {
		r.session.close()
		r.session = nil
	}
}

// fields says where a testing.T keeps what it does not show. Where a Go version has no such field, each input gets a
// testing.T of its own, which is slow and as right.
type fields struct {
	mu, out, cleanups uintptr
	known             bool
}

func findFields() (f fields) {
	common, ok := reflect.TypeFor[testing.T]().FieldByName("common")
	if !ok || common.Offset != 0 {
		return f
	}
	mu, ok := common.Type.FieldByName("mu")
	if !ok || mu.Type != reflect.TypeFor[sync.RWMutex]() {
		return f
	}
	out, ok := common.Type.FieldByName("output")
	if !ok || out.Type != reflect.TypeFor[[]byte]() {
		return f
	}
	cleanups, ok := common.Type.FieldByName("cleanups")
	if !ok || cleanups.Type != reflect.TypeFor[[]func()]() {
		return f
	}
	return fields{mu.Offset, out.Offset, cleanups.Offset, true}
}

// output returns what the test has logged.
func (f *fields) output(t *testing.T) string {
	if !f.known {
		return "the test failed"
	}
	if out := *(*[]byte)(unsafe.Add(unsafe.Pointer(t), f.out)); len(out) > 0 {
		return string(out)
	}
	return "the test failed"
}

// forget drops what the test has logged, so that the failure of a later input is not told with it.
func (f *fields) forget(t *testing.T) {
	out := (*[]byte)(unsafe.Add(unsafe.Pointer(t), f.out))
	if len(*out) > 0 {
		mu := (*sync.RWMutex)(unsafe.Add(unsafe.Pointer(t), f.mu)) // a goroutine that the test has left behind may log
		mu.Lock()
		*out = (*out)[:0]
		mu.Unlock()
	}
}

// used reports whether the test has left something to be done at its end.
func (f *fields) used(t *testing.T) bool {
	return !f.known || len(*(*[]func())(unsafe.Add(unsafe.Pointer(t), f.cleanups))) > 0
}
