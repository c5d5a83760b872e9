package check

import (
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// checkLifecycle needs a process for each script, which is why each does as much as it can.
func checkLifecycle(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if b.Session.Stateless {
		return // there is no handshake
	}
	version := b.Version()
	probe := func(name string, steps ...script.Step) { emit(name, script.NewFresh(Lifecycle, steps...)) }
	ping, list := script.SendText(session.PingLine), script.Send(jsonrpc.RequestLine("tools/list", nil))
	call := script.Send(session.CallLine(Controls[0], mutate.NewObject()))
	for _, t := range b.Tools {
		if !t.Slow {
			call = script.Send(t.Call())
			break
		}
	}
	begin := script.Handshake(version)
	probe("before initialize", slices.Concat([]script.Step{ping, list, call}, begin, []script.Step{ping, list})...)
	Chunks(uninitialized(b), maxUninitialized, func(part int, steps []script.Step) {
		probe("method before initialize "+strconv.Itoa(part), slices.Concat(steps, begin, []script.Step{ping})...)
	})
	probe("initialize twice", slices.Concat(begin, []script.Step{script.Send(session.InitializeLine(version)), list, ping})...)
	probe("never initialized", begin[0], list, call, ping)
	probe("initialized first", script.SendText(session.InitializedLine), list, begin[0], begin[1], list)
	for _, v := range session.Versions {
		if v != version {
			probe("version "+v, slices.Concat(script.Handshake(v), []script.Step{ping, list})...)
		}
	}
	probe("version unsupported", slices.Concat(script.Handshake("1999-12-31"), []script.Step{ping, list})...)
	probe("version from the future", slices.Concat(script.Handshake("2999-01-01"), []script.Step{ping})...)
	probe("initialize malformed", script.Send(jsonrpc.RequestLine("initialize", nil)), script.Send(jsonrpc.RequestLine("initialize", mutate.NewObject())),
		script.Send(jsonrpc.RequestLine("initialize", mutate.NewRaw(`{"protocolVersion":5,"capabilities":[],"clientInfo":"a"}`))), begin[0], begin[1], ping)
	probe("batch", slices.Concat(script.Handshake("2025-03-26"), []script.Step{script.SendOn([]byte(batches[1].line)), ping})...)
}

// maxUninitialized is how many requests a script makes before initialize: a server that says nothing is waited for each time.
const maxUninitialized = 16

// uninitialized are requests of all methods but those that every script of [checkLifecycle] makes, as a client would make them.
func uninitialized(b *session.Catalog) (steps []script.Step) {
	for _, m := range session.Methods {
		switch m {
		case "initialize", "ping", "tools/list", "tools/call":
			continue
		case "resources/read", "resources/subscribe", "resources/unsubscribe":
			uri := "file:///a"
			if len(b.Session.Resources) > 0 {
				uri = b.Session.Resources[0].URI
			}
			steps = append(steps, script.Send(jsonrpc.RequestLine(m, jsonrpc.Object("uri", uri))))
		case "prompts/get":
			line := jsonrpc.RequestLine(m, jsonrpc.Object("name", "a"))
			if len(b.Session.Prompts) > 0 {
				line = PromptLine(&b.Session.Prompts[0], b.Likely)
			}
			steps = append(steps, script.Send(line))
		default:
			line := jsonrpc.RequestLine(m, nil)
			if params, ok := plainParams[m]; ok {
				line = jsonrpc.RequestLine(m, mutate.NewRaw(params))
			}
			steps = append(steps, script.Send(line))
		}
	}
	return steps
}

func checkEOF(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if b.Session.HTTP || b.Session.Stateless {
		return // a connection says nothing about the server
	}
	probe := func(name string, steps ...script.Step) { emit(name, script.NewFresh(EOF, steps...)) }
	begin := script.Handshake(b.Version())
	end := func(line string) script.Step {
		return script.Step{Line: []byte(line), NoWait: true, NoNewline: true, Close: true}
	}
	probe("at once", end(""))
	probe("after a request", slices.Concat(begin, []script.Step{{Line: []byte(session.PingLine), Close: true, NoWait: true}})...)
	probe("in a line", slices.Concat(begin, []script.Step{end(session.PingLine[:len(session.PingLine)/2])})...)
	probe("before the newline", slices.Concat(begin, []script.Step{end(session.PingLine)})...)
}
