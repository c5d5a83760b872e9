package netproto

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/teaselfuzz/teasel/internal/plain"
)

// refusal matches an answer that looks like an error in most protocols: a code of three digits that begins with 4 or 5, as in HTTP, SIP, FTP and
// SMTP, or a word for it.
var refusal = regexp.MustCompile(`^(?:[A-Z]+/[0-9.]+ )?[45][0-9][0-9]\b|^(?i:[-+!%* ]*err(?:or)?\b)`)

// Refusals notes whether a server has answered all that it was sent with an error. Its zero value is ready for use, by several executors at once.
type Refusals struct {
	mu    sync.Mutex
	count int
	other bool   // an answer was none
	first string // line
}

// add takes in an answer. A nil Refusals takes in none.
func (r *Refusals) add(answer []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.other:
	case !refusal.Match(answer):
		r.other = true
	default:
		if r.count++; r.count == 1 {
			line, _, _ := bytes.Cut(answer, []byte("\n"))
			r.first = plain.Line(string(bytes.TrimSpace(line[:min(len(line), 80)])))
		}
	}
}

// All returns how many answers there were, and the first line of the first, if all of them were errors; otherwise 0.
func (r *Refusals) All() (count int, first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.other {
		return 0, ""
	}
	return r.count, r.first
}
