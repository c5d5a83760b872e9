package check

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// batches are arrays of messages: right ones, and wrong in each way.
var batches = []struct{ name, line string }{
	{"one request", `[{"jsonrpc":"2.0","id":"@id","method":"ping"}]`},
	{"two requests", `[{"jsonrpc":"2.0","id":"teasel-b1","method":"ping"},{"jsonrpc":"2.0","id":"teasel-b2","method":"tools/list"}]`},
	{"one id twice", `[{"jsonrpc":"2.0","id":"teasel-b3","method":"ping"},{"jsonrpc":"2.0","id":"teasel-b3","method":"ping"}]`},
	{"notification", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`},
	{"request and notification", `[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"@id","method":"ping"}]`},
	{"empty", `[]`},
	{"no messages", `[1,2,3]`},
	{"null", `[null]`},
	{"request and no message", `[{"jsonrpc":"2.0","id":"@id","method":"ping"},1]`},
	{"nested", `[[{"jsonrpc":"2.0","id":"@id","method":"ping"}]]`},
	{"initialize", `[{"jsonrpc":"2.0","id":"@id","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":` + session.ClientInfo + `}}]`},
}

func checkBatch(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, batch := range batches {
		emit(batch.name, script.NewShared(Batch, script.SendOn([]byte(batch.line)), script.SendText(session.PingLine)))
	}
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		line := slices.Concat([]byte{'['}, t.Call(), []byte(`,{"jsonrpc":"2.0","id":"teasel-b4","method":"ping"}]`))
		emit("call", script.NewShared(Batch, script.SendOn(line), script.SendText(session.PingLine)))
		break
	}
}

// invalid are lines that are no message, in each way that a reader may trip over.
var invalid = []struct{ name, line string }{
	{"broken object", `{bad`},
	{"words", `hello`},
	{"cut off", `{"jsonrpc":"2.0","id":"@id","method":"ping"`},
	{"one brace too many", `{"jsonrpc":"2.0","id":"@id","method":"ping"}}`},
	{"two messages", `{"jsonrpc":"2.0","id":"teasel-i1","method":"ping"}{"jsonrpc":"2.0","id":"teasel-i2","method":"ping"}`},
	{"trailing comma", `{"jsonrpc":"2.0","id":"@id","method":"ping",}`},
	{"single quotes", `{'jsonrpc':'2.0','id':1,'method':'ping'}`},
	{"comment", `{"jsonrpc":"2.0","id":"@id",/* a */"method":"ping"}`},
	{"NaN", `{"jsonrpc":"2.0","id":NaN,"method":"ping"}`},
	{"bare word", `{"jsonrpc":"2.0","id":"@id","method":ping}`},
	{"leading zero", `{"jsonrpc":"2.0","id":007,"method":"ping"}`},
	{"raw control character", "{\"jsonrpc\":\"2.0\",\"id\":\"a\tb\",\"method\":\"ping\"}"},
	{"invalid escape", `{"jsonrpc":"2.0","id":"\x41","method":"ping"}`},
	{"lone surrogate", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`},
	{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"ping\"}"},
	{"overlong UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xc0\xaf\",\"method\":\"ping\"}"},
	{"byte order mark", "\ufeff" + session.PingLine},
	{"UTF-16", "\xff\xfe{\x00}\x00"},
	{"zero bytes", "\x00\x00\x00\x00"},
	{"null", `null`}, {"true", `true`}, {"number", `5`}, {"string", `"ping"`}, {"empty object", `{}`}, {"empty line", ``}, {"spaces", `    `},
	{"HTTP header", `Content-Length: 46`},
	{"HTTP request", `POST / HTTP/1.1`},
	{"no method", `{"jsonrpc":"2.0","id":"@id"}`},
	{"method null", `{"jsonrpc":"2.0","id":"@id","method":null}`},
	{"method number", `{"jsonrpc":"2.0","id":"@id","method":1}`},
	{"method array", `{"jsonrpc":"2.0","id":"@id","method":["ping"]}`},
	{"method object", `{"jsonrpc":"2.0","id":"@id","method":{}}`},
	{"method empty", `{"jsonrpc":"2.0","id":"@id","method":""}`},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`},
	{"id array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`},
	{"id object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`},
	{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`},
	{"id huge", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`},
	{"no version", `{"id":"@id","method":"ping"}`},
	{"version 1.0", `{"jsonrpc":"1.0","id":"@id","method":"ping"}`},
	{"version 2.1", `{"jsonrpc":"2.1","id":"@id","method":"ping"}`},
	{"version number", `{"jsonrpc":2.0,"id":"@id","method":"ping"}`},
	{"version null", `{"jsonrpc":null,"id":"@id","method":"ping"}`},
	{"params string", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":"a"}`},
	{"params number", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":1}`},
	{"params null", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":null}`},
	{"params array", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":[]}`},
	{"method and result", `{"jsonrpc":"2.0","id":"@id","method":"ping","result":{}}`},
	{"result and error", `{"jsonrpc":"2.0","id":"teasel-i3","result":{},"error":{"code":1,"message":"a"}}`},
	{"unasked response", `{"jsonrpc":"2.0","id":"teasel-i4","result":{}}`},
	{"unasked error", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}`},
	{"error is a string", `{"jsonrpc":"2.0","id":"teasel-i5","error":"a"}`},
	{"call without params", `{"jsonrpc":"2.0","id":"@id","method":"tools/call"}`},
	{"call without name", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{}}`},
	{"call with name null", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":null}}`},
	{"call with name object", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":{}}}`},
	{"meta null", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"_meta":null}}`},
	{"meta string", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"_meta":"a"}}`},
}

func checkInvalid(_ *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, line := range invalid {
		emit(line.name, script.NewShared(Invalid, script.SendOn([]byte(line.line)), script.SendText(session.PingLine)))
	}
}

const (
	largeText  = 1 << 20
	largeDepth = 10_000
	largeWidth = 100_000
	largeTools = 1 // that get arguments of full size

	maxLargeTools = 64 // that get large arguments at all; where there are more, some are drawn
)

// DeepText is n arrays or objects in one another.
func DeepText(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// WideObject is an object of n members.
func WideObject(n int) string {
	b := append(make([]byte, 0, 12*n), '{')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"k`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `":0`...)
	}
	return string(append(b, '}'))
}

// WideArray returns the text of an array of n elements.
func WideArray(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }

func checkLarge(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	large := func(name string, line []byte) {
		emit(name, script.NewShared(Large, script.Send(line), script.SendText(session.PingLine)))
	}
	raw := func(method, params string) []byte { return jsonrpc.RequestLine(method, mutate.NewRaw(params)) }
	big := Quote(script.LongText(largeText))
	large("method", bytes.Replace([]byte(session.PingLine), []byte(`"ping"`), []byte(Quote(script.LongText(largeText/16))), 1))
	large("id", []byte(withID([]byte(session.PingLine), Quote(script.LongText(1<<16)))))
	large("params text", raw("ping", `{"a":`+big+`}`))
	large("params array depth", raw("ping", `{"a":`+DeepText("[", "0", "]", largeDepth)+`}`))
	large("params object depth", raw("ping", `{"a":`+DeepText(`{"a":`, "0", "}", largeDepth)+`}`))
	large("params keys", raw("ping", WideObject(largeWidth/4)))
	large("digits", raw("ping", `{"a":`+strings.Repeat("9", 100_000)+`}`))
	large("exponent", raw("ping", `{"a":1e999999999}`))
	large("escapes", raw("ping", `{"a":"`+strings.Repeat(`\u0000`, largeText/16)+`"}`))
	large("spaces", []byte(`{"jsonrpc":"2.0",`+strings.Repeat(" ", largeText/4)+`"id":"@id","method":"ping"}`))
	for i, t := range someTools(b, r, maxLargeTools) {
		arguments := func(text string) []byte { return t.CallWith(mutate.NewRaw(text)) }
		extra := func(value string) []byte {
			v := t.Plain.Clone()
			v.Members = append(v.Members, jsonrpc.Member("teasel_extra", mutate.NewRaw(value)))
			return t.CallWith(v)
		}
		text, width := largeText, largeWidth
		if i >= largeTools {
			// A limit of the server's is no other for each tool, and takes long to come to: everything waits for answers.
			text, width = largeText/16, largeWidth/50
		}
		large(t.Name+" keys", arguments(WideObject(width)))
		large(t.Name+" depth", extra(DeepText("[", "0", "]", largeDepth)))
		for _, pointer := range t.Texts[:min(2, len(t.Texts))] {
			large(t.Name+" "+pointer, t.CallWith(t.With(pointer, script.LongText(text))))
		}
		for _, m := range t.Full.Members {
			if m.Value.Kind == mutate.Array {
				v := t.Full.Clone()
				v.Set(m.Name, mutate.NewRaw(WideArray(width)))
				large(t.Name+" items of "+m.Name, t.CallWith(v))
			}
		}
	}
}

// checkHuge sends a line that is longer than the buffers of servers, which may take a server seconds to read. Its scripts are the last
// of all seeds.
func checkHuge(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	huge := func(name string, line []byte) {
		emit("huge "+name, script.NewShared(Large, script.Send(line), script.SendText(session.PingLine)))
	}
	huge("params", jsonrpc.RequestLine("ping", jsonrpc.Object("a", script.HugeText)))
	for _, t := range b.Tools {
		if len(t.Texts) > 0 && !t.Slow {
			huge(t.Name, t.CallWith(t.With(t.Texts[0], script.HugeText)))
			break
		}
	}
}
