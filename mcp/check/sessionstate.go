package check

import (
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// otherVersion is that of the second client: the first one with sessions.
const otherVersion = "2025-03-26"

// checkSessionState asks the same in one session before and after another client has begun a session, has asked for something, and has
// ended it: one that has no capabilities, speaks an older version, and changes nothing.
func checkSessionState(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.HTTP || b.Session.Events || b.Session.Stateless || !b.Session.HasID {
		return
	}
	Chunks(comparable(b), chunk, func(part int, look []script.Step) {
		steps := script.Handshake(b.Version())
		for _, s := range look {
			m := jsonrpc.Parse(s.Line)
			steps = append(steps, slices.Repeat([]script.Step{s}, looksOf(&m))...)
		}
		other := fmt.Sprintf("Mcp-Session-Id: @{%d:Mcp-Session-Id}\nMCP-Protocol-Version: %s", len(steps), otherVersion)
		begin := withHead(string(bareClient(session.InitializeLine(otherVersion))), "Mcp-Session-Id:\nMCP-Protocol-Version:")
		list := string(jsonrpc.RequestLine("tools/list", mutate.NewObject())) // unlike the line of another step
		between := []script.Step{begin, withHead(session.InitializedLine, other), withHead(list, other)}
		emit(fmt.Sprintf("begun %d", part), script.NewFresh(SessionState, slices.Concat(steps, between, look)...))
		emit(fmt.Sprintf("ended %d", part), script.NewFresh(SessionState, slices.Concat(steps, append(between, withHead("", "DELETE\n"+other)), look)...))
	})
}

// afterSession compares the answers to requests of one session with those to the same, after another session.
func (j *Case) afterSession() {
	if !j.opens() {
		return
	}
	for last := len(j.Transcript.Script.Steps) - 1; last > 1; last-- {
		if latest, sent := j.changed(last); sent != nil {
			j.report(RuleSessionState, j.subject(sent), "", fmt.Sprintf("%s was answered with %s after another client had begun a session, and with %s before that.",
				jsonrpc.Cut(sent.Raw, 160), jsonrpc.Cut(j.answer(sent).Raw, 160), jsonrpc.Cut(j.answer(j.single(latest)).Raw, 160)))
			return
		}
	}
}

// opens reports whether a script has begun its own session first: without one the other client's is taken for it.
func (j *Case) opens() bool {
	if len(j.Transcript.Sent) == 0 || SessionOf(j.Transcript, 0) != "" {
		return false
	}
	s := &j.Transcript.Sent[0]
	r := j.answer(s)
	return s.Message.Method == "initialize" && r != nil && r.Message.Result != nil
}
