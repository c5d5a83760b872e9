package gen

import (
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// Texts of ids that a request must not have, or that are at the border.
var oddIDs = []string{
	`null`, `true`, `false`, `{}`, `[]`, `[1]`, `{"id":1}`, `1.5`, `-1.5`, `1e400`, `-7000000001`, `0`, `9007199254740993`, `18446744073709551616`,
	`123456789012345678901234567890`, `""`, `" "`, `"\u0000"`, `"0"`, `"__proto__"`, `"null"`, `7000000001.0`, `7e9`, `"ü💥"`, `"\ud800"`, `"@id:0"`, `"@id:0:s"`, `[[]]`,
}

// envelope draws a step that is a message with a method.
func (e *editor) envelope() (int, *mutate.JSON) {
	i := e.pick()
	root := e.message(i)
	if root == nil || root.Get("method") == nil {
		return i, nil
	}
	return i, root
}

// breakID takes the id away, gives one to a notification, or makes it something that it must not be.
func breakID(e *editor) bool {
	i, root := e.envelope()
	if root == nil {
		return false
	}
	id := root.Get("id")
	switch {
	case id != nil && e.r.IntN(8) == 0:
		root.Delete("id")
	case id != nil && e.r.IntN(16) == 0:
		root.Set("id", mutate.NewString(script.LongText(1<<(4+e.r.IntN(12)))))
	default:
		odd := mutate.NewRaw(choose(e, oddIDs))
		if id.String() == odd.Text {
			odd.Text = `-1`
		}
		root.Set("id", odd)
	}
	e.touch(i)
	return true
}

// Texts of what jsonrpc must not be.
var oddVersions = []string{
	`"2.1"`, `"1.0"`, `"1.1"`, `"3.0"`, `""`, `"2"`, `2`, `2.0`, `2.1`, `null`, `true`, `["2.0"]`, `{"version":"2.0"}`, `" 2.0"`, `"2.0 "`, `"2.0\u0000"`, `"２.０"`, `"02.0"`, `"2,0"`, `"v2.0"`, `"2.0.0"`,
}

// breakVersion makes jsonrpc something else than "2.0", or takes it away.
func breakVersion(e *editor) bool {
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return false
	}
	if root.Get("jsonrpc") != nil && e.r.IntN(6) == 0 {
		root.Delete("jsonrpc")
	} else {
		odd := choose(e, oddVersions)
		if root.Get("jsonrpc").String() == odd {
			odd = `"2.00"`
		}
		root.Set("jsonrpc", mutate.NewRaw(odd))
	}
	e.touch(i)
	return true
}

// Methods that a server must not know: invented ones, its client's, near misses.
var oddMethods = []string{
	check.ControlName + "a1", "", " ", "a", "rpc.discover", "rpc.", "system.listMethods", "tools", "tools/", "/tools/list", "tools//list", "tools/list/", "tools.list", "tools/LIST", "TOOLS/list",
	"tools/list\x00", "tools/list ", " tools/list", "tools/../tools/list", "tools/delete", "tools/call/echo", "resources/write", "resources/delete", "prompts/set", "initialized", "initialise",
	"notifications/", "notifications/unknown", "notifications/tools/list_changed", "notifications/message", "notifications/resources/updated", "sampling/createMessage", "roots/list",
	"elicitation/create", "server/discover", "subscriptions/listen", "shutdown", "exit", "$/cancelRequest", "textDocument/didOpen", "__proto__", "constructor", "toString", "../../a", "ping\n", "pıng", "{}",
}

// Texts of what is no name of a method.
var oddMethodValues = []string{`null`, `1`, `true`, `[]`, `{}`, `["ping"]`, `{"name":"ping"}`}

// breakMethod names a method that there is not, or none at all.
func breakMethod(e *editor) bool {
	i, root := e.envelope()
	if root == nil {
		return false
	}
	name, _ := root.Get("method").Str()
	var now *mutate.JSON
	switch e.r.IntN(12) {
	case 0:
		now = mutate.NewRaw(choose(e, oddMethodValues))
	case 1:
		now = mutate.NewString(choose(e, check.Variants(orA(name))))
	case 2:
		now = mutate.NewString(script.LongText(1 << (4 + e.r.IntN(10))))
	case 3:
		now = mutate.NewString(strings.ToUpper(name) + e.odd())
	default:
		now = mutate.NewString(choose(e, oddMethods))
	}
	if now.String() == root.Get("method").String() {
		now = mutate.NewString(name + "!")
	}
	root.Set("method", now)
	e.touch(i)
	return true
}

// orA is s, or a text of two letters where s is too short to have variants.
func orA(s string) string {
	if len(s) < 2 {
		return "aa"
	}
	return s
}

var dropOperators = []mutate.JSONOperator{mutate.JSONMemberRemove, mutate.JSONMemberRemove, mutate.JSONMemberRemove, mutate.JSONItemDrop}

// dropMember takes one member out, seldom an item: mostly of the arguments, then of the params, seldom of the envelope.
func dropMember(e *editor) bool { return e.operate(dropOperators, (*editor).within) }

// Members that nobody expects in an envelope or in params.
var oddMembers = []struct{ name, value string }{
	{"result", `{}`}, {"error", `{"code":-32603,"message":"a"}`}, {"error", `null`}, {"result", `null`}, {"id", `"teasel"`}, {"method", `"ping"`}, {"params", `{}`}, {"jsonrpc", `"1.0"`},
	{"_meta", `{}`}, {"_meta", `null`}, {"_meta", `[]`}, {"_meta", `"a"`}, {"_meta", `{"progressToken":null}`}, {"_meta", `{"progressToken":{}}`}, {"_meta", `{"progressToken":"@id"}`},
	{"_meta", `{"progressToken":1.5}`}, {"_meta", `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`}, {"__proto__", `{"isAdmin":true}`}, {"constructor", `{"prototype":{"a":1}}`},
	{"__proto__", `null`}, {"toString", `1`}, {"length", `-1`}, {"", `0`}, {"\x00", `0`}, {"cursor", `"a"`}, {"name", `"a"`}, {"arguments", `{}`}, {"arguments", `[]`}, {"uri", `"file:///a"`}, {"task", `{"ttl":1}`}, {"task", `{}`}, {"task", `null`},
	{"headers", `{}`}, {"then", `{}`}, {"toJSON", `1`}, {"hasOwnProperty", `1`}, {"context", `{"arguments":{}}`}, {"$ref", `"#"`},
}

var addOperators = []mutate.JSONOperator{mutate.JSONMemberAdd, mutate.JSONMemberDuplicate, mutate.JSONMemberRename, mutate.JSONItemDuplicate}

// addMember adds a member that nobody expects, repeats one with the same or another value, or renames one.
func addMember(e *editor) bool {
	if e.r.IntN(3) > 0 {
		return e.operate(addOperators, (*editor).within)
	}
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return false
	}
	to := root
	if params := root.Get("params"); e.r.IntN(8) > 0 && params != nil && params.Kind == mutate.Object {
		to = params
	}
	odd := choose(e, oddMembers)
	to.Members = append(to.Members, jsonrpc.Member(odd.name, mutate.NewRaw(odd.value)))
	e.touch(i)
	return true
}

func nonEmpty(v *mutate.JSON) *mutate.JSON {
	if v == nil || v.Kind != mutate.Object || len(v.Members) == 0 {
		return nil
	}
	return v
}
