package gen

import (
	"context"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Sequence is the stage that goes on where a testcase ends: it adds calls that take what the testcase's answers handed out,
// use it, take it back, use it again. What they hand out is in the testcase's [observe.Note]. It needs a [Mutator] of this
// package and does nothing with others.
type Sequence struct {
	Energy int // scripts made from a testcase of ordinary energy; 0: 128
}

var _ teasel.Stage[script.Script] = Sequence{}

// Name implements [teasel.Stage].
func (Sequence) Name() string { return "sequence" }

// Run implements [teasel.Stage].
func (c Sequence) Run(ctx context.Context, w *teasel.Worker[script.Script], tc *teasel.Testcase[script.Script]) error {
	useful := func(n *observe.Note) bool { return len(n.Captures)+len(n.Words) > 0 }
	return byNote(ctx, w, tc, w.Energy(c.Energy, 128), useful, (*Mutator).Follow)
}

// byNote makes scripts of a testcase that go by its note, if that is useful and the mutator is one of this package.
func byNote(ctx context.Context, w *teasel.Worker[script.Script], tc *teasel.Testcase[script.Script], energy int, useful func(*observe.Note) bool,
	mutate func(m *Mutator, r *teasel.Rand, dst, src script.Script, note *observe.Note) script.Script) error {
	note, _ := tc.Note.(*observe.Note)
	m, ok := w.Mutator().(*Mutator)
	if !ok || note == nil || !useful(note) || len(tc.Input.Steps) >= maxSteps {
		return nil
	}
	for range energy {
		s := w.Slot()
		*s = mutate(m, w.Rand(), *s, tc.Input, note)
		if err := w.CommitRandom(ctx); err != nil {
			return err
		}
	}
	return nil
}

// parameter is a property that takes a text or a number.
type parameter struct {
	link
	handle  bool     // its name says that it takes what a server gave out
	handles []string // all such properties of the tool
}

func findParameters(tools []*session.Operation) (parameters []parameter) {
	for _, t := range tools {
		handles := handleProperties(t)
		for _, m := range t.Full.Members {
			if m.Value.Kind != mutate.String && m.Value.Kind != mutate.Number {
				continue
			}
			s := parameter{link: link{tool: t, property: m.Name, number: isNumber(t, m.Name)}, handles: handles}
			for _, h := range handles {
				s.handle = s.handle || h == m.Name
			}
			parameters = append(parameters, s)
		}
	}
	return parameters
}

// Follow makes a script that begins as src does and goes on with one to four steps that use what its answers, of which
// note tells, have handed out; or src with a word in it that its answers have taught us; or src and a step of it again,
// with texts that security checks try.
func (m *Mutator) Follow(r *teasel.Rand, dst, src script.Script, note *observe.Note) script.Script {
	e := &m.e
	e.begin(r, dst, src)
	if e.in.Start == script.Fresh {
		e.toShared()
	}
	switch {
	case e.r.IntN(4) == 0:
		e.probe()
	case len(note.Captures) == 0 || len(note.Words) > 0 && e.r.IntN(6) == 0:
		e.learn(note)
	default:
		c := e.pickCapture(note)
		before := -1
		for n := 1 + e.r.IntN(4); n > 0 && !e.full(); n-- {
			before = e.follow(note, c, before)
		}
	}
	return m.finish(src)
}

// learn puts a word of the answers into a string.
func (e *editor) learn(note *observe.Note) {
	i := e.pick()
	root := e.message(i)
	if root == nil || len(note.Words) == 0 {
		return
	}
	if places := e.under(e.within(root), isString); len(places) > 0 {
		*choose(e, places) = *mutate.NewString(choose(e, note.Words))
		e.touch(i)
	}
}

// pickCapture draws a value: mostly one whose name or looks are those of a handle.
func (e *editor) pickCapture(note *observe.Note) *observe.Capture {
	sum := 0
	for i := range note.Captures {
		sum += worth(&note.Captures[i])
	}
	n := e.r.IntN(sum)
	for i := range note.Captures {
		if n -= worth(&note.Captures[i]); n < 0 {
			return &note.Captures[i]
		}
	}
	return &note.Captures[0]
}

// worth is how likely a value is to be wanted again, at least 1.
func worth(c *observe.Capture) int {
	worth := 1
	pointer, token := script.CutToken(c.Pointer)
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	if session.HasWord(name, session.HandleWords) || name == "uri" || name == "nextCursor" || name == "name" {
		worth += 12
	}
	if strings.ContainsAny(c.Value, "0123456789") && len(c.Value) <= 48 {
		worth += 6
	}
	if token < 0 && len(c.Value) > 48 || name == "type" || name == "mimeType" {
		worth = 1
	}
	return worth
}

// follow adds a step that takes the value, and returns the parameter that it went into, -1 if it was none. The next step
// mostly takes a property of the same name.
func (e *editor) follow(note *observe.Note, c *observe.Capture, before int) int {
	value := script.Placeholder(c.Step, c.Pointer)
	switch {
	case strings.HasSuffix(c.Pointer, "/nextCursor") && e.r.IntN(2) == 0:
		e.add(script.Send(jsonrpc.RequestLine(choose(e, check.Lists), check.CursorParams(value))))
		return -1
	case strings.Contains(c.Value, "://") && e.b.Session.Has("resources") && e.r.IntN(2) == 0, len(e.b.parameters) == 0:
		method := choose(e, []string{"resources/read", "resources/read", "resources/subscribe", "resources/unsubscribe"})
		e.add(script.Send(jsonrpc.RequestLine(method, mutate.NewObject(jsonrpc.Member("uri", value)))))
		return -1
	}
	at := e.pickParameter(c, before)
	s := &e.b.parameters[at]
	arguments := plainArguments(s.tool)
	if e.r.IntN(3) == 0 {
		arguments = e.arguments(s.tool)
	}
	if arguments.Kind == mutate.Object {
		arguments.Set(s.property, s.capture(c.Step, c.Pointer))
		e.setRelatedArguments(s, note, c, arguments)
	}
	e.add(script.Step{Line: session.CallLine(s.tool.Name, arguments), NoWait: e.r.IntN(16) == 0})
	return at
}

// pickParameter draws a property for a value: one of the name that the last one had, or else one whose name goes with the
// value's, or mostly one that takes what a server gave out.
func (e *editor) pickParameter(c *observe.Capture, before int) int {
	at := e.r.IntN(len(e.b.parameters))
	named := e.r.IntN(2) == 0
	for range 8 {
		s := &e.b.parameters[at]
		fits := s.handle
		switch {
		case before >= 0:
			fits = s.property == e.b.parameters[before].property
		case named:
			fits = c.Names(s.property)
		}
		if fits || e.r.IntN(8) == 0 {
			break
		}
		at = e.r.IntN(len(e.b.parameters))
	}
	return at
}

// setRelatedArguments gives the other handles that a tool takes values of the same answers, mostly: best what stands beside the
// first one, as a lock's owner does beside the lock.
func (e *editor) setRelatedArguments(s *parameter, note *observe.Note, c *observe.Capture, arguments *mutate.JSON) {
	for _, property := range s.handles {
		if property == s.property || arguments.Get(property) == nil || e.r.IntN(4) == 0 {
			continue
		}
		var best *observe.Capture
		for i := range note.Captures {
			if other := &note.Captures[i]; other.Names(property) && (best == nil || nearness(other, c) > nearness(best, c)) {
				best = other
			}
		}
		if best != nil {
			l := link{property: property, number: isNumber(s.tool, property)}
			arguments.Set(property, l.capture(best.Step, best.Pointer))
		}
	}
}

// nearness is how much of where they stand two values have in common, more for the same step.
func nearness(c *observe.Capture, other *observe.Capture) int {
	if c.Step != other.Step {
		return -1
	}
	n := 0
	for n < min(len(c.Pointer), len(other.Pointer)) && c.Pointer[n] == other.Pointer[n] {
		n++
	}
	return n
}
