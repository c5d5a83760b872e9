package mcp

import (
	"bytes"
	"fmt"

	"github.com/teaselfuzz/teasel"
)

// noise judges lines on standard output that are no messages.
func (j *judge) noise() {
	for i, line := range j.t.Noise {
		// What was being written when the process died is cut off in the middle.
		if j.t.End.Kind != EndInvalid && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			continue
		}
		s := j.guilty()
		if i < len(j.t.NoiseAfter) {
			s = j.guiltyOf(j.t.Sent[:min(j.t.NoiseAfter[i], len(j.t.Sent))])
		}
		j.noiseAfter(line, s)
		return
	}
	if len(j.t.Noise) == 0 {
		j.report(RuleNoise, j.guiltySubject(), "", fmt.Sprintf(
			"The server wrote %d lines to standard output that are no JSON-RPC messages, after %s.", j.t.Noisy, j.guiltyLine()))
	}
}

// noiseAfter reports a line that is no message, of which another that was sent is to blame.
func (j *judge) noiseAfter(line []byte, s *Sent) {
	var sent []byte
	if s != nil {
		sent = s.Raw
	}
	j.reportCause(RuleNoise, teasel.Medium, j.subjectOf(s), "text "+j.statement(line, s), sent, fmt.Sprintf(
		"The server wrote %q to standard output, which is no JSON-RPC message, after %s.", cut(line, 100), lineOf(s)))
}

// statement names what has printed a text: its words up to the first that varies from one time to the next.
func (j *judge) statement(line []byte, s *Sent) string {
	var e echo
	if s != nil {
		e.addTree(s.Message.Params)
	}
	words := appendNormal(nil, cutBytes(string(line), 120), &e)
	if i := bytes.IndexAny(words, string([]byte{echoMark, numberMark, tokenMark})); i > 0 {
		words = words[:i]
	}
	return string(words)
}
