package script

import (
	"bytes"
	"strconv"
)

// A reference is a placeholder that names a step: "@id:K", "@id:K:s", "@{K:/pointer}" or "@{K:Name-Of-A-Head}".
type reference struct {
	start, end int // of the number
	step       int
	whole      [2]int // of all that disappears when the step does
	id         bool   // "@id:K", quotes included in whole
}

// NextReference finds the first reference in line at or after from.
func NextReference(line []byte, from int) (reference, bool) {
	for {
		i := bytes.IndexByte(line[from:], '@')
		if i < 0 {
			return reference{}, false
		}
		at := from + i
		if ref, ok := referenceAt(line, at); ok {
			return ref, true
		}
		from = at + 1
	}
}

func referenceAt(line []byte, at int) (ref reference, ok bool) {
	rest := line[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("@{")):
		ref.start = at + len("@{")
	case bytes.HasPrefix(rest, []byte("@id:")) && at > 0 && line[at-1] == '"':
		ref.start, ref.id = at+len("@id:"), true
	default:
		return ref, false
	}
	ref.end = ref.start
	for ref.end < len(line) && line[ref.end] >= '0' && line[ref.end] <= '9' {
		ref.end++
	}
	n, err := strconv.Atoi(string(line[ref.start:ref.end]))
	if err != nil || ref.end == len(line) {
		return ref, false
	}
	ref.step = n
	rest = line[ref.end:]
	if ref.id {
		rest = bytes.TrimPrefix(rest, []byte(":s"))
		if len(rest) == 0 || rest[0] != '"' {
			return ref, false
		}
		ref.whole = [2]int{at - 1, len(line) - len(rest) + 1}
		return ref, true
	}
	close := bytes.IndexByte(rest, '}')
	if rest[0] != ':' || close < 0 {
		return ref, false
	}
	ref.whole = [2]int{at, ref.end + close + 1}
	return ref, true
}

// Gone is what a renumbering answers for a step that is no longer there.
const Gone = -1

// Renumber rewrites the references of a line after steps have moved. What refers to a step that is gone becomes an id
// nobody has, or nothing. The line is changed in place where that is possible; it must not be shared.
func Renumber(line []byte, move func(step int) int) []byte {
	ref, ok := NextReference(line, 0)
	if !ok {
		return line
	}
	out := make([]byte, 0, len(line)+8)
	done := 0
	for ; ok; ref, ok = NextReference(line, done) {
		to := move(ref.step)
		switch {
		case to != Gone:
			out = append(out, line[done:ref.start]...)
			out = strconv.AppendInt(out, int64(to), 10)
			done = ref.end
		case ref.id:
			out = append(out, line[done:ref.whole[0]]...)
			out = append(out, '0')
			done = ref.whole[1]
		default:
			out = append(out, line[done:ref.whole[0]]...)
			done = ref.whole[1]
		}
	}
	return append(out, line[done:]...)
}

// Renumber rewrites the references of a step, in its line and in its head.
func (s *Step) Renumber(move func(step int) int) {
	s.Line = Renumber(s.Line, move)
	if s.Head != "" {
		s.Head = string(Renumber([]byte(s.Head), move))
	}
}

// HasReference reports whether the line needs the answer or the id of another step.
func HasReference(line []byte) bool {
	_, ok := NextReference(line, 0)
	return ok
}
