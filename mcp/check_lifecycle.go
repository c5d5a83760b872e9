package mcp

import (
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// checkLifecycle needs a process for each script, which is why each does as much as it can.
func checkLifecycle(b *repertoire, _ *teasel.Rand, emit emitter) {
	version := b.version()
	probe := func(name string, steps ...Step) { emit(name, fresh(CheckLifecycle, steps...)) }
	ping, list := sendText(pingLine), send(requestLine("tools/list", nil))
	call := send(callLine(controls[0], mutate.NewObject()))
	for _, t := range b.tools {
		if !t.Slow {
			call = send(t.call())
			break
		}
	}
	begin := handshake(version)
	probe("before initialize", slices.Concat([]Step{ping, list, call}, begin, []Step{ping, list})...)
	chunks(uninitialized(b), maxUninitialized, func(part int, steps []Step) {
		probe("method before initialize "+strconv.Itoa(part), slices.Concat(steps, begin, []Step{ping})...)
	})
	probe("initialize twice", slices.Concat(begin, []Step{send(initializeLine(version)), list, ping})...)
	probe("never initialized", begin[0], list, call, ping)
	probe("initialized first", sendText(initializedLine), list, begin[0], begin[1], list)
	for _, v := range Versions {
		if v != version {
			probe("version "+v, slices.Concat(handshake(v), []Step{ping, list})...)
		}
	}
	probe("version unsupported", slices.Concat(handshake("1999-12-31"), []Step{ping, list})...)
	probe("version from the future", slices.Concat(handshake("2999-01-01"), []Step{ping})...)
	probe("initialize malformed", send(requestLine("initialize", nil)), send(requestLine("initialize", mutate.NewObject())),
		send(requestLine("initialize", mutate.NewRaw(`{"protocolVersion":5,"capabilities":[],"clientInfo":"a"}`))), begin[0], begin[1], ping)
	probe("batch", slices.Concat(handshake("2025-03-26"), []Step{sendOn([]byte(batches[1].line)), ping})...)
}

// maxUninitialized is how many requests a script makes before initialize: a server that says nothing is waited for each time.
const maxUninitialized = 16

// uninitialized are requests of all methods but those that every script of [checkLifecycle] makes, as a client would make them.
func uninitialized(b *repertoire) (steps []Step) {
	for _, m := range methods {
		switch m {
		case "initialize", "ping", "tools/list", "tools/call":
			continue
		case "resources/read", "resources/subscribe", "resources/unsubscribe":
			uri := "file:///a"
			if len(b.session.Resources) > 0 {
				uri = b.session.Resources[0].URI
			}
			steps = append(steps, send(requestLine(m, object("uri", uri))))
		case "prompts/get":
			line := requestLine(m, object("name", "a"))
			if len(b.session.Prompts) > 0 {
				line = promptLine(&b.session.Prompts[0], b.likely)
			}
			steps = append(steps, send(line))
		default:
			line := requestLine(m, nil)
			if params, ok := plainParams[m]; ok {
				line = requestLine(m, mutate.NewRaw(params))
			}
			steps = append(steps, send(line))
		}
	}
	return steps
}

func checkEOF(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name string, steps ...Step) { emit(name, fresh(CheckEOF, steps...)) }
	begin := handshake(b.version())
	end := func(line string) Step { return Step{Line: []byte(line), NoWait: true, NoNewline: true, Close: true} }
	probe("at once", end(""))
	probe("after a request", slices.Concat(begin, []Step{{Line: []byte(pingLine), Close: true, NoWait: true}})...)
	probe("in a line", slices.Concat(begin, []Step{end(pingLine[:len(pingLine)/2])})...)
	probe("before the newline", slices.Concat(begin, []Step{end(pingLine)})...)
}
