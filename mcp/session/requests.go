package session

import (
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// ClientInfo is who we say we are.
const ClientInfo = `{"name":"teasel","version":"1"}`

// CallLine returns a call of a tool; no arguments if nil.
func CallLine(tool string, arguments *mutate.JSON) []byte {
	params := mutate.NewObject(jsonrpc.Member("name", mutate.NewString(tool)))
	if arguments != nil {
		params.Members = append(params.Members, jsonrpc.Member("arguments", arguments))
	}
	return jsonrpc.RequestLine("tools/call", params)
}

// InitializeLine returns a handshake's first message.
func InitializeLine(version string) []byte {
	b := append(make([]byte, 0, 192), `{"jsonrpc":"2.0","id":"@id","method":"initialize","params":{"protocolVersion":`...)
	b = mutate.NewString(version).Append(b)
	return append(b, `,"capabilities":`+ClientCapabilities(version)+`,"clientInfo":`+ClientInfo+`}}`...)
}

// InitializedLine is a handshake's last message.
const InitializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// PingLine is the plainest request.
const PingLine = `{"jsonrpc":"2.0","id":"@id","method":"ping"}`
