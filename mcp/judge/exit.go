package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// The lengths from which a line may be, and may well be, beyond a server's limit, and what it is called then.
const (
	long            = 64 << 10
	oversized       = 1 << 20
	subjectLongLine = "(long line)"
)

// causeNoRequest stands for all lines that a reader refuses, and ends the session on.
const causeNoRequest = "line that is no request"

func (j *judge) quietExit() {
	s := j.guilty()
	if s != nil && len(s.Raw) >= oversized {
		j.reportAs(RuleExit, teasel.Medium, subjectLongLine, "", fmt.Sprintf(
			"The server exited with status 0 after a line of %d bytes, instead of answering with an error.", len(s.Raw)))
		return
	}
	if j.refusedLine() {
		return
	}
	subject, line := j.guiltySubject(), j.guiltyLine()
	if s != nil && nesting(s.Raw) >= deep { // a reader that ends the session on what it does not read
		j.reportCause(RuleExit, teasel.High, "(deep nesting)", causeNoRequest, s.Raw,
			fmt.Sprintf("The server exited with status 0 in the middle of the session, after %s.", line))
		return
	}
	if before := j.answeredBefore(s); before != nil && s.Message.Method == "ping" { // nobody exits on a ping
		subject, line = j.subjectOf(before), lineOf(before)+" was answered"
	}
	j.report(RuleExit, subject, "",
		fmt.Sprintf("The server exited with status 0 in the middle of the session, after %s.", line))
}

// answeredBefore returns the last line before s that was answered; nil: there is none.
func (j *judge) answeredBefore(s *script.Sent) (before *script.Sent) {
	for i := range j.t.Sent {
		if &j.t.Sent[i] == s {
			return before
		}
		if j.t.Sent[i].Answer >= 0 {
			before = &j.t.Sent[i]
		}
	}
	return nil
}

// refusedLine reports a server that exits, whatever its status, because a line is no valid request. False means that it was
// another line.
func (j *judge) refusedLine() bool {
	s := j.guilty()
	if s == nil || nesting(s.Raw) >= deep || len(s.Raw) >= oversized {
		return false
	}
	bad := j.noRequest()
	if bad == nil {
		return false
	}
	j.reportCause(RuleExit, teasel.High, j.subjectOf(bad), causeNoRequest, bad.Raw,
		fmt.Sprintf("The server exited with status %d in the middle of the session, after %s.", j.t.End.Code, lineOf(bad)))
	return true
}

// noRequest returns the first line since the last answer that is no valid request or notification: a reader of lines that ends a
// session on one of those ends it on all, and a request that follows has no part in it; nil: there is none.
func (j *judge) noRequest() (bad *script.Sent) {
	for i := len(j.t.Sent) - 1; i >= 0 && j.t.Sent[i].Answer < 0; i-- {
		s := &j.t.Sent[i]
		if c := s.Message.Class; len(bytes.TrimSpace(s.Raw)) > 0 && (c != jsonrpc.ClassRequest && c != jsonrpc.ClassNotification || j.subjectOf(s) == subjectMessage || hasKeyVariant(s.Message.Root)) {
			bad = s
		}
	}
	return bad
}

// hasKeyVariant reports whether a message has a key that is one of the protocol's but for its case: a reader that takes no heed
// of case may find the message invalid.
func hasKeyVariant(root *mutate.JSON) bool {
	return root != nil && slices.ContainsFunc(root.Members, func(m mutate.Member) bool {
		return slices.ContainsFunc([]string{"jsonrpc", "id", "method", "params", "result", "error"}, func(key string) bool {
			return m.Name != key && strings.EqualFold(m.Name, key) // with the long s too
		})
	})
}

// deep is how far a line has to be nested to be beyond what some readers take.
const deep = 500

// nesting returns how deep brackets lie in one another at most, those in strings included.
func nesting(line []byte) (most int) {
	depth := 0
	for _, c := range line {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}
