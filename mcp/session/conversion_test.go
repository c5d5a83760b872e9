package session

import (
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

func TestConverts(t *testing.T) {
	read := func(text string) *mutate.JSON {
		v, err := mutate.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	c := CompileSchema(read(`{"type":"object","properties":{
		"n":{"type":"integer","maximum":9},"x":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
		"l":{"type":"array","items":{"type":"integer"}},"o":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["n"]}`))
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"n":"7"}`, true},
		{`{"n":true}`, true},
		{`{"n":" 7.0 "}`, true},
		{`{"n":"7","x":"1e2","b":"off","s":5,"l":"[1,2]","o":"3"}`, true},
		{`{"n":7,"b":1,"s":false,"l":["1",true]}`, true},
		{`{"n":[7],"x":["1e2"]}`, true}, // as JavaScript's Number does
		{`{"n":[7,8]}`, false},
		{`{"n":[]}`, false},
		{`{"n":7,"b":[true]}`, false},
		{`{"n":"seven"}`, false},
		{`{"n":"7.5"}`, false},
		{`{"n":"10"}`, false},
		{`{"n":10}`, false},
		{`{"n":{}}`, false},
		{`{"n":7,"b":2}`, false},
		{`{"n":7,"l":"1,2"}`, false},
		{`{"n":7,"s":[]}`, false},
		{`{"n":7,"s":null}`, false},
		{`{"n":7,"o":"three"}`, false},
		{`{"s":"7"}`, false},
	} {
		v := read(tt.text)
		b, broken := c.Check(v)
		if !broken {
			t.Errorf("%s is valid", tt.text)
		}
		if got := c.Converts(v, b); got != tt.want {
			t.Errorf("%s: converted: %v", tt.text, got)
		}
		if v.String() != read(tt.text).String() {
			t.Errorf("%s has become %s", tt.text, v)
		}
	}
}
