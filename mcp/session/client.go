package session

import (
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// The requests that a server sends to a client, or has it answer beside a request of [StatelessVersion].
const (
	AsksForSample = "sampling/createMessage"
	AsksForForm   = "elicitation/create"
	AsksForRoots  = "roots/list"
)

// InputRequired is the resultType of a result that asks for input.
const InputRequired = "input_required"

// AsksForInput reports whether a result asks for input.
func AsksForInput(result *mutate.JSON) bool {
	kind, _ := result.Get("resultType").Str()
	return kind == InputRequired
}

// WithInput returns a request that is sent again with the input that its result asks for, and with that state, if there is any. answer
// returns what one of the questions is answered with; nil: nothing. The line has a placeholder for its id.
func WithInput(request []byte, result, state *mutate.JSON, answer func(question *mutate.JSON) *mutate.JSON) ([]byte, error) {
	root, err := mutate.ParseJSON(request)
	if err != nil {
		return nil, err
	}
	responses := mutate.NewObject()
	if wanted := result.Get("inputRequests"); wanted != nil && wanted.Kind == mutate.Object {
		for _, w := range wanted.Members {
			if a := answer(w.Value); a != nil {
				responses.Set(w.Name, a)
			}
		}
	}
	params := root.Get("params")
	root.Set("id", mutate.NewString("@id"))
	params.Set("inputResponses", responses)
	if params.Delete("requestState"); state != nil {
		params.Set("requestState", state)
	}
	return root.Append(nil), nil
}

// ClientMethods are the requests of a server that a client answers, and the capability that it declares for each.
var ClientMethods = map[string]string{AsksForSample: "sampling", AsksForForm: "elicitation", AsksForRoots: "roots"}

const statelessCapabilities = `{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`

// ClientCapabilities returns what we declare to a server of a protocol version, as JSON. Some servers refuse what their version does not have.
func ClientCapabilities(version string) string {
	switch {
	case version == StatelessVersion:
		return statelessCapabilities
	case version >= "2025-11-25":
		return `{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`
	case version >= "2025-06-18":
		return `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`
	}
	return `{"roots":{"listChanged":true},"sampling":{}}`
}

// A Client answers what a server asks, as a client does that has all it declares: a model that says one word, a user who agrees to
// everything and fills in each form as it wants to be filled in, and no folder beyond those the server has already. The zero value is ready.
// One goroutine uses it.
type Client struct {
	Roots []string // folders
	forms map[string]*mutate.JSON
}

// Reply returns the line that answers a request of the server: always the same to the same request.
func (c *Client) Reply(request *jsonrpc.Message) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), request.ID...)
	if result := c.Result(request.Method, request.Params); result != nil {
		line = append(line, `,"result":`...)
		line = result.Append(line)
	} else {
		line = append(line, `,"error":{"code":-32601,"message":`...)
		line = append(mutate.NewString("method not found: "+request.Method).Append(line), '}')
	}
	return append(line, '}')
}

// Result returns what a request of the server is answered with; nil: clients have no such method.
func (c *Client) Result(method string, params *mutate.JSON) *mutate.JSON {
	switch method {
	case "ping":
		return mutate.NewObject()
	case AsksForRoots:
		roots := mutate.NewArray()
		for _, path := range c.Roots {
			root := jsonrpc.Object("uri", "file://"+path)
			root.Set("name", mutate.NewString("root"))
			roots.Items = append(roots.Items, root)
		}
		return mutate.NewObject(jsonrpc.Member("roots", roots))
	case AsksForSample:
		return sample(params)
	case AsksForForm:
		result := mutate.NewObject(jsonrpc.Member("action", mutate.NewString("accept")))
		if mode, _ := params.Get("mode").Str(); mode != "url" {
			result.Set("content", c.fill(params.Get("requestedSchema")))
		}
		return result
	}
	return nil
}

// sample is what a model says. It calls a tool only where it must.
func sample(params *mutate.JSON) *mutate.JSON {
	content, reason := jsonrpc.Object("type", "text"), "endTurn"
	if mode, _ := params.Get("toolChoice").Get("mode").Str(); mode == "required" {
		if tools := params.Get("tools"); tools != nil && len(tools.Items) > 0 {
			name, _ := tools.Items[0].Get("name").Str()
			content, reason = jsonrpc.Object("type", "tool_use"), "toolUse"
			content.Set("id", mutate.NewString("call-1"))
			content.Set("name", mutate.NewString(name))
			content.Set("input", mutate.NewObject())
		}
	}
	if reason == "endTurn" {
		content.Set("text", mutate.NewString("teasel"))
	}
	result := mutate.NewObject(jsonrpc.Member("role", mutate.NewString("assistant")), jsonrpc.Member("content", content))
	result.Set("model", mutate.NewString("teasel"))
	result.Set("stopReason", mutate.NewString(reason))
	return result
}

// maxForms bounds what is remembered.
const maxForms = 64

// fill fills in a form. What it must be is remembered, since servers ask with the same forms again and again.
func (c *Client) fill(form *mutate.JSON) *mutate.JSON {
	if form == nil {
		return mutate.NewObject()
	}
	text := form.String()
	if filled := c.forms[text]; filled != nil {
		return filled
	}
	filled := mutate.NewObject()
	if compiled, err := schema.Compile([]byte(text)); err == nil {
		drawn, _ := compiled.Generate(FixedRand(2), schema.Conform)
		for _, m := range drawn.Members {
			if form.Get("properties").Get(m.Name) != nil { // of others a form has no use
				filled.Members = append(filled.Members, m)
			}
		}
	}
	if c.forms == nil || len(c.forms) == maxForms {
		c.forms = make(map[string]*mutate.JSON)
	}
	c.forms[text] = filled
	return filled
}
