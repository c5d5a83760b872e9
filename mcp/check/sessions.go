package check

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// The second session of a script: the step that begins it, and the head by which a request belongs to it.
const (
	otherStep = 2
	otherHead = "Mcp-Session-Id: @{2:Mcp-Session-Id}"
)

// resumeTime is for how many requests a stream that was resumed may be late.
const resumeTime = 8

// afterEvent stands for the first event of the response to a step.
const afterEvent = "@{%d:Last-Event-ID}"

// twoSessions returns steps that begin two sessions of one client each.
func twoSessions(version string) []script.Step {
	return append(script.Handshake(version), script.Step{Line: session.InitializeLine(version), Head: "Mcp-Session-Id:"},
		withHead(session.InitializedLine, otherHead))
}

// markedCall calls a tool that no server has. The name says whose call it is.
func markedCall(id, mark, head string) script.Step {
	return withHead(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+ControlName+mark+`","arguments":{},"_meta":{"progressToken":"`+ControlName+mark+`"}}}`, head)
}

// followedCall calls a tool and asks for its progress. The token says whose call it is.
func followedCall(t *session.Operation, mark, head string) script.Step {
	return withHead(strings.Replace(string(t.Call()), `"params":{`, `"params":{"_meta":{"progressToken":"`+ControlName+mark+`"},`, 1), head)
}

// sameIDs is how many pairs of requests with the same id are sent: two that overtake each other are a matter of luck.
const sameIDs = 8

// checkSessions has two sessions side by side on one server.
func checkSessions(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.HTTP || b.Session.Events || b.Session.Stateless || !b.Session.HasID {
		return
	}
	list := string(jsonrpc.RequestLine("tools/list", nil))
	both := func(name string, steps ...script.Step) {
		emit(name, script.NewFresh(Sessions, slices.Concat(twoSessions(b.Version()), steps)...))
	}
	both("one ends", withHead("", "DELETE\n"+otherHead), withHead(list, otherHead), script.SendText(list))
	var pairs []script.Step
	for i := range sameIDs {
		id := fmt.Sprint(7001 + i)
		one, other := markedCall(id, fmt.Sprintf("a%02d", i), ""), markedCall(id, fmt.Sprintf("b%02d", i), otherHead)
		one.NoWait, other.NoWait = true, i < sameIDs-1
		pairs = append(pairs, one, other)
	}
	both("same ids", pairs...)
	streams := []script.Step{{Head: "GET", NoWait: true}, withHead("", "GET\n"+otherHead), markedCall(`"@id"`, "a90", ""), markedCall(`"@id"`, "b90", otherHead)}
	streams[1].NoWait = true
	asked := []script.Step{{Head: "GET", NoWait: true}, {Head: "GET", NoWait: true}, markedCall(`"@id"`, "a94", "")}
	for _, t := range b.Tools { // which may have progress
		if t.Reads && !t.Slow {
			streams = append(streams, followedCall(t, "a97", ""), followedCall(t, "b97", otherHead))
			asked = append(asked, followedCall(t, "a95", ""))
			break
		}
	}
	both("streams", append(streams, script.SendText(list))...)
	both("several streams", append(asked, script.SendText(list))...)
	both("another stream resumed", resumed(list, "a92", "a93", "")...)
	both("resumed by a stranger", resumed(list, "a91", "a96", "\n"+otherHead)...)
}

// resumed returns steps that make two calls and resume the stream of the first one, with what head adds to that, which has a session.
func resumed(list, first, second, head string) []script.Step {
	resume := script.Step{Head: "GET\nLast-Event-ID: " + fmt.Sprintf(afterEvent, otherStep+2) + head, NoWait: true}
	steps := []script.Step{markedCall(`"@id"`, first, ""), markedCall(`"@id"`, second, ""), resume}
	for range resumeTime { // nothing says when a stream has no more to repeat
		steps = append(steps, withHead(list, strings.TrimPrefix(head, "\n")))
	}
	return steps
}

var marks = regexp.MustCompile(ControlName + "[ab][0-9]{2}")

// crossed looks for messages that came to a session although they are another one's.
func (j *Case) crossed() {
	owners := make(map[string]string) // of marks
	for i := range j.Transcript.Sent {
		for _, mark := range marks.FindAllString(string(j.Transcript.Sent[i].Raw), -1) {
			owners[mark] = SessionOf(j.Transcript, i)
		}
	}
	for i := range j.Transcript.Received {
		r := &j.Transcript.Received[i]
		if r.Via == 0 || j.Transcript.Sent[r.Via-1].Unresolved {
			continue
		}
		j.replayed(r)
		to := SessionOf(j.Transcript, r.Via-1)
		found := marks.FindAllString(string(r.Raw), -1)
		if len(found) == 0 || slices.ContainsFunc(found, func(mark string) bool { owner, ok := owners[mark]; return !ok || owner == to }) {
			continue
		}
		j.report(RuleSessionLeak, "(HTTP)", "", fmt.Sprintf("%s came to another session, in the response to %s.",
			jsonrpc.Cut(r.Raw, 160), j.Transcript.Spoken(&j.Transcript.Sent[r.Via-1])))
	}
}

// replayed looks for a message in a resumed stream that was in another stream.
func (j *Case) replayed(r *script.Received) {
	change := conn.ParseHead(j.Transcript.Head(&j.Transcript.Sent[r.Via-1]))
	id, _ := change.Get("Last-Event-ID")
	mark := marks.Find(r.Raw)
	if id == "" || mark == nil {
		return
	}
	for i := range j.Transcript.Sent[:r.Via-1] {
		s := &j.Transcript.Sent[i]
		if id != fmt.Sprintf(afterEvent, s.Step) || SessionOf(j.Transcript, i) != SessionOf(j.Transcript, r.Via-1) || bytes.Contains(s.Raw, mark) {
			continue
		}
		j.report(RuleReplay, "(HTTP)", "", fmt.Sprintf("%s came in the rest of the stream of %s, which a GET with Last-Event-ID %s asked for.",
			jsonrpc.Cut(r.Raw, 160), jsonrpc.Cut(s.Raw, 120), jsonrpc.Quote([]byte(s.EventID), 40)))
		return
	}
}

// SessionOf returns what the head of a line says of its session: "" is the one that the connection began with, and two lines of one
// session have the same text.
func SessionOf(t *script.Transcript, sent int) string {
	change := conn.ParseHead(t.Head(&t.Sent[sent]))
	if id, ok := change.Get("Mcp-Session-Id"); ok {
		return "Mcp-Session-Id: " + id
	}
	return ""
}
