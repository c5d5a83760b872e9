package mcp

import "github.com/teaselfuzz/teasel/mutate"

// clientInfo is who we say we are.
const clientInfo = `{"name":"teasel","version":"1"}`

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
