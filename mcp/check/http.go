package check

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// What the heads of [HTTP] name that no server can have agreed to.
const (
	ForeignHost    = "teasel-no-such.example"
	ForeignOrigin  = "http://" + ForeignHost
	UnknownSession = "teasel-no-such-session"
	NoVersion      = "1999-12-31"
)

// manyStreams is how many streams of a GET one session has open.
const manyStreams = 16

// withHead returns a step whose request has another head.
func withHead(line, head string) script.Step { return script.Step{Line: []byte(line), Head: head} }

// checkHTTP sends plain requests with heads that a server has to refuse, and some that it has to survive.
func checkHTTP(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.HTTP || b.Session.Events {
		return
	}
	list := string(jsonrpc.RequestLine("tools/list", nil))
	shared := func(name, head string) { emit(name, script.NewShared(HTTP, withHead(list, head))) }
	shared("foreign origin", "Origin: "+ForeignOrigin)
	shared("foreign origin and host", "Origin: "+ForeignOrigin+"\nHost: "+ForeignHost)
	shared("foreign host", "Host: "+ForeignHost)
	shared("null origin", "Origin: null")
	emit("again and again", script.NewShared(HTTP, slices.Repeat([]script.Step{script.SendText(list)}, chunk)...))
	if b.Session.Stateless {
		shared("GET", "GET")
		shared("DELETE", "DELETE")
		return
	}
	shared("unknown session", "Mcp-Session-Id: "+UnknownSession)
	shared("no session", "Mcp-Session-Id:")
	shared("unsupported version", "MCP-Protocol-Version: "+NoVersion)
	shared("malformed version", "MCP-Protocol-Version: teasel")
	shared("accepts nothing", "Accept:")
	shared("accepts HTML", "Accept: text/html")
	shared("text", "Content-Type: text/plain")
	shared("no content type", "Content-Type:")
	shared("method", "PUT")
	shared("path", "POST /../../../../etc/passwd")
	shared("long head", "+X-Teasel: "+strings.Repeat("a", 64<<10))
	shared("many lines", strings.Repeat("+X-Teasel: a\n", 2000))
	shared("malformed line", "+teasel\x00\x01")
	shared("malformed length", "Content-Length: -1")
	shared("two lengths", "+Content-Length: 1")
	shared("length and chunks", "+Transfer-Encoding: chunked")
	shared("chunks that are none", "Content-Length:\n+Transfer-Encoding: chunked")
	shared("length and other coding", "+Transfer-Encoding: teasel")
	shared("length and spaced chunks", "+Transfer-Encoding : chunked")
	emit("resumed by nobody", script.NewShared(HTTP, script.Step{Head: "GET\nMcp-Session-Id:\nLast-Event-ID: 0", NoWait: true}, script.SendText(list)))

	begin := script.Handshake(b.Version())
	fresh := func(name string, steps ...script.Step) {
		emit(name, script.NewFresh(HTTP, slices.Concat(begin, steps)...))
	}
	fresh("ended session", script.SendText(list), withHead("", "DELETE"), script.SendText(list))
	fresh("two sessions", script.SendText(list), script.Step{Line: session.InitializeLine(b.Version()), Head: "Mcp-Session-Id:"})
	fresh("many streams", script.Step{Head: "GET", NoWait: true, Times: manyStreams}, script.SendText(list))
	fresh("many sessions", script.Step{Line: session.InitializeLine(b.Version()), Head: "Mcp-Session-Id:", Times: 200}, script.SendText(session.PingLine))
}
