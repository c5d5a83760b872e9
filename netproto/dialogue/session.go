package dialogue

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// A Session is one connection to a server: what the server has answered so far, and the state that the model says it is in.
// One goroutine at a time may use it.
type Session struct {
	Now time.Time // the time that messages carry; zero: that of the seed, or the present one of fields with a real clock

	model  *model.Model
	late   model.Late
	state  *model.State // nil: there are no declared states
	in     *Dialogue
	out    model.Tree // of the message that is sent
	answer model.Tree

	known    map[string][][]byte // messages as the model's seeds have them, by name
	changed  bool                // some message of this connection was sent otherwise, or without waiting for its answer
	answered int                 // message that has had a response already; -1: none

	bootstrap, teardown, heartbeat *Dialogue
}

// NewSession returns a session of a new connection. The model may be nil.
func NewSession(m *model.Model) *Session {
	s := &Session{model: m}
	if m != nil {
		s.known = knownMessages(m)
		s.bootstrap, s.teardown = steps(m, m.Bootstrap), steps(m, m.Teardown)
		if h := m.Heartbeat; h != nil {
			s.heartbeat = steps(m, []model.Step{{Send: h.Send}})
		}
	}
	s.Reset()
	return s
}

func steps(m *model.Model, all []model.Step) *Dialogue {
	if len(all) == 0 {
		return nil
	}
	d := &Dialogue{}
	for _, step := range all {
		if sample := m.Sample(step.Send); sample != nil {
			d.add(sample)
		}
	}
	return d
}

// Reset forgets captured values, counters and the state, as it has to be on a new connection.
func (s *Session) Reset() {
	s.late.Forget()
	s.state, s.changed, s.answered = nil, false, -1
	if s.model != nil && len(s.model.States) > 0 {
		s.state = s.model.States[0]
	}
}

// Bootstrap returns what is to be sent once on a new connection; nil: nothing.
func (s *Session) Bootstrap() *Dialogue { return s.bootstrap }

// Teardown returns what is to be sent before a connection is closed; nil: nothing.
func (s *Session) Teardown() *Dialogue { return s.teardown }

// Heartbeat returns what keeps a connection alive; nil: nothing does.
func (s *Session) Heartbeat() *Dialogue { return s.heartbeat }

// Begin says which dialogue is run next. What was captured and the state carry on.
func (s *Session) Begin(d *Dialogue) { s.in = d }

// State returns the name of the present state, "" if the model declares none.
func (s *Session) State() string {
	if s.state == nil {
		return ""
	}
	return s.state.Name
}

// Render returns the bytes of message i as they are to be sent now, with the values that responses brought. They are good
// until the next call.
func (s *Session) Render(i int) []byte {
	m := &s.in.Messages[i]
	s.answered = -1
	s.changed = s.changed || s.in.Clients() > 1 || s.model != nil && !s.original(m) || m.NoWait && i+1 < len(s.in.Messages)
	if s.model == nil || len(m.Nodes) == 0 {
		return m.Data
	}
	if kind := s.model.Message(m.Name); kind == nil || !kind.Late() {
		return m.Data
	}
	s.out.CopyFrom(&m.Tree)
	s.late.Now = s.Now
	s.out.Derive(&s.late)
	return s.out.Data
}

// Frame looks for the end of the first response in what a stream has brought. Without it, it is not known whether more
// is to come. eof says that the server has closed the connection.
func (s *Session) Frame(data []byte, eof bool) (n int, complete bool) {
	if len(data) == 0 {
		return 0, false
	}
	if s.model == nil {
		return len(data), eof
	}
	f := &s.model.Framing
	switch f.Kind {
	case model.FramingDelimiter:
		if at := bytes.Index(data, f.Delimiter); at >= 0 {
			return at + len(f.Delimiter), true
		}
	case model.FramingLength:
		if n, ok := f.Length(data); ok {
			return n, true
		}
	case model.FramingModel:
		if m, n, short := s.model.Answer(&s.answer, data, !eof); m != nil {
			return n, true
		} else if !short {
			return len(data), true // it is no response that the model knows: all of it is one
		}
	}
	return len(data), eof
}

// A Response is what the model makes of one response.
type Response struct {
	Name     string // of the model's response; "": none fits
	Code     string // what the response says of the server's state, such as 220
	From, To string // the states before and after; "": the model declares none
	Expected bool   // it is what the transition expects, or nothing in particular is expected
	Problem  string // why it is not; or how it breaks the model
	// Doubtful says that the problem may be of teasel's making: some message of the connection was changed, so that the server may be in
	// another state than the model says, or the response is not the only one and may be to another message. A response that is none of the
	// model's is never doubtful.
	Doubtful bool

	state uint8 // number of the state To, from 1 on; 0: there are no declared states
}

// Feature returns a number for the response and the state it led to, the same in every run. Its low byte is the number of
// the declared state, from 1 on, so that a [Selection] can tell states apart.
func (r *Response) Feature() teasel.Feature {
	h := fnv.New64a()
	for _, s := range [...]string{r.To, r.Name, r.Code} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return teasel.State(h.Sum64()<<8 | uint64(r.state))
}

// SilentFeatures returns the features of messages that get no response, one for each declared state.
func SilentFeatures(m *model.Model) (fs []teasel.Feature) {
	for i, s := range m.States {
		r := Response{To: s.Name, state: uint8(min(i+1, 255))}
		fs = append(fs, r.Feature())
	}
	return fs
}

// declared returns the number of the declared state that a feature is of, -1 if there is none.
func declared(f teasel.Feature) int { return int(f&0xff) - 1 }

// Receive takes a response to message i, -1 if it came before any message was sent, and moves the state on.
func (s *Session) Receive(i int, data []byte) Response {
	r := Response{From: s.State(), Expected: true}
	if s.model == nil {
		r.Code = firstCode(data)
		return r
	}
	m, n, _ := s.model.Answer(&s.answer, data, false)
	switch {
	case m == nil:
		r.Code = firstCode(data)
		if len(s.model.Responses) > 0 {
			r.Expected, r.Problem = false, "it is none of the responses that the model knows"
		}
	default:
		r.Name, r.Code = m.Name, m.CodeOf(&s.answer)
		s.late.Take(m, &s.answer)
		if n < len(data) {
			r.Problem, r.Doubtful = "bytes follow behind the response", s.doubtful(i)
		}
	}
	s.move(i, &r, m)
	return r
}

// Silent says that message i got no response.
func (s *Session) Silent(i int) Response {
	r := Response{From: s.State(), Expected: true}
	t := s.transition(i)
	if t != nil {
		switch {
		case t.Silence:
			s.enter(t.To)
		case len(t.Expect) > 0:
			r.Expected, r.Problem, r.Doubtful = false, "no response came, though "+strings.Join(t.Expect, " or ")+" is expected", s.doubtful(i)
			s.enter(t.Timeout)
		default:
			s.enter(t.To)
		}
	}
	s.arrive(&r)
	return r
}

func (s *Session) transition(i int) *model.Transition {
	if s.state == nil || i < 0 || s.in == nil || i >= len(s.in.Messages) {
		return nil
	}
	return s.state.Transition(s.in.Messages[i].Name)
}

func (s *Session) move(i int, r *Response, m *model.Message) {
	if t := s.transition(i); t != nil {
		switch {
		case t.Silence:
			r.Expected, r.Problem, r.Doubtful = false, "a response came, though none is expected", m != nil && s.doubtful(i)
		case len(t.Expect) > 0 && !slices.Contains(t.Expect, r.Name):
			r.Expected = false
			if r.Problem == "" {
				r.Problem, r.Doubtful = "the response is "+r.Name+", expected is "+strings.Join(t.Expect, " or "), s.doubtful(i)
			}
		}
		if r.Expected && (t.When == nil || m == nil || t.When.Holds(&s.answer)) {
			s.enter(t.To)
		} else {
			s.enter(t.Else)
		}
	}
	s.answered = i
	s.arrive(r)
}

// doubtful reports whether it is uncertain what the response to message i has to be.
func (s *Session) doubtful(i int) bool { return s.changed || i >= 0 && s.answered == i }

// original reports whether a message is as a seed of the model has it, or as it is by default.
func (s *Session) original(m *Message) bool {
	for i := range m.Nodes {
		if m.Nodes[i].Flags&model.Broken != 0 {
			return false
		}
	}
	return slices.ContainsFunc(s.known[m.Name], func(b []byte) bool { return bytes.Equal(b, m.Data) })
}

// knownMessages returns the messages of the model's seeds and those with default values.
func knownMessages(m *model.Model) map[string][][]byte {
	known := map[string][][]byte{}
	for _, d := range Seeds(m) {
		for i := range d.Messages {
			known[d.Messages[i].Name] = append(known[d.Messages[i].Name], d.Messages[i].Data)
		}
	}
	for _, kind := range m.Messages {
		if s := m.Sample(kind.Name); s != nil {
			known[kind.Name] = append(known[kind.Name], s.Tree.Data)
		}
	}
	return known
}

// arrive notes the state that a response led to.
func (s *Session) arrive(r *Response) {
	r.To = s.State()
	if s.state != nil {
		r.state = uint8(min(slices.Index(s.model.States, s.state)+1, 255))
	}
}

func (s *Session) enter(name string) {
	if name == "" {
		return
	}
	if next := s.model.State(name); next != nil {
		s.state = next
	}
}

// firstCode returns what stands where text protocols have a response code: the first word, if it is a number of at most
// four digits or a word of capital letters.
func firstCode(data []byte) string {
	word := data
	if at := bytes.IndexAny(data, " -\r\n"); at >= 0 {
		word = data[:at]
	}
	if len(word) == 0 || len(word) > 12 {
		return ""
	}
	digits := 0
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c < 'A' || c > 'Z':
			return ""
		}
	}
	if digits > 0 && (digits < len(word) || digits > 4) {
		return ""
	}
	return string(word)
}
