package judge

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// identity judges an id that did not come back letter by letter.
func (j *judge) identity(s *script.Sent, r *script.Received) {
	sent, received := s.Message.Root.Get("id"), r.Message.Root.Get("id")
	if sent == nil || received == nil || sent.Equal(received) || !isPortable(sent) {
		return
	}
	if sent.Kind == mutate.Number && received.Kind == mutate.Number && !resembles(sent, received) {
		j.reportForeign(s, r)
		return
	}
	severity, how, subject := teasel.High, "changed", j.subject(s)
	if sent.Kind == mutate.String { // clients count; what such an id comes to does not depend on the method
		subject = subjectID
	}
	if sent.Kind == mutate.Number && received.Kind == mutate.Number {
		if j.foreign != nil { // it gives out ids of nobody
			return
		}
		severity, how, subject = teasel.Medium, "rounded", subjectID
	} else if sent.Kind != received.Kind {
		how = fmt.Sprintf("turned from %s into %s", jsonrpc.Describe(sent.Kind), jsonrpc.Describe(received.Kind))
	}
	if subject != subjectID { // what a server does to ids it does in one place
		j.reportCause(RuleID, severity, subject, how, s.Raw, fmt.Sprintf("The id %s came back as %s: it was %s.", jsonrpc.Cut(s.Message.ID, 80), jsonrpc.Cut(r.Message.ID, 80), how))
		return
	}
	j.reportAs(RuleID, severity, subject, how, fmt.Sprintf("The id %s came back as %s: it was %s.",
		jsonrpc.Cut(s.Message.ID, 80), jsonrpc.Cut(r.Message.ID, 80), how))
}

// isPortable reports whether a value means the same to all readers of JSON: lone surrogates and stray bytes do not.
func isPortable(v *mutate.JSON) bool {
	return v.Kind != mutate.String || utf8.ValidString(v.Text) && !strings.ContainsRune(v.Text, utf8.RuneError)
}

// misaddressed returns the response whose id belongs to nobody but looks as if it had been the request's.
func (j *judge) misaddressed(s *script.Sent) *script.Received {
	sent := s.Message.Root.Get("id")
	if sent == nil {
		return nil
	}
	for i := range j.t.Received {
		r := &j.t.Received[i]
		if j.hasUnreadID(r) {
			continue
		}
		if r.Sent < 0 && r.Message.Class == jsonrpc.ClassResponse && !isPortable(sent) {
			return r
		}
		if r.Sent < 0 && r.Message.Class == jsonrpc.ClassResponse && resembles(sent, r.Message.Root.Get("id")) {
			return r
		}
	}
	return nil
}

// resembles reports whether a careless server could have made one id of the other.
func resembles(sent, received *mutate.JSON) bool {
	if sent == nil || received == nil || received.Kind != mutate.Number && received.Kind != mutate.String {
		return false
	}
	a, ok := jsonrpc.Number(sent.Text)
	b, also := jsonrpc.Number(received.Text)
	if ok && also && (sent.Kind == mutate.Number || received.Kind == mutate.Number) {
		if a.Cmp(b) == 0 {
			return true
		}
		// Rounded to the precision of a double, cut to an integer, or clamped to one of 64 bits.
		f, _ := a.Float64()
		g, _ := b.Float64()
		trunc, _ := a.Int(nil)
		whole, accuracy := b.Int(nil)
		return f == g && isRounded(b, f) || accuracy == big.Exact && trunc.Cmp(whole) == 0 || isLimit(whole) && trunc.BitLen() > 53
	}
	if sent.Kind == mutate.String && received.Kind == mutate.String && len(sent.Text) > 1 && len(received.Text) > 1 {
		return strings.EqualFold(strings.TrimSpace(sent.Text), strings.TrimSpace(received.Text)) ||
			len(received.Text) >= 8 && strings.HasPrefix(sent.Text, received.Text)
	}
	return false
}

// isRounded reports whether a number is one of the ways to write a double. Another number that a double cannot tell from it was
// made without one.
func isRounded(n *big.Float, double float64) bool {
	for _, precision := range []int{-1, 15, 16, 17} {
		if written, ok := jsonrpc.Number(strconv.FormatFloat(double, 'e', precision, 64)); ok && written.Cmp(n) == 0 {
			return true
		}
	}
	return new(big.Float).SetFloat64(double).Cmp(n) == 0
}

func isLimit(n *big.Int) bool {
	text := n.String()
	return text == "9223372036854775807" || text == "-9223372036854775808"
}

// onlyNullID reports whether no other line could be what a result with id null answers.
func (j *judge) onlyNullID(s *script.Sent) bool {
	for i := range j.t.Sent {
		m := &j.t.Sent[i].Message
		if &j.t.Sent[i] != s && m.Class != jsonrpc.ClassRequest && m.ID != "null" {
			return false
		}
	}
	return true
}

// hasForeignAnswer reports whether there is a response to an id that no request has: it may be meant for any.
func (j *judge) hasForeignAnswer() bool {
	return slices.ContainsFunc(j.t.Received, func(r script.Received) bool {
		return r.Sent < 0 && r.Message.Class == jsonrpc.ClassResponse && !j.hasUnreadID(&r)
	})
}

// findForeign returns a response whose id is an integer that no line has, nor one that resembles it; nil: there is none. Then the other answers may have
// come to the wrong requests, too.
func (j *judge) findForeign() *script.Received {
	for i := range j.t.Received {
		r := &j.t.Received[i]
		if r.Sent >= 0 || r.Message.Class != jsonrpc.ClassResponse || malformed(&r.Message) != "" || j.hasUnreadID(r) {
			continue
		}
		if id := r.Message.Root.Get("id"); id.Kind == mutate.Number && !j.asked(id) {
			if _, ok := id.Int(); ok && !slices.ContainsFunc(j.t.Sent, func(s script.Sent) bool { return s.Message.Root != nil && resembles(s.Message.Root.Get("id"), id) }) {
				return r
			}
		}
	}
	return nil
}

// hasUnreadID reports whether a response says that a line could not be read, and has an id all the same that none has which it may be
// about: it can only be made up, and says nothing of the answers to others. A line that has its answer, and a response, which can be read,
// are none of these.
func (j *judge) hasUnreadID(r *script.Received) bool {
	m := &r.Message
	if m.Error == nil || script.ErrorCode(r) != codeParse || m.ID == "" || m.ID == "null" {
		return false
	}
	return !slices.ContainsFunc(j.before(r), func(s script.Sent) bool {
		answered := s.Answer >= 0 && s.Answer < len(j.t.Received) && &j.t.Received[s.Answer] != r
		return !answered && s.Message.Class != jsonrpc.ClassResponse && (saysID(s.Raw, m.ID) || isRoundedID(s.Message.Root, m.Root))
	})
}

// isRoundedID reports whether a careless server could have made the number that is the id of one message of that of the other.
func isRoundedID(sent, received *mutate.JSON) bool {
	if sent == nil {
		return false
	}
	id := sent.Get("id")
	return id != nil && id.Kind == mutate.Number && resembles(id, received.Get("id"))
}

// saysID reports whether a line, readable or not, has an id in that notation.
func saysID(line []byte, id string) bool {
	for rest := line; ; {
		_, after, ok := bytes.Cut(rest, []byte(`"id"`))
		if !ok {
			return false
		}
		value := bytes.TrimLeft(after, ": \t")
		if end, ok := bytes.CutPrefix(value, []byte(id)); ok && (len(end) == 0 || !bytes.ContainsAny(end[:1], "0123456789.eE")) {
			return true
		}
		rest = after
	}
}

// unreadID reports the made-up id of an error that says that a line could not be read.
func (j *judge) unreadID(r *script.Received) {
	before := j.before(r)
	s := j.sender(r)
	if s == nil {
		s = j.guiltyOf(before)
	}
	for i := range before { // the one that it is about
		if before[i].Answer < 0 && !before[i].Regular {
			s = &before[i]
		}
	}
	j.reportCause(RuleID, teasel.High, subjectUnread, "made up", rawOf(s), fmt.Sprintf(
		"%s was answered with a parse error that has the id %s and not null, although no line has that id.", lineOf(s), jsonrpc.Cut(r.Message.ID, 80)))
}

// foreignReply reports a response with the id of another request, when only one request waits for its answer.
func (j *judge) foreignReply(r *script.Received) {
	var waiting *script.Sent
	for k := range j.before(r) {
		if s := &j.t.Sent[k]; s.Answer < 0 && !s.Unresolved && s.Message.Class != jsonrpc.ClassNotification && s.Message.Class != jsonrpc.ClassResponse {
			if waiting != nil || !j.isSound(s) {
				return
			}
			waiting = s
		}
	}
	if waiting == nil || j.foreign != r {
		return
	}
	j.reportForeign(waiting, r)
}

// reportForeign reports an answer whose id is that of no request, and that no rounding has made of the right one.
func (j *judge) reportForeign(s *script.Sent, r *script.Received) {
	j.reportCause(RuleID, teasel.High, j.subject(s), "foreign", s.Raw, fmt.Sprintf(
		"%s was answered with the id %s, which no request has.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Message.ID, 80)))
}

// isUnique reports whether no other line has the id, in whatever notation.
func (j *judge) isUnique(s *script.Sent) bool {
	id := s.Message.Root.Get("id")
	return !slices.ContainsFunc(j.t.Sent, func(o script.Sent) bool {
		return (o.Step != s.Step || o.At != s.At) && o.Message.Root != nil && o.Message.Class != jsonrpc.ClassNotification && id.Equal(o.Message.Root.Get("id"))
	})
}

// asked reports whether a line of ours carries the id that may have an answer: a request, or what is neither that nor a response.
func (j *judge) asked(id *mutate.JSON) bool {
	return slices.ContainsFunc(j.t.Sent, func(s script.Sent) bool {
		m := &s.Message
		return m.Root != nil && (m.Class != jsonrpc.ClassResponse || malformed(m) != "") && id.Equal(m.Root.Get("id"))
	})
}
