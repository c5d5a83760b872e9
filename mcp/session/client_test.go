package session_test

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

func TestClientReply(t *testing.T) {
	c := session.Client{Roots: []string{"/a"}}
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}`:                                                  `{"jsonrpc":"2.0","id":"a\u0062","result":{}}`,
		`{"jsonrpc":"2.0","id":4,"method":"roots/list"}`:                                                    `{"jsonrpc":"2.0","id":4,"result":{"roots":[{"uri":"file:///a","name":"root"}]}}`,
		`{"jsonrpc":"2.0","id":4,"method":"sampling/\ncreate"}`:                                             `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"method not found: sampling/\ncreate"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`: `{"jsonrpc":"2.0","id":4,"result":{"role":"assistant","content":{"type":"text","text":"teasel"},"model":"teasel","stopReason":"endTurn"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"toolChoice":{"mode":"required"},"tools":[{"name":"t"}]}}`:                                      `{"jsonrpc":"2.0","id":4,"result":{"role":"assistant","content":{"type":"tool_use","id":"call-1","name":"t","input":{}},"model":"teasel","stopReason":"toolUse"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"elicitation/create","params":{"mode":"url","url":"http://a"}}`:                                                                                                `{"jsonrpc":"2.0","id":4,"result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"elicitation/create","params":{"message":"a","requestedSchema":{"type":"object","properties":{"sure":{"type":"string","enum":["yes"]}},"required":["sure"]}}}`: `{"jsonrpc":"2.0","id":4,"result":{"action":"accept","content":{"sure":"yes"}}}`,
	} {
		m := jsonrpc.Parse([]byte(line))
		if got := string(c.Reply(&m)); got != want {
			t.Errorf("%s is answered with %s", line, got)
		}
	}
}

// TestClientFillsInForms fills in what servers ask for: what comes out is as the form wants it, and the same each time.
func TestClientFillsInForms(t *testing.T) {
	var c session.Client
	for _, form := range []string{
		`{"type":"object","properties":{"email":{"type":"string","format":"email","minLength":5},"age":{"type":"integer","minimum":18,"maximum":120},"ok":{"type":"boolean"}},"required":["email","age","ok"]}`,
		`{"type":"object","properties":{"colours":{"type":"array","minItems":1,"items":{"type":"string","enum":["red","green"]}}},"required":["colours"]}`,
		`{"type":"object","properties":{"pick":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}},"required":["pick"]}`,
	} {
		m := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"a","requestedSchema":` + form + `}}`))
		first := c.Reply(&m)
		filled := jsonrpc.Parse(first).Result.Get("content")
		schema, _ := mutate.ParseJSON([]byte(form))
		for _, name := range schema.Get("required").Items {
			if filled.Get(name.Text) == nil {
				t.Errorf("%s is filled in with %s", form, filled)
			}
		}
		if len(filled.Members) > len(schema.Get("properties").Members) {
			t.Errorf("%s is filled in with more than it asks for: %s", form, filled)
		}
		if again := new(session.Client).Reply(&m); string(again) != string(first) {
			t.Errorf("%s is filled in with %s and %s", form, first, again)
		}
	}
}

func TestWithInput(t *testing.T) {
	result, _ := mutate.ParseJSON([]byte(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"none"}},"requestState":"s"}`))
	var c session.Client
	answer := func(question *mutate.JSON) *mutate.JSON {
		method, _ := question.Get("method").Str()
		return c.Result(method, question.Get("params"))
	}
	const want = `{"jsonrpc":"2.0","id":"@id","method":"m","params":{"p":1,"inputResponses":{"a":{"roots":[]}},"requestState":"s"}}`
	for _, request := range []string{`{"jsonrpc":"2.0","id":7,"method":"m","params":{"p":1}}`, want} { // which may be sent again for more
		got, err := session.WithInput([]byte(request), result, result.Get("requestState"), answer)
		if err != nil || string(got) != want {
			t.Errorf("%s is sent again as %s, %v", request, got, err)
		}
	}
}
