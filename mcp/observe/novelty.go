package observe

import (
	"hash/fnv"
	"strings"
)

// How often things that may be any of several scripts' are looked into: each sort, and how many sorts of a kind.
const (
	NoveltyTimes = 3
	noveltySorts = 64
)

// Novelty says what is new enough to look for its cause, of what comes from a server while several scripts are in flight. The zero
// value has seen nothing. One goroutine at a time uses it.
type Novelty struct {
	times map[uint64]int
	sorts map[string]int
}

// IsNew reports whether something of a kind, made of some parts, was seen [NoveltyTimes] times at most, this time included. Digits do
// not make it new.
func (n *Novelty) IsNew(kind string, parts ...string) bool {
	if n.times == nil {
		n.times, n.sorts = make(map[uint64]int), make(map[string]int)
	}
	h := fnv.New64a()
	for _, p := range append(parts, kind) {
		h.Write([]byte(withoutDigits(p)))
		h.Write([]byte{0})
	}
	sum := h.Sum64()
	if n.times[sum] == 0 {
		if n.sorts[kind] >= noveltySorts {
			return false
		}
		n.sorts[kind]++
	}
	if n.times[sum] >= NoveltyTimes {
		return false
	}
	n.times[sum]++
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
