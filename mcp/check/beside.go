package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// markStem begins the texts that are written and looked for. The letter behind it says when: before, side by side, afterwards.
const markStem = "tzlmark"

var writtenMark = regexp.MustCompile(markStem + `[abc][0-9]{2}[0-9a-z]+`)

// mark is the nth text of a letter. No earlier execution has written it.
func mark(letter byte, n int) string { return markWith(letter, n, script.Unique) }

func markWith(letter byte, n int, end string) string {
	return fmt.Sprintf("%s%c%02d%s", markStem, letter, n, end)
}

// besideSizes are how many calls are in flight together: two are enough where nothing else holds a server up.
var besideSizes = []int{2, 8}

// maxWriters is how many tools write side by side.
const maxWriters = 8

// checkBeside has tools write texts one after another, as many at once, and one after another again, and reads what there is between.
func checkBeside(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	writers := 0
	for _, t := range quickTools(b, r, len(b.Tools), anyTool) {
		if t.ReadOnly || t.Reads || len(t.Texts) == 0 || writers == maxWriters {
			continue
		}
		look := readers(b, t)
		if len(look) == 0 {
			return
		}
		writers++
		for _, pointer := range t.Texts[:min(2, len(t.Texts))] {
			for _, size := range besideSizes {
				write := func(letter byte, together bool) (steps []script.Step) {
					for n := range size {
						s := script.Send(t.CallWith(t.With(pointer, mark(letter, n))))
						s.NoWait = together && n < size-1
						steps = append(steps, s)
					}
					return steps
				}
				emit(fmt.Sprintf("%s %s %d", t.Name, pointer, size),
					script.NewShared(SideBySide, slices.Concat(write('a', false), look, write('b', true), look, write('c', false), look)...))
			}
		}
	}
}

// readers are requests that may show what a tool has written.
func readers(b *session.Catalog, writer *session.Operation) (look []script.Step) {
	for _, t := range b.Tools {
		if t == writer || !t.Reads || t.Slow || len(look) == maxLooks {
			continue
		}
		look = append(look, script.Send(t.Call()))
		for _, pointer := range t.Texts[:min(1, len(t.Texts))] {
			if session.HasWord(pointer, []string{"query", "search", "pattern", "text", "prefix", "filter"}) {
				look = append(look, script.Send(t.CallWith(t.With(pointer, markStem))))
			}
		}
	}
	for i := range b.Session.Resources[:min(2, len(b.Session.Resources))] {
		look = append(look, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", b.Session.Resources[i].URI))))
	}
	return look
}

// writing is a text that a call has written with success.
type writing struct {
	mark string
	sent *script.Sent
	got  *script.Received
}

// lostWrites looks for texts that were written by calls in flight together, were accepted, and are not there, while those that were
// written one after another are, before and afterwards: what is shown has room for all of them.
func (j *Case) lostWrites() {
	var before, beside, after []writing
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		m, r := writtenMark.FindString(string(s.Raw)), j.answer(s)
		if m == "" {
			continue
		}
		if r == nil || !script.Succeeded(r) {
			return
		}
		w := writing{m, s, r}
		switch m[len(markStem)] {
		case 'a':
			before = append(before, w)
		case 'b':
			beside = append(beside, w)
		default:
			after = append(after, w)
		}
	}
	if len(before) < 2 || len(beside) < 2 || len(after) == 0 || beside[1].sent.At > beside[0].got.At {
		return
	}
	for i := range j.Transcript.Sent {
		look := &j.Transcript.Sent[i]
		r := j.answer(look)
		if r == nil || look.Place < after[len(after)-1].sent.Place || writtenMark.Match(look.Raw) || !script.Succeeded(r) {
			continue
		}
		shown := func(w writing) bool { return strings.Contains(string(r.Raw), w.mark) }
		lost := slices.DeleteFunc(slices.Clone(beside), shown)
		if len(lost) == 0 || !all(before, shown) || !all(after, shown) {
			continue
		}
		j.report(RuleLostWrite, j.subject(beside[0].sent), "", fmt.Sprintf("Of %d calls in flight together, all answered with a result, %d left nothing behind: %s is not in the answer to %s, where all is that was written one call after another.",
			len(beside), len(lost), jsonrpc.Cut(lost[0].sent.Raw, 160), jsonrpc.Cut(look.Raw, 100)))
		return
	}
}

func all(ws []writing, is func(writing) bool) bool {
	return !slices.ContainsFunc(ws, func(w writing) bool { return !is(w) })
}
