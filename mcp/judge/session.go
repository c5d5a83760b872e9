package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// slow judges how long one request took, when nothing else was asked of the server meanwhile. The time in which others had
// the processors is not its own.
func (j *judge) slow(s *script.Sent, r *script.Received) {
	took := r.At - s.At - r.Starved
	explained := time.Duration(len(s.Raw)>>20) * time.Second // what its size may take on a busy machine
	if took < j.cfg.Slow+explained || !j.phase.ready || j.t.Script == nil || check.MeasuresTime(j.t.Script.Check) || j.asksForTime(s) || j.saysThatItReachesOut(s) {
		return
	}
	if slices.ContainsFunc(j.t.Script.Steps, func(step script.Step) bool { return step.NoWait || step.Times > 1 }) {
		return
	}
	waited := ""
	if r.Starved >= 100*time.Millisecond {
		waited = fmt.Sprintf(", and %.1f s in which others had the processors", r.Starved.Seconds())
	}
	severity, note := teasel.Low, ""
	if j.reachesOut(s) {
		severity, note = teasel.Info, " The server may have been waiting for somebody else."
	}
	j.reportAs(RuleSlow, severity, j.subject(s), "", fmt.Sprintf("The answer to %s took %.1f s%s.%s", brief(s), took.Seconds(), waited, note)).Alone = true
}

// cancelledReply judges an answer that came although, and because, the request was cancelled.
func (j *judge) cancelledReply(s *script.Sent, r *script.Received) {
	if r.Message.Error == nil || s.Message.Method == "initialize" {
		return
	}
	code := script.ErrorCode(r)
	if code >= codeParse && code <= codeInvalidRequest { // it was refused before it could be cancelled
		return
	}
	says := code == -32800
	if text, ok := r.Message.Error.Get("message").Str(); ok {
		text = strings.ToLower(text)
		says = says || strings.Contains(text, "cancelled") || strings.Contains(text, "canceled")
	}
	if says {
		j.report(RuleCancelled, subjectCancelled, "", fmt.Sprintf(
			"%s was cancelled, and answered with %s; expected no answer.", brief(s), jsonrpc.Cut(r.Raw, 160)))
	}
}

// progress judges a progress notification by the requests that gave out tokens and by what came before.
func (j *judge) progress(i int, r *script.Received) {
	p := r.Message.Params
	token := p.Get("progressToken")
	if token == nil || p.Get("progress") == nil {
		j.report(RuleProgress, "notifications/progress", "form", fmt.Sprintf("The notification %s lacks progressToken or progress.", jsonrpc.Cut(r.Raw, 160)))
		return
	}
	s, near := j.tokenOwner(token)
	if s == nil {
		if near != nil {
			j.report(RuleProgress, j.subject(near), "token", fmt.Sprintf("The progress token %s came back as %s.",
				jsonrpc.Cut(session.TokenOf(&near.Message).String(), 60), jsonrpc.Cut(token.String(), 60)))
		}
		return
	}
	if s.Taken { // it may be the other's
		return
	}
	if s.Answer >= 0 && s.Answer < i && ordered(j.answer(s), r) && !script.IsTask(s, &j.answer(s).Message) {
		j.report(RuleProgress, j.subject(s), "late", fmt.Sprintf("The notification %s came after the request was answered.", jsonrpc.Cut(r.Raw, 160)))
		return
	}
	value, ok := jsonrpc.Number(p.Get("progress").Text)
	if p.Get("progress").Kind != mutate.Number || !ok {
		j.report(RuleProgress, j.subject(s), "form", fmt.Sprintf("The progress of %s is no number.", jsonrpc.Cut(r.Raw, 160)))
		return
	}
	for k := i - 1; k >= 0; k-- {
		before := &j.t.Received[k].Message
		if !ordered(&j.t.Received[k], r) || before.Method != r.Message.Method || !token.Equal(before.Params.Get("progressToken")) {
			continue
		}
		if last, ok := jsonrpc.Number(before.Params.Get("progress").Text); before.Params.Get("progress") != nil && ok && value.Cmp(last) <= 0 {
			j.report(RuleProgress, j.subject(s), "order", fmt.Sprintf("Progress went from %s to %s; it has to increase.",
				jsonrpc.Cut(before.Params.Get("progress").Text, 40), jsonrpc.Cut(p.Get("progress").Text, 40)))
		}
		return
	}
}

// ordered reports whether the order in which two messages have come is that in which they were sent: over HTTP, on one stream.
func ordered(a, b *script.Received) bool { return a.Via == b.Via }

// tokenOwner returns the request that gave out a token, if it is the only one, else one whose token has the same
// characters in another type.
func (j *judge) tokenOwner(token *mutate.JSON) (owner, near *script.Sent) {
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		given := session.TokenOf(&s.Message)
		if given == nil {
			continue
		}
		switch {
		case given.Equal(token):
			if owner != nil {
				return nil, nil
			}
			owner = s
		case given.Kind != token.Kind && jsonrpc.IsID(given) && given.Text == token.Text:
			near = s
		}
	}
	return owner, near
}

// logMessage judges a log notification, and whether the level that was asked for keeps it away.
func (j *judge) logMessage(i int, r *script.Received) {
	p := r.Message.Params
	level, _ := p.Get("level").Str()
	rank := slices.Index(logLevels, level)
	if rank < 0 || p.Get("data") == nil {
		j.report(RuleLogMessage, "notifications/message", "", fmt.Sprintf("The log message %s has no data, or a level that does not exist.", jsonrpc.Cut(r.Raw, 160)))
		return
	}
	if !j.fresh() {
		return
	}
	least, pending := -1, false
	for k := range j.t.Sent {
		s := &j.t.Sent[k]
		if s.Message.Method != "logging/setLevel" {
			continue
		}
		answer := j.answer(s)
		switch {
		case answer == nil || s.Answer > i:
			pending = pending || s.At <= r.At
		case answer.Message.Result != nil:
			asked, _ := s.Message.Params.Get("level").Str()
			least = slices.Index(logLevels, asked)
		}
	}
	if !pending && least > rank {
		j.report(RuleLogLevel, "notifications/message", "", fmt.Sprintf(
			"The log message %s came after the level was set to %s.", jsonrpc.Cut(r.Raw, 160), logLevels[least]))
	}
}
