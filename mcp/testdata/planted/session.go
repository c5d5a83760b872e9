package main

import (
	"bufio"
	"errors"
	"io"
	"slices"
)

// The codes of JSON-RPC and of MCP's legacy versions.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeNoResource     = -32002
)

// failure is an error reply.
type failure struct {
	code    int
	message string
	data    any // nil: no data
	// verbatim replaces the reply's members behind the id; only planted bugs use it.
	verbatim raw
}

func invalid(message string) *failure { return &failure{code: codeInvalidParams, message: message} }

// request is one valid request on its way to a method.
type request struct {
	id     value
	method string
	params value // an object, or nil if there were none
	token  value // the progress token, or nil
	to     sink
	// twice sends the reply two times; only a planted bug sets it.
	twice bool
}

// method serves a request. Both nil means that a goroutine of its own will reply and call done.
type method func(s *session, r *request) (raw, *failure)

func methods() map[string]method {
	return map[string]method{
		"initialize":               (*session).initialize,
		"ping":                     (*session).ping,
		"tools/list":               (*session).listTools,
		"tools/call":               (*session).callTool,
		"resources/list":           (*session).listResources,
		"resources/templates/list": (*session).listTemplates,
		"resources/read":           (*session).readResource,
		"resources/subscribe":      (*session).subscribe,
		"resources/unsubscribe":    (*session).unsubscribe,
		"prompts/list":             (*session).listPrompts,
		"prompts/get":              (*session).getPrompt,
		"completion/complete":      (*session).complete,
		"logging/setLevel":         (*session).setLevel,
	}
}

// session is the one client's session. Only the reading goroutine touches it, but for out and flights, which lock.
type session struct {
	planted bugs
	out     *wire
	methods map[string]method
	tools   []*tool
	pages   map[string]pages // the lists that are handed out in pages

	version    string // the negotiated version, "" before initialize
	ready      bool   // notifications/initialized has come
	minLevel   int    // of log messages, -1 if the client has not asked for any
	subscribed map[string]bool
	flights    flights
	store      store
	traces     traces
}

func newSession(planted bugs, out io.Writer) *session {
	s := &session{
		planted:    planted,
		out:        &wire{out: out},
		methods:    methods(),
		minLevel:   -1,
		subscribed: map[string]bool{},
		store:      newStore(),
		traces:     newTraces(),
	}
	s.tools = newTools()
	s.pages = s.newPages()
	return s
}

// serve answers lines until in ends, and then drops what is still in flight.
func (s *session) serve(in io.Reader) error {
	defer s.flights.ground()
	l := &lines{in: bufio.NewReaderSize(in, 64<<10)}
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, errTooLong):
			s.out.send(failed(nil, &failure{code: codeInvalidRequest, message: "Invalid Request: the message is longer than 64 MiB"}))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		default:
			s.line(line)
		}
	}
}

// line answers one line. A blank one is no message.
func (s *session) line(line []byte) {
	if s.has("deaf-long-line") {
		deafToLongLines(line)
	}
	if slices.IndexFunc(line, func(b byte) bool { return b != ' ' && b != '\t' && b != '\r' }) < 0 {
		return
	}
	v, err := parse(line)
	switch {
	case err != nil:
		if s.has("state-after-garbage") {
			s.traces.garbled = true
		}
		s.out.send(failed(nil, &failure{code: codeParse, message: "Parse error: " + err.Error()}))
	case v.isArray() && s.batches() && len(v.items()) > 0:
		s.batch(v.items())
	default:
		s.message(v, s.out)
	}
}

// batches says whether arrays of messages are allowed: only version 2025-03-26 has them, and not for initialize.
func (s *session) batches() bool {
	return s.version == "2025-03-26" || s.has("batch-accepted") && s.version != ""
}

func (s *session) batch(items []value) {
	b := &batch{out: s.out, open: len(items) + 1}
	for _, item := range items {
		s.message(item, b)
	}
	b.done()
}

// message answers one message: requests get one reply, notifications and replies none.
func (s *session) message(v value, to sink) {
	r, f := s.read(v)
	if r == nil {
		if f != nil {
			to.send(failed(usableID(v), f))
		}
		to.done()
		return
	}
	r.to = to
	answer, f := s.dispatch(r)
	if answer == nil && f == nil {
		return
	}
	s.reply(r, answer, f)
}

// reply ends a request that was not answered yet.
func (s *session) reply(r *request, answer raw, f *failure) {
	defer r.to.done()
	if s.has("dropped-falsy-id") && falsy(r.id) && r.method != "initialize" {
		return
	}
	id := r.id
	if s.has("id-rounded") && r.method == "ping" {
		id = roundedID(id)
	}
	send := func() {
		if f != nil {
			r.to.send(failed(id, f))
			return
		}
		r.to.send(object("jsonrpc", "2.0", "id", id, "result", answer))
	}
	send()
	if r.twice {
		send()
	}
}

// failed writes an error reply; a nil id is null.
func failed(id value, f *failure) raw {
	if id == nil {
		id = value("null")
	}
	if f.verbatim != nil {
		return append(append(raw(`{"jsonrpc":"2.0","id":`), id...), f.verbatim...)
	}
	return object("jsonrpc", "2.0", "id", id,
		"error", object("code", f.code, "message", f.message, "data", f.data))
}

// dispatch runs a request's method.
func (s *session) dispatch(r *request) (raw, *failure) {
	run, known := s.methods[r.method]
	if !known {
		if s.has("unknown-method-success") && inFamily(r.method) {
			return raw("{}"), nil
		}
		return nil, &failure{code: codeUnknownMethod, message: "Method not found: " + brief(r.method)}
	}
	if f := s.allowed(r.method); f != nil {
		return nil, f
	}
	if f := r.checkParams(); f != nil {
		return nil, f
	}
	return run(s, r)
}

// checkParams checks what every method's params have in common.
func (r *request) checkParams() *failure {
	if r.params == nil {
		return nil
	}
	if !r.params.isObject() {
		return invalid("Invalid params: params must be an object")
	}
	meta := r.params.get("_meta")
	if meta == nil {
		return nil
	}
	if !meta.isObject() {
		return invalid("Invalid params: _meta must be an object")
	}
	token := meta.get("progressToken")
	if token != nil && !token.isString() && !token.isInteger() {
		return invalid("Invalid params: progressToken must be a string or an integer")
	}
	r.token = token
	return nil
}

func (s *session) ping(*request) (raw, *failure) { return raw("{}"), nil }

// has says whether a bug is planted.
func (s *session) has(bug string) bool { return s.planted[bug] }
