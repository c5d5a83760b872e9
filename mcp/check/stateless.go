package check

import (
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// checkStateless asks without what each request of the version without a handshake has to say, and with something else in its place.
func checkStateless(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.Stateless {
		return
	}
	list := string(session.Stamp(jsonrpc.RequestLine("tools/list", nil)))
	say := func(name, line, head string) { emit(name, script.NewShared(Stateless, withHead(line, head))) }
	say("discover", session.DiscoverLine, "")
	say("no meta", string(jsonrpc.RequestLine("tools/list", nil)), "")
	for _, member := range []string{session.MetaVersion, session.MetaCapabilities} {
		say("no "+member, strings.Replace(list, `"`+member+`"`, `"teasel_no_such"`, 1), "")
	}
	say("log level", withLevel(list, Levels[0]), "")
	say("no log level", withLevel(list, "teasel"), "")
	say("unsupported version", strings.Replace(list, session.StatelessVersion, NoVersion, 1), "MCP-Protocol-Version: "+NoVersion)
	say("removed methods", string(session.Stamp([]byte(session.PingLine))), "")
	if !b.Session.HTTP {
		return
	}
	say("another method in the head", list, "Mcp-Method: prompts/list")
	say("no method in the head", list, "Mcp-Method:")
	say("another version in the head", list, "MCP-Protocol-Version: 2025-11-25")
	for _, t := range b.Tools {
		if call := string(session.Stamp(t.Call())); !t.Slow {
			say("another name in the head", call, "Mcp-Name: "+ControlName+"a1")
			say("no name in the head", call, "Mcp-Name:")
			say("encoded name in the head", call, "Mcp-Name: "+session.EncodedHead(t.Name))
			say("two names in the head", call, "+Mcp-Name: "+ControlName+"a1")
			say("two methods in the head", call, "+Mcp-Method: tools/list")
			break
		}
	}
	for _, t := range b.Tools {
		if len(b.Session.Mirrors[t.Name]) > 0 && !t.Slow {
			mirrors(b.Session.Mirrors[t.Name], t, say)
		}
	}
}

// withLevel returns a stamped request that asks for the log messages of a level.
func withLevel(line, level string) string {
	return strings.Replace(line, `"`+session.MetaVersion+`"`, `"`+session.MetaLogLevel+`":"`+level+`","`+session.MetaVersion+`"`, 1)
}

// mirrors calls a tool with lines in the head that are not as the arguments which they repeat.
func mirrors(all []session.Mirror, t *session.Operation, say func(name, line, head string)) {
	call := string(session.Stamp(t.CallWith(t.Full)))
	for _, m := range all {
		text, ok := m.Value(t.Full)
		if !ok {
			continue
		}
		name := t.Name + ", " + m.Head
		say(name+": another value", call, m.Head+": "+ControlName+"a1")
		say(name+": none", call, m.Head+":")
		say(name+": encoded", call, m.Head+": "+session.EncodedHead(text))
		say(name+": another value, encoded", call, m.Head+": "+session.EncodedHead(ControlName+"a1"))
		say(name+": wrongly encoded", call, m.Head+": =?base64?!?=")
		say(name+": two", call, "+"+m.Head+": "+ControlName+"a1")
	}
}
