package mcp

import (
	"github.com/teaselfuzz/teasel/mutate"
)

// clientInfo is who we say we are.
const clientInfo = `{"name":"teasel","version":"1"}`

// requestLine returns a request with a fresh id; no params if nil.
func requestLine(method string, params *mutate.JSON) []byte {
	b := append(make([]byte, 0, 96), `{"jsonrpc":"2.0","id":"@id","method":`...)
	return finishLine(b, method, params)
}

// notificationLine returns a notification; no params if nil.
func notificationLine(method string, params *mutate.JSON) []byte {
	b := append(make([]byte, 0, 96), `{"jsonrpc":"2.0","method":`...)
	return finishLine(b, method, params)
}

func finishLine(b []byte, method string, params *mutate.JSON) []byte {
	b = mutate.NewString(method).Append(b)
	if params != nil {
		b = append(b, `,"params":`...)
		b = params.Append(b)
	}
	return append(b, '}')
}

// callLine returns a call of a tool; no arguments if nil.
func callLine(tool string, arguments *mutate.JSON) []byte {
	params := mutate.NewObject(member("name", mutate.NewString(tool)))
	if arguments != nil {
		params.Members = append(params.Members, member("arguments", arguments))
	}
	return requestLine("tools/call", params)
}

// initializeLine returns a handshake's first message.
func initializeLine(version string) []byte {
	b := append(make([]byte, 0, 192), `{"jsonrpc":"2.0","id":"@id","method":"initialize","params":{"protocolVersion":`...)
	b = mutate.NewString(version).Append(b)
	return append(b, `,"capabilities":{},"clientInfo":`+clientInfo+`}}`...)
}

// initializedLine is a handshake's last message.
const initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// pingLine is the plainest request.
const pingLine = `{"jsonrpc":"2.0","id":"@id","method":"ping"}`

func member(name string, v *mutate.JSON) mutate.Member { return mutate.Member{Name: name, Value: v} }

// object returns an object of one member whose value is a string.
func object(name, value string) *mutate.JSON {
	return mutate.NewObject(member(name, mutate.NewString(value)))
}

// send is a step that is awaited; sendOn is one that is not.
func send(line []byte) Step     { return Step{Line: line} }
func sendText(line string) Step { return Step{Line: []byte(line)} }
func sendOn(line []byte) Step   { return Step{Line: line, NoWait: true} }

// handshake returns the steps that every session begins with.
func handshake(version string) []Step {
	return []Step{send(initializeLine(version)), sendText(initializedLine)}
}

// fresh returns a script on a process of its own, shared one in the session that is up.
func fresh(check string, steps ...Step) Script {
	return Script{Start: Fresh, Check: check, Steps: steps}
}
func shared(check string, steps ...Step) Script {
	return Script{Start: Shared, Check: check, Steps: steps}
}
