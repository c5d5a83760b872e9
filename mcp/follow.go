package mcp

import (
	"context"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Chain is the stage that goes on where a testcase ends: it adds calls that take what the testcase's answers handed out,
// use it, take it back, use it again. What they hand out is in the testcase's [Note]. It needs a [Mutator] of this
// package and does nothing with others.
type Chain struct {
	Energy int // scripts made from a testcase of ordinary energy; 0: 48
}

var _ teasel.Stage[Script] = Chain{}

// Name implements [teasel.Stage].
func (Chain) Name() string { return "chain" }

// Run implements [teasel.Stage].
func (c Chain) Run(ctx context.Context, w *teasel.Worker[Script], tc *teasel.Testcase[Script]) error {
	note, _ := tc.Note.(*Note)
	m, ok := w.Mutator().(*Mutator)
	if !ok || note == nil || len(note.Captures)+len(note.Words) == 0 || len(tc.Input.Steps) >= maxSteps {
		return nil
	}
	for range w.Energy(c.Energy, 48) {
		s := w.Slot()
		*s = m.Follow(w.Rand(), *s, tc.Input, note)
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sink is a property that takes a text or a number.
type sink struct {
	link
	handle bool // its name says that it takes what a server gave out
}

func findSinks(tools []*callable) (sinks []sink) {
	for _, t := range tools {
		handles := handleProperties(t)
		for _, m := range t.full.Members {
			if m.Value.Kind != mutate.String && m.Value.Kind != mutate.Number {
				continue
			}
			s := sink{link: link{tool: t, property: m.Name, number: isNumber(t, m.Name)}}
			for _, h := range handles {
				s.handle = s.handle || h == m.Name
			}
			sinks = append(sinks, s)
		}
	}
	return sinks
}

// Follow makes a script that begins as src does and goes on with one to four steps that use what its answers, of which
// note tells, have handed out; or src with a word in it that its answers have taught us.
func (m *Mutator) Follow(r *teasel.Rand, dst, src Script, note *Note) Script {
	e := &m.e
	e.begin(r, dst, src)
	if e.in.Start == Fresh {
		e.toShared()
	}
	if len(note.Captures) == 0 || len(note.Words) > 0 && e.r.IntN(6) == 0 {
		e.learn(note)
	} else {
		c := e.pickCapture(note)
		before := -1
		for n := 1 + e.r.IntN(4); n > 0 && !e.full(); n-- {
			before = e.follow(c, before)
		}
	}
	return m.finish(src)
}

// learn puts a word of the answers into a string.
func (e *editor) learn(note *Note) {
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
func (e *editor) pickCapture(note *Note) *Capture {
	sum := 0
	for i := range note.Captures {
		sum += note.Captures[i].worth()
	}
	n := e.r.IntN(sum)
	for i := range note.Captures {
		if n -= note.Captures[i].worth(); n < 0 {
			return &note.Captures[i]
		}
	}
	return &note.Captures[0]
}

// worth is how likely a value is to be wanted again, at least 1.
func (c *Capture) worth() int {
	worth := 1
	pointer, token := cutToken(c.Pointer)
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	if hasWord(name, handleWords) || name == "uri" || name == "nextCursor" || name == "name" {
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

// follow adds a step that takes the value, and returns the sink that it went into, -1 if it was none. The next step
// mostly takes a property of the same name.
func (e *editor) follow(c *Capture, before int) int {
	value := capture(c.Step, c.Pointer)
	switch {
	case strings.HasSuffix(c.Pointer, "/nextCursor") && e.r.IntN(2) == 0:
		e.add(send(requestLine(choose(e, lists), cursorParams(value))))
		return -1
	case strings.Contains(c.Value, "://") && e.b.session.Has("resources") && e.r.IntN(2) == 0, len(e.b.sinks) == 0:
		method := choose(e, []string{"resources/read", "resources/read", "resources/subscribe", "resources/unsubscribe"})
		e.add(send(requestLine(method, mutate.NewObject(member("uri", value)))))
		return -1
	}
	at := e.pickSink(before)
	s := &e.b.sinks[at]
	arguments := plainArguments(s.tool)
	if e.r.IntN(3) == 0 {
		arguments = e.arguments(s.tool)
	}
	if arguments.Kind == mutate.Object {
		arguments.Set(s.property, s.capture(c.Step, c.Pointer))
	}
	e.add(Step{Line: callLine(s.tool.Name, arguments), NoWait: e.r.IntN(16) == 0})
	return at
}

func (e *editor) pickSink(before int) int {
	at := e.r.IntN(len(e.b.sinks))
	for range 8 {
		s := &e.b.sinks[at]
		fits := s.handle
		if before >= 0 {
			fits = s.property == e.b.sinks[before].property
		}
		if fits || e.r.IntN(8) == 0 {
			break
		}
		at = e.r.IntN(len(e.b.sinks))
	}
	return at
}
