package run

import (
	"hash/fnv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/observe"
)

// How often things that came while several scripts were in flight are looked into: each sort, and how many sorts of a
// kind.
const (
	strangeTimes = 3
	strangeSorts = 64
)

// strays counts what came that belongs to one of several scripts, by what it is like and by kind.
type strays struct {
	times map[uint64]int
	sorts map[string]int
}

// strange reports whether something is new enough to look for its cause. Digits do not make it new.
func (e *executor) strange(kind string, parts ...string) bool {
	h := fnv.New64a()
	for _, p := range append(parts, kind) {
		h.Write([]byte(withoutDigits(p)))
		h.Write([]byte{0})
	}
	sum := h.Sum64()
	if e.strays.times[sum] == 0 {
		if e.strays.sorts[kind] >= strangeSorts {
			return false
		}
		e.strays.sorts[kind]++
	}
	if e.strays.times[sum] >= strangeTimes {
		return false
	}
	e.strays.times[sum]++
	return true
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// troubled reports whether the server has written something to standard error that looks like trouble and is new enough to look
// for its cause.
func (e *executor) troubled(s *peer) bool {
	text, written := s.Stderr(s.stderr) // what is in the pipe by now: it came before the answers that have come
	if s.stderr = written; len(text) == 0 {
		return false
	}
	line := observe.TroubleLine(text)
	return line != nil && e.strange("stderr", string(line))
}
