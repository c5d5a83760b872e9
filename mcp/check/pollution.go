package check

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// PollutionMarker is what a refusal of a call without a name contains when an earlier call has written to the prototype of
// all objects: what the request lacks is then found there.
const PollutionMarker = "tzlproto68130725kept"

// pollutedObjects write to the prototype where they are merged into an object of the server's.
var pollutedObjects = []string{
	`{"__proto__":{"name":"` + PollutionMarker + `"}}`, `{"constructor":{"prototype":{"name":"` + PollutionMarker + `"}}}`,
}

// pollutedPaths do so where a path of keys says what is set.
var pollutedPaths = []string{"__proto__.name", "constructor.prototype.name", "/__proto__/name", "__proto__[name]"}

// Bounds of the script that looks for pollution.
const (
	maxPolluted     = 24 // tools
	maxPollutedCall = 16 // calls of each
)

// checkPollution needs a process of its own: nothing that comes later can be trusted.
func checkPollution(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	nameless := script.Send(jsonrpc.RequestLine("tools/call", mutate.NewObject()))
	steps := append(script.Handshake(b.Version()), nameless)
	polluted := 0
	for _, t := range b.Tools {
		calls := pollutedCalls(t)
		if t.Slow || len(calls) == 0 || polluted == maxPolluted {
			continue
		}
		polluted++
		steps = append(append(steps, calls[:min(maxPollutedCall, len(calls))]...), nameless)
	}
	if polluted > 0 {
		emit("names", script.NewFresh(Pollution, steps...))
	}
}

// pollutedCalls are calls of a tool with what pollutes in each place that takes it: objects, lists of objects, the arguments
// themselves, texts that may be parsed, and pairs of a path and a value.
func pollutedCalls(c *session.Operation) (calls []script.Step) {
	replaced := func(name string, value *mutate.JSON) {
		arguments := c.Full.Clone()
		arguments.Set(name, value)
		calls = append(calls, script.Send(c.CallWith(arguments)))
	}
	for _, text := range pollutedObjects {
		for i := range c.Full.Members {
			switch m := &c.Full.Members[i]; {
			case m.Value == nil:
			case m.Value.Kind == mutate.Object:
				replaced(m.Name, mutate.NewRaw(text))
			case m.Value.Kind == mutate.Array && slices.ContainsFunc(m.Value.Items, func(v *mutate.JSON) bool { return v != nil && v.Kind == mutate.Object }):
				replaced(m.Name, mutate.NewRaw("["+text+","+text+"]"))
			}
		}
		for _, pointer := range c.Texts[:min(2, len(c.Texts))] {
			calls = append(calls, script.Send(c.CallWith(c.With(pointer, text))))
		}
		calls = append(calls, script.Send(session.CallLine(c.Name, mutate.NewRaw(joined(c.Full.String(), text[1:len(text)-1])))))
	}
	if len(c.Texts) >= 2 {
		for _, path := range pollutedPaths {
			arguments := session.WithText(c.With(c.Texts[0], path), c.Texts[len(c.Texts)-1], PollutionMarker)
			calls = append(calls, script.Send(c.CallWith(arguments)))
		}
	}
	return calls
}

// joined adds the text of a member to that of an object.
func joined(object, member string) string {
	if object == "{}" {
		return "{" + member + "}"
	}
	return object[:len(object)-1] + "," + member + "}"
}

// polluted holds the answers to calls without a name against one another: the name that the later one has got can only come
// from what all objects inherit.
func (j *Case) polluted() {
	clean := false
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		r := j.answer(s)
		if s.Message.Method != "tools/call" || s.Message.Params.Get("name") != nil || r == nil {
			continue
		}
		if !bytes.Contains(r.Raw, []byte(PollutionMarker)) {
			clean = true
			continue
		}
		call := j.lastCall(i)
		if !clean || call == nil {
			return
		}
		j.reportAs(RulePollution, teasel.High, j.subject(call), "", fmt.Sprintf(
			"After %s a call without a name is answered with %s: the name comes from the prototype of all objects.", jsonrpc.Cut(call.Raw, 200), jsonrpc.Cut(r.Raw, 160)))
		return
	}
}

// lastCall returns the last call of a tool that carries the marker before a line; nil: there is none.
func (j *Case) lastCall(before int) *script.Sent {
	for i := before - 1; i >= 0; i-- {
		if s := &j.Transcript.Sent[i]; s.Message.Method == "tools/call" && bytes.Contains(s.Raw, []byte(PollutionMarker)) {
			return s
		}
	}
	return nil
}
