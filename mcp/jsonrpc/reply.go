package jsonrpc

import "github.com/teaselfuzz/teasel/mutate"

// AppendReply appends the line that answers a server's request. We declare no capability, so that a ping is all that
// a server may ask; the rest is refused at once, so that whatever waits for it goes on.
func AppendReply(dst []byte, request *Message) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, request.ID...)
	if request.Method == "ping" {
		return append(dst, `,"result":{}}`+"\n"...)
	}
	dst = append(dst, `,"error":{"code":-32601,"message":`...)
	dst = mutate.NewString("method not found: " + request.Method).Append(dst)
	return append(dst, "}}\n"...)
}
