package run

import (
	"bytes"
	"hash/fnv"
	"strings"
)

// How often things that came while several scripts were in flight are looked into: each sort, and how many sorts of a
// kind.
const (
	strangeTimes = 3
	strangeSorts = 64
)

// strange reports whether something is new enough to look for its cause. Digits do not make it new.
func (e *executor) strange(kind string, parts ...string) bool {
	h := fnv.New64a()
	for _, p := range append(parts, kind) {
		h.Write([]byte(withoutDigits(p)))
		h.Write([]byte{0})
	}
	sum := h.Sum64()
	if e.strays[sum] == 0 {
		if e.sorts[kind] >= strangeSorts {
			return false
		}
		e.sorts[kind]++
	}
	if e.strays[sum] >= strangeTimes {
		return false
	}
	e.strays[sum]++
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

// What stands in the first line of a report that something has gone wrong. It need not be exact: it only decides
// whether to look closer.
var troubleWords = [][]byte{
	[]byte("panic"), []byte("Traceback"), []byte("goroutine "), []byte("rror"), []byte("xception"), []byte("ERROR"),
	[]byte("ssert"), []byte("anitizer"), []byte("DATA RACE"), []byte("atal"), []byte("FATAL"), []byte("nhandled"),
	[]byte("out of memory"), []byte("heap"), []byte("overflow"), []byte("SIG"), []byte("core dumped"), []byte("secret"),
}

// troubleLine returns the first line of a text that looks like trouble; nil: there is none.
func troubleLine(text []byte) []byte {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		for _, w := range troubleWords {
			if bytes.Contains(line, w) {
				return line[:min(len(line), 64)]
			}
		}
		text = rest
	}
	return nil
}
