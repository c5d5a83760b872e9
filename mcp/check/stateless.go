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
			break
		}
	}
}
