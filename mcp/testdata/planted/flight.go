package main

import (
	"slices"
	"sync"
)

// flight is a request that is answered later, by a goroutine of its own.
type flight struct {
	request *request
	stop    chan struct{} // closed when the client has cancelled it
	gone    bool          // cancelled, under the lock of flights
}

// flightLimit bounds the goroutines that a client can start.
const flightLimit = 64

// flights are the requests in flight, by the value of their id. The zero value is ready.
type flights struct {
	mu   sync.Mutex
	byID map[string][]*flight
	n    int
}

// idKey is the same for ids that are the same value: 1 and 1.0, "é" and its escape.
func idKey(id value) string {
	if id.isString() {
		return `"` + id.str()
	}
	return id.decimal().key()
}

// take puts a request in flight; nil if there are too many already. The request keeps copies of its parts of the line,
// whose memory the next line will take.
func (f *flights) take(r *request) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n >= flightLimit {
		return nil
	}
	if f.byID == nil {
		f.byID = map[string][]*flight{}
	}
	r.id, r.token, r.params = slices.Clone(r.id), slices.Clone(r.token), nil
	l := &flight{request: r, stop: make(chan struct{})}
	f.byID[idKey(r.id)] = append(f.byID[idKey(r.id)], l)
	f.n++
	return l
}

// land ends a flight. It calls last before any cancellation can come in between, unless one has come already.
func (f *flights) land(l *flight, last func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.gone {
		return
	}
	last()
	f.remove(l)
}

// still calls do unless the flight was cancelled, and says whether it flies on.
func (f *flights) still(l *flight, do func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.gone {
		return false
	}
	do()
	return true
}

// remove forgets a flight. The lock is held.
func (f *flights) remove(l *flight) {
	key := idKey(l.request.id)
	rest := slices.DeleteFunc(f.byID[key], func(other *flight) bool { return other == l })
	if f.byID[key] = rest; len(rest) == 0 {
		delete(f.byID, key)
	}
	f.n--
}

// ground stops all flights without a word: the client is gone.
func (f *flights) ground() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.byID {
		for _, l := range list {
			l.gone = true
			close(l.stop)
		}
	}
	f.byID, f.n = nil, 0
}

// cancel stops what is in flight under the id that a notification's params name. A cancelled request gets no reply.
func (s *session) cancel(params value) {
	id := params.get("requestId")
	if !validID(id) {
		return
	}
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	for _, l := range slices.Clone(s.flights.byID[idKey(id)]) {
		l.gone = true
		close(l.stop)
		s.flights.remove(l)
		if s.has("cancelled-answered") {
			answerCancelled(l.request)
		}
		l.request.to.done()
	}
}

// progress tells the client how far a request has come, if it asked.
func (s *session) progress(r *request, done, total int) {
	if r.token == nil {
		return
	}
	s.notify("notifications/progress", object("progressToken", r.token, "progress", done, "total", total))
}

func (s *session) notify(method string, params raw) {
	var p any
	if params != nil {
		p = params
	}
	s.out.send(object("jsonrpc", "2.0", "method", method, "params", p))
}
