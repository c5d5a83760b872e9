package jsonrpc

import "testing"

func TestIsSoundResponse(t *testing.T) {
	for line, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                  true,
		`{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"no"}}`:         true,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                false,
		`{"jsonrpc":"2.0","id":1,"result":[]}`:                                  false,
		`{"jsonrpc":"2.0","id":1}`:                                              false,
		`{"id":1,"result":{}}`:                                                  false,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"a"}}`: false,
		`{"jsonrpc":"2.0","id":1,"error":null}`:                                 false,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"a"}}`:           false,
		`{"jsonrpc":"2.0","id":1,"result":{},"a":1}`:                            false,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                              false,
		`[]`: false,
	} {
		if m := Parse([]byte(line)); m.IsSoundResponse() != want {
			t.Errorf("%s: %t", line, !want)
		}
	}
}
