package judge

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// flood judges a server that was cut off because of how much it wrote.
func (j *judge) flood() {
	if s := j.guilty(); s != nil && len(s.Raw) >= oversized { // three copies of a long argument in a refusal come to an end
		j.reportAs(RuleFlood, teasel.Info, subjectLongLine, "", fmt.Sprintf(
			"The server was cut off because it wrote too much after a line of %d bytes. It may have quoted the line several times.", len(s.Raw)))
		return
	}
	j.report(RuleFlood, j.guiltySubject(), "", fmt.Sprintf("The server wrote without end after %s and was cut off.", j.guiltyLine()))
}

// noise judges lines on standard output that are no messages.
func (j *judge) noise() {
	for i, line := range j.t.Noise {
		// What was being written when the process died is cut off in the middle.
		if j.t.End.Kind != script.EndInvalid && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			continue
		}
		before := j.t.Sent
		if i < len(j.t.NoiseAfter) {
			before = before[:min(j.t.NoiseAfter[i], len(before))]
		}
		if !j.unreadable(line, before) {
			j.noiseAfter(line, j.guiltyOf(before))
		}
		return
	}
	if len(j.t.Noise) == 0 {
		j.report(RuleNoise, j.guiltySubject(), "", fmt.Sprintf(
			"The server wrote %d lines to standard output that are no JSON-RPC messages, after %s.", j.t.Noisy, j.guiltyLine()))
	}
}

// noiseAfter reports a line that is no message, of which another that was sent is to blame.
func (j *judge) noiseAfter(line []byte, s *script.Sent) {
	var sent []byte
	if s != nil {
		sent = s.Raw
	}
	j.reportCause(RuleNoise, teasel.Medium, j.subjectOf(s), "text "+j.statement(line, s), sent, fmt.Sprintf(
		"The server wrote %s to standard output, which is no JSON-RPC message, after %s.", jsonrpc.Quote(line, 100), lineOf(s)))
}

// statement names what has printed a text: its words up to the first that varies from one time to the next, because it is a
// number, was drawn, or is one of those that were sent. A word of which a part was sent is not: "version" has "ver" of "Server".
func (j *judge) statement(line []byte, s *script.Sent) string {
	var e observe.Echo
	text := jsonrpc.CutBytes(string(line), 120)
	if s != nil {
		e.AddTree(s.Message.Params)
		text = withoutSent(text, s.Message.Params)
	}
	words := string(observe.AppendNormal(nil, text, nil))
	if i := strings.IndexAny(words, string([]byte{observe.NumberMark, observe.TokenMark})); i > 0 {
		words = words[:i]
	}
	for from := 0; from < len(words); {
		word := words[from:]
		if n := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); n >= 0 {
			word = word[:n]
		}
		if from > 0 && e.Has(word) {
			words = words[:from]
			break
		}
		from += len(word) + 1
	}
	// What ends in a sign may end in part of what was sent.
	if trimmed := strings.TrimRightFunc(words, func(r rune) bool { return !unicode.IsLetter(r) }); trimmed != "" {
		return trimmed
	}
	return words
}

// withoutSent returns a text without the string that was sent and that it ends in, however short that is or in whatever script.
func withoutSent(text string, sent *mutate.JSON) string {
	text = strings.TrimSpace(text)
	if sent == nil {
		return text
	}
	if sent.Kind == mutate.String && sent.Text != "" {
		if before, ok := strings.CutSuffix(text, sent.Text); ok && before != "" && !unicode.IsLetter(lastRune(before)) {
			return before
		}
	}
	for _, item := range sent.Items {
		if before := withoutSent(text, item); before != text {
			return before
		}
	}
	for i := range sent.Members {
		if before := withoutSent(text, sent.Members[i].Value); before != text {
			return before
		}
	}
	return text
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
