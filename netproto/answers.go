package netproto

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel/internal/plain"
)

// refusal matches an answer that looks like an error in most protocols: a code of three digits that begins with 4 or 5, as in HTTP, SIP, FTP and
// SMTP, or a word for it.
var refusal = regexp.MustCompile(`^(?:[A-Z]+/[0-9.]+ )?[45][0-9][0-9]\b|^(?i:[-+!%* ]*err(?:or)?\b)`)

// Answers notes whether a server has answered all that it was sent with an error, or nothing at all and what it has written meanwhile. Its zero
// value is ready for use, by several executors at once.
type Answers struct {
	mu      sync.Mutex
	count   int
	other   bool   // an answer was none
	first   string // line
	written []byte // while there was no answer
	hint    string // what may help, by that
}

const mostWritten = 500

// silent takes in what the server has written, and what may help by that. A nil Answers takes in nothing.
func (r *Answers) silent(written []byte, hint func(string) string) {
	if r == nil || len(written) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count > 0 || r.other {
		return
	}
	r.hint = cmp.Or(hint(string(written)), r.hint)
	r.written = append(r.written, written...)
	r.written = r.written[max(0, len(r.written)-mostWritten):]
}

// Silence returns what a server has written last that has answered nothing, on one line, and what may help by that; "": nothing, or it has
// answered.
func (r *Answers) Silence() (written, hint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count > 0 || r.other {
		return "", ""
	}
	lines := strings.Split(strings.TrimSpace(string(r.written)), "\n")
	return plain.Line(strings.Join(slices.Compact(lines), " / ")), r.hint // one that is started anew says the same again
}

// add takes in an answer. A nil Answers takes in none.
func (r *Answers) add(answer []byte) {
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

// Refused returns how many answers there were, and the first line of the first, if all of them were errors; otherwise 0.
func (r *Answers) Refused() (count int, first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.other {
		return 0, ""
	}
	return r.count, r.first
}
