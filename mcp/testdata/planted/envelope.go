package main

// read takes a message's envelope apart. It returns a request to be served; or a failure to be sent; or, for a
// notification (which it obeys) and for a reply, neither.
//
// A message with the name of a method and no id is a notification whatever else is wrong with it, and so is never
// answered. One without a method but with a result or an error is a reply, and is dropped.
func (s *session) read(v value) (*request, *failure) {
	if !v.isObject() {
		if v.isArray() {
			return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: no batches here"}
		}
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: a message is an object"}
	}
	e := s.unfold(v)
	answers := e.result != nil || e.failure != nil
	switch {
	case e.method == nil && answers:
		return nil, nil
	case e.method == nil:
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: no method"}
	case !e.method.isString():
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: method must be a string"}
	case e.id == nil:
		return nil, s.notified(e)
	case !validID(e.id):
		if s.has("exit-on-odd-id") {
			exitOnOddID(e.id)
		}
		if s.has("null-id") && string(e.id) == "null" {
			break
		}
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: id must be a string or an integer"}
	case e.version.str() != "2.0":
		return nil, &failure{code: codeInvalidRequest, message: `Invalid Request: jsonrpc must be "2.0"`}
	case answers:
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: both a request and a reply"}
	}
	return &request{id: e.id, method: e.method.str(), params: e.params}, nil
}

// envelope holds the members that JSON-RPC gives a meaning; others are ignored.
type envelope struct {
	version, id, method, params, result, failure value
}

func (s *session) unfold(v value) envelope {
	var e envelope
	for _, m := range v.members() {
		name := m.name
		if s.has("case-insensitive-keys") {
			name = anyCase(name)
		}
		switch name {
		case "jsonrpc":
			e.version = m.val
		case "id":
			e.id = m.val
		case "method":
			e.method = m.val
		case "params":
			e.params = m.val
		case "result":
			e.result = m.val
		case "error":
			e.failure = m.val
		}
	}
	return e
}

// validID says whether an id is one of MCP's: a string or an integer, however the integer is written.
func validID(id value) bool { return id.isString() || id.isInteger() }

// usableID returns the id that a refusal can carry, nil if there is none: a fraction is no valid id, but it says which
// message is meant.
func usableID(v value) value {
	if id := v.get("id"); id.isString() || id.isNumber() {
		return id
	}
	return nil
}

// notified obeys a notification. Unknown ones are ignored, and so is all that is malformed; a failure is a planted bug's.
func (s *session) notified(e envelope) *failure {
	if e.version.str() != "2.0" {
		return nil
	}
	switch e.method.str() {
	case "notifications/initialized":
		s.ready = s.version != ""
	case "notifications/cancelled":
		s.cancel(e.params)
	case "notifications/progress":
	default:
		if s.has("reply-to-notification") && s.ready {
			return &failure{code: codeUnknownMethod, message: "Method not found: " + brief(e.method.str())}
		}
	}
	return nil
}
