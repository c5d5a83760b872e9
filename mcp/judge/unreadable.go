package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Answers that no reader of JSON can read. A program that prints NaN, or that writes texts in another encoding, answers all the same: the
// client alone does not know.

var (
	answerID  = regexp.MustCompile(`["']id["']\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)
	answerKey = regexp.MustCompile(`^\s*\{.*["']jsonrpc["']`)
	// A number that JSON does not have, as Python, JavaScript and Go write it.
	noNumber = regexp.MustCompile(`[:,\[]\s*([-+]?(?:NaN|nan|Infinity|inf|Inf))\s*[,\]}]`)
)

// unreadableAnswer says why nobody can read a line that was meant to be an answer, and returns the id that it has, "" if none can be
// found; why is "" for a line that was meant for something else.
func unreadableAnswer(line []byte) (why, id string) {
	if !answerKey.Match(line) {
		return "", ""
	}
	if m := answerID.FindSubmatch(line); m != nil {
		id = string(m[1])
	}
	switch m := noNumber.FindSubmatch(withoutStrings(line)); {
	case m != nil:
		return "it has " + string(m[1]) + ", which is no JSON", id
	case !utf8.Valid(line) && len(line) < script.MaxNoiseLine: // or we have cut it
		return notUTF8, id
	}
	return "it is no JSON", id
}

// beginsJSON reports whether a line that was cut is JSON as far as it goes.
func beginsJSON(line []byte) bool {
	var wrong *json.SyntaxError
	return errors.As(json.Unmarshal(line, new(json.RawMessage)), &wrong) && wrong.Offset == int64(len(line))
}

// withoutStrings returns a copy of a line with all that stands in strings blanked out.
func withoutStrings(line []byte) []byte {
	blank, quoted := bytes.Clone(line), false
	for i := 0; i < len(blank); i++ {
		switch c := blank[i]; {
		case quoted && c == '\\':
			blank[i] = ' '
			if i++; i < len(blank) {
				blank[i] = ' '
			}
		case c == '"':
			quoted = !quoted
		case quoted:
			blank[i] = ' '
		}
	}
	return blank
}

// unreadable reports a line of the noise that was meant to be an answer; false: it was not.
func (j *judge) unreadable(line []byte, before []script.Sent) bool {
	why, id := unreadableAnswer(line)
	if why == "" {
		return false
	}
	s := j.guiltyOf(before)
	for i := range before {
		if before[i].Message.ID == id && id != "" {
			s = &before[i]
		}
	}
	j.reportUnreadableOf(s, line, why)
	return true
}

// unparsed judges an answer that is no JSON, and of which it is known all the same what it answers: by the id that can be made out in it or,
// over HTTP, by the response that it came in.
func (j *judge) unparsed(r *script.Received) {
	if r.Message.Root != nil || len(r.Raw) == 0 || r.Sent < 0 {
		return
	}
	s := &j.t.Sent[r.Sent]
	if s.Status >= 300 {
		return
	}
	why, _ := unreadableAnswer(r.Raw)
	if why == "" && strings.HasPrefix(s.Header.Get("Content-Type"), "application/json") {
		why = "it is no JSON"
	}
	if why != "" && why != notUTF8 { // see encoding
		j.reportUnreadableOf(s, r.Raw, why)
	}
}

func (j *judge) reportUnreadableOf(s *script.Sent, line []byte, why string) {
	cause := why
	if noNumber.Match(withoutStrings(line)) || len(line) >= script.MaxNoiseLine && beginsJSON(line) {
		cause = "a number" // one cause, whichever it is; of what was cut away it is not known what it was, and lists of numbers are long
	}
	severity := teasel.High
	if s == nil || !s.Regular { // the id itself may be what nobody can write
		severity = teasel.Medium
	}
	j.reportUnreadable(severity, s, line, why, cause)
}

const notUTF8 = "it is not UTF-8"

func (j *judge) reportUnreadable(severity teasel.Severity, s *script.Sent, line []byte, why, cause string) {
	j.reportCause(RuleMalformedReply, severity, j.subjectOf(s), cause, rawOf(s), fmt.Sprintf(
		"%s was answered with %s, which a client cannot read: %s.", lineOf(s), jsonrpc.Cut(line, 160), why))
}

// answeredUnreadably reports whether a request has an answer that nobody can read, which is a finding by itself.
func (j *judge) answeredUnreadably(s *script.Sent) bool {
	for _, line := range j.t.Noise {
		if why, id := unreadableAnswer(line); why != "" && id == s.Message.ID {
			return true
		}
	}
	return false
}

// encoding judges the bytes of a line that can be read otherwise.
func (j *judge) encoding(r *script.Received) {
	if utf8.Valid(r.Raw) {
		return
	}
	if r.Message.Class == jsonrpc.ClassResponse {
		j.reportUnreadable(teasel.Medium, j.sender(r), r.Raw, notUTF8, notUTF8)
		return
	}
	j.report(RuleNoise, j.source(r), "utf-8", fmt.Sprintf("The server wrote a line that is not UTF-8: %s.", jsonrpc.Cut(r.Raw, 200)))
}
