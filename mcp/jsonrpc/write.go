package jsonrpc

import "github.com/teaselfuzz/teasel/mutate"

// RequestLine returns a request with a fresh id; no params if nil.
func RequestLine(method string, params *mutate.JSON) []byte {
	b := append(make([]byte, 0, 96), `{"jsonrpc":"2.0","id":"@id","method":`...)
	return finishLine(b, method, params)
}

// NotificationLine returns a notification; no params if nil.
func NotificationLine(method string, params *mutate.JSON) []byte {
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

// Member returns a member of an object.
func Member(name string, v *mutate.JSON) mutate.Member { return mutate.Member{Name: name, Value: v} }

// Object returns an object of one member whose value is a string.
func Object(name, value string) *mutate.JSON {
	return mutate.NewObject(Member(name, mutate.NewString(value)))
}
