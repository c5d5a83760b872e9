package check

import (
	"bytes"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// maxLooks is how many resources are read, and how many tools that need no argument are called, to see state.
const maxLooks = 8

// observers are requests whose answers show state: all lists, resources, and the tools that say that they only read and
// need no argument; but is left out. The first will be the given step of a script.
func observers(b *session.Catalog, first int, but *session.Operation) (look []script.Step) {
	EachList(b, func(method string) { look = append(look, allPages(b, method, first+len(look))...) })
	for i := range b.Session.Resources[:min(maxLooks, len(b.Session.Resources))] {
		look = append(look, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", b.Session.Resources[i].URI))))
	}
	tools := 0
	for _, t := range b.Tools {
		if t != but && t.ReadOnly && !t.Slow && len(t.Plain.Members) == 0 && tools < maxLooks {
			look = append(look, script.Send(t.Call()))
			tools++
		}
	}
	return look
}

// recordingWords are those of resources and tools that show what was called.
var recordingWords = []string{
	"activity", "audit", "calls", "event", "events", "history", "journal", "log", "logs", "metric", "metrics", "recent", "requests", "statistics", "stats", "telemetry",
	"trace", "traces", "usage", "uptime",
}

// records reports whether what an observing request shows changes with every call, because that is what it is for.
func records(observer *script.Sent) bool {
	switch m := &observer.Message; m.Method {
	case "resources/read":
		uri, _ := m.Params.Get("uri").Str()
		return session.HasWord(uri, recordingWords)
	case "tools/call":
		return session.HasWord(session.CalledName(m), recordingWords)
	}
	return false
}

// sameLine reports whether two steps are equal steps.
func (j *Case) sameLine(a, b int) bool {
	steps := j.Transcript.Script.Steps
	return bytes.Equal(steps[a].Line, steps[b].Line)
}

// exactly reports whether two steps were answered with the same result, or the same error.
func (j *Case) exactly(a, b int) (same, answered bool) {
	s, t := j.single(a), j.single(b)
	if s == nil || t == nil {
		return false, false
	}
	x, y := j.answer(s), j.answer(t)
	if x == nil || y == nil {
		return false, false
	}
	if x.Message.Error != nil || y.Message.Error != nil {
		return x.Message.Error != nil && y.Message.Error != nil && script.ErrorCode(x) == script.ErrorCode(y), true
	}
	return sameButTime(x.Message.Result, y.Message.Result), true
}

func sameButTime(x, y *mutate.JSON) bool {
	if x.Equal(y) {
		return true
	}
	without := func(v *mutate.JSON) string { return clockTime.ReplaceAllString(v.String(), "") }
	return without(x) == without(y)
}

// equalBefore returns the steps before one that are equal to it.
func (j *Case) equalBefore(last int) (before []int) {
	for i := range last {
		if j.sameLine(i, last) {
			before = append(before, i)
		}
	}
	return before
}
