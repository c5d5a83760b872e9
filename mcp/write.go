package mcp

import "github.com/teaselfuzz/teasel/mutate"

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

func member(name string, v *mutate.JSON) mutate.Member { return mutate.Member{Name: name, Value: v} }

// object returns an object of one member whose value is a string.
func object(name, value string) *mutate.JSON {
	return mutate.NewObject(member(name, mutate.NewString(value)))
}
