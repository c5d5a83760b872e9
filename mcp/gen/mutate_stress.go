package gen

import (
	"bytes"

	"github.com/teaselfuzz/teasel/mcp/script"
)

// fireRapidly sends without waiting: one message many times, or all of them at once.
func fireRapidly(e *editor) bool {
	i := e.pick()
	switch e.r.IntN(3) {
	case 0:
		s := &e.in.Steps[i]
		times := 2 << e.r.IntN(6) // 2 to 64
		if s.Times == times {
			times++
		}
		s.Times = times
	case 1:
		done := false
		for k := range e.in.Steps {
			done = done || !e.in.Steps[k].NoWait
			e.in.Steps[k].NoWait = true
		}
		return done
	default:
		if e.full() {
			return false
		}
		for n := 1 + e.r.IntN(8); n > 0 && !e.full(); n-- {
			s := e.copyOf(i)
			s.NoWait = true
			e.insert(i, s)
		}
	}
	return true
}

// dropConnection ends the connection after a message, in the middle of one, or before its newline.
func dropConnection(e *editor) bool {
	if e.in.Start != script.Fresh {
		e.toFresh()
	}
	last := len(e.in.Steps) - 1
	if last > 2 {
		for keep := 3 + e.r.IntN(last-1); len(e.in.Steps) > keep; {
			e.remove(len(e.in.Steps) - 1)
		}
		last = len(e.in.Steps) - 1
	}
	s := &e.in.Steps[last]
	if s.Close && s.NoNewline {
		return false
	}
	e.settle(last)
	s.NoWait, s.Close = true, true
	switch e.r.IntN(3) {
	case 0:
		s.NoNewline = true
	case 1:
		s.NoNewline = true
		s.Line = s.Line[:e.r.IntN(len(s.Line)+1)]
	}
	return true
}

// toFresh gives a script a process of its own, and the handshake that it needs there.
func (e *editor) toFresh() {
	e.in.Start = script.Fresh
	for i, s := range script.Handshake(e.b.Version()) {
		e.insert(i, s)
	}
}

// toShared takes a script's own process away: its handshake, its end, its halves of lines.
func (e *editor) toShared() {
	e.in.Start = script.Shared
	for i := 0; i < len(e.in.Steps); {
		s := &e.in.Steps[i]
		s.Close = false
		shakes := bytes.Contains(s.Line, []byte(`"initialize"`)) || bytes.Contains(s.Line, []byte(`"notifications/initialized"`))
		if shakes && len(e.in.Steps) > 1 {
			e.remove(i)
			continue
		}
		i++
	}
	e.endWhole()
}

// endWhole makes sure that what others send next is not the end of our last line.
func (e *editor) endWhole() {
	if n := len(e.in.Steps); n > 0 && e.in.Start == script.Shared {
		e.in.Steps[n-1].NoNewline = false
	}
}

// sendPartly sends a message in two parts, or only the first of them.
func sendPartly(e *editor) bool {
	i := e.pick()
	line := e.line(i)
	if len(line) < 2 || e.in.Steps[i].Asked != "" {
		return false
	}
	cut := 1 + e.r.IntN(len(line)-1)
	if e.r.IntN(3) == 0 || e.full() {
		e.setLine(i, line[:cut])
		return true
	}
	if _, refers := script.NextReference(line, 0); refers || bytes.Contains(line, []byte("@")) && crossesPlaceholder(line, cut) {
		return false
	}
	rest := e.copyOf(i)
	rest.Line = rest.Line[cut:]
	first := script.Step{Line: bytes.Clone(line[:cut]), NoWait: true, NoNewline: true}
	e.in.Steps[i] = rest
	e.trees[i] = tree{}
	e.insert(i, first)
	return true
}

// crossesPlaceholder reports whether a cut goes through "@id" or "@{...}", which is only replaced in one piece.
func crossesPlaceholder(line []byte, cut int) bool {
	for _, p := range []string{`"@id"`, "@{"} {
		for from := 0; ; {
			at := bytes.Index(line[from:], []byte(p))
			if at < 0 {
				break
			}
			at += from
			end := at + len(p)
			if p == "@{" {
				end = at + max(bytes.IndexByte(line[at:], '}')+1, len(p))
			}
			if cut > at && cut < end {
				return true
			}
			from = end
		}
	}
	return false
}

// changeLine changes the bytes of a line, whatever they mean.
func changeLine(e *editor) bool {
	i := e.pick()
	was := e.line(i)
	now := oneLine(e.havoc.Mutate(e.r, nil, was))
	if bytes.Equal(now, was) {
		return false
	}
	e.in.Steps[i].Line = now
	e.trees[i] = tree{}
	return true
}
