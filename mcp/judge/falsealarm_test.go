package judge

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// A rightCase is a transcript of a server that does nothing wrong, though it looks like one that does.
type rightCase struct {
	name                                string
	capabilities, tools, resources, was string // "was" is the rule that took it for a fault
	text                                string
}

func rightCases() []rightCase {
	pem := `-----BEGIN PRIVATE KEY-----\n` + strings.Repeat(`MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n`, 12) + `-----END PRIVATE KEY-----`
	const begin = `fresh
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
`
	plain := mcptest.TextTool("a", "", "", "x")
	return []rightCase{
		{"a response that is refused, and a notification behind it", `{"tools":{}}`, "", "", RuleNotificationReply,
			`> {"jsonrpc":"2.0","id":"a","result":{}}` + "\n" + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}` + "\n" +
				`< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}` + "\n"},
		{"what is no message, between responses", `{"tools":{}}`, "", "", RuleResponseReply,
			`> {"jsonrpc":"2.0","id":0,"result":{}}` + "\n" + `> {"jsonrpc":"2.0","id":0}` + "\n" +
				`< {"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Invalid Request: no method"}}` + "\n" + `> {"jsonrpc":"2.0","id":0,"result":{}}` + "\n"},
		{"a tool that may wait for somebody else", `{"tools":{}}`, mcptest.TextTool("lookup", "Looks a company up in the public register.", "", "q"), "", RuleHang,
			mcptest.CallOf("2", "lookup", `{"q":"a"}`) + "! hung\n"},
		{"a server of one thread that waits for somebody else", `{"tools":{}}`, mcptest.TextTool("lookup", "Looks a company up in the public register.", "", "q"), "", RuleDeaf,
			mcptest.CallOf("2", "lookup", `{"q":"a"}`) + "! deaf\n"},
		{"a slow answer of a tool that may wait for somebody else", `{"tools":{}}`, mcptest.TextTool("lookup", "Looks a company up.", "", "q"), "", RuleSlow,
			mcptest.CallOf("2", "lookup", `{"q":"a"}`) + "wait 3s\n" + mcptest.AnswerOf("2", "found")},
		{"a template is rendered", `{"tools":{}}`, mcptest.TextTool("render_template", "Renders a Jinja template that is given.", "", "template"), "", RuleTemplateInjection,
			mcptest.CallOf("2", "render_template", `{"template":"tzl{{59*7919}}lzt"}`) + mcptest.AnswerOf("2", "tzl467221lzt")},
		{"code in a language of a shell is run", `{"tools":{}}`, mcptest.TextTool("run_code", "Runs code in a sandbox.", "", "language", "code"), "", check.RuleShellInjection,
			mcptest.CallOf("2", "run_code", `{"language":"bash","code":"a;echo tzl$((59*7919))lzt"}`) + mcptest.AnswerOf("2", "tzl467221lzt")},
		{"a query is run", `{"tools":{}}`, mcptest.TextTool("read_query", "Execute a SELECT query on the SQLite database.", "", "query"), "", check.RuleSQLInjection,
			mcptest.CallOf("2", "read_query", `{"query":"0 UNION SELECT 'tzl' || (59*7919) || 'lzt'"}`) + mcptest.AnswerOf("2", "tzl467221lzt")},
		{"whatever a URI names is converted", `{"tools":{}}`, mcptest.TextTool("convert_to_markdown", "Convert a resource described by an http:, https:, file: or data: URI to markdown.", "", "uri"),
			"", RuleTraversal, mcptest.CallOf("2", "convert_to_markdown", `{"uri":"file:///tmp/x/canary.txt"}`) + mcptest.AnswerOf("2", script.CanaryText)},
		{"a MemoryError that was caught, logged and answered", `{"tools":{}}`, plain, "", RuleOutOfMemory,
			mcptest.CallOf("2", "a", `{"x":"a"}`) + "2> Traceback (most recent call last):\n2>   File \"/s.py\", line 3, in f\n2> MemoryError\n" +
				`< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"too large"}]}}` + "\n"},
		{"initialize has to come first", `{"tools":{}}`, "", "", RuleCrash,
			"fresh\n" + `> {"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n2> Error: expected initialize request, got notification\n! exit 1\n"},
		{"initialize has to come first, and the end is an orderly one", `{"tools":{}}`, "", "", RuleExit,
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n! exit 0\n"},
		{"a key in the folder whose files are read", `{"tools":{}}`, mcptest.TextTool("read_file", "Reads a file of the project.", "", "path"), "", RuleSecret,
			mcptest.CallOf("2", "read_file", `{"path":"certs/dev.pem"}`) + mcptest.AnswerOf("2", pem)},
		{"a tool that was added meanwhile", `{"tools":{"listChanged":true}}`, mcptest.TextTool("enable_toolset", "", "", "name"), "", RuleUnknownTool,
			mcptest.CallOf("2", "enable_toolset", `{"name":"extra"}`) + mcptest.AnswerOf("2", "enabled") + `< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" +
				mcptest.CallOf("3", "extra", `{}`) + mcptest.AnswerOf("3", "fine")},
		{"a capability of a vendor's", `{"tools":{}}`, "", "", RuleInitialize,
			begin + `< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"x-vendor":true},"serverInfo":{"name":"s","version":"1"}}}` + "\n"},
		{"a log of a refusal by a schema", `{"tools":{}}`, plain, "", RuleAssertion,
			mcptest.CallOf("2", "a", `{"x":5}`) + "2> WARN request refused: schema assertion failed: /x must be string\n" + `< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"x must be string"}}` + "\n"},
		{"a key that is no key of the server's own", `{"tools":{}}`,
			mcptest.TextTool("put", "Keeps a value under a key.", "", "key", "value") + "," + mcptest.TextTool("get", "Returns the value of a key.", "", "key"), "", check.RuleRuntimeName,
			"check unknown-name\n" +
				mcptest.CallOf("1", "get", `{"key":"teasel_no_such_a1"}`) + `< {"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"There is no value under teasel_no_such_a1"}]}}` + "\n" +
				mcptest.CallOf("2", "get", `{"key":"teasel_no_such_b2"}`) + `< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"There is no value under teasel_no_such_b2"}]}}` + "\n" +
				mcptest.CallOf("3", "get", `{"key":"teaselnoone"}`) + `< {"jsonrpc":"2.0","id":3,"result":{"isError":true,"content":[{"type":"text","text":"There is no value under teaselnoone"}]}}` + "\n" +
				mcptest.CallOf("4", "get", `{"key":"constructor"}`) + mcptest.AnswerOf("4", "a")},
		{"NaN is read, and refused", `{"tools":{}}`, "", "", RuleParseError,
			`> {"jsonrpc":"2.0","id":NaN,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid id"}}` + "\n"},
		{"a directory with one file", `{"resources":{}}`, "", `{"uri":"file:///data/","name":"data"}`, RuleResourceURI,
			`> {"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///data/"}}` + "\n" +
				`< {"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"file:///data/readme.md","mimeType":"text/markdown","text":"hello"}]}}` + "\n"},
		{"the script itself declared roots", `{"tools":{}}`, "", "", RuleClientCapability,
			`> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"a","version":"1"}}}
< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"already"}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
< {"jsonrpc":"2.0","id":"s1","method":"roots/list"}
`},
		{"a prompt takes what it does not declare, under no name", `{"prompts":{}}`, "", "", RuleInvalidParams,
			`> {"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"subject":"","":true}}}` + "\n" +
				`< {"jsonrpc":"2.0","id":2,"result":{"messages":[]}}` + "\n"},
		{"a tool takes what it does not declare, under no name", `{"tools":{}}`, plain, "", RuleInput,
			mcptest.CallOf("2", "a", `{"x":"a","":true}`) + mcptest.AnswerOf("2", "a")},
		{"a completion takes a context that it does not declare, under no name", `{"completions":{},"prompts":{}}`, "", "", RuleInvalidParams,
			`> {"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"subject","value":""},"context":{"arguments":{"":true}}}}` + "\n" +
				`< {"jsonrpc":"2.0","id":2,"result":{"completion":{"values":[]}}}` + "\n"},
		{"a handler is installed", `{"tools":{}}`, plain, "", RulePanicLogged, "fresh\n2> [init] process.on('uncaughtException') installed\n" +
			`> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n"},
		{"Python refuses an argument that there is not", `{"tools":{}}`, plain, "", RuleException,
			mcptest.CallOf("2", "a", `{"x":"a","teasel_no_such_a1":"a"}`) +
				`< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"a() got an unexpected keyword argument 'teasel_no_such_a1'"}]}}` + "\n"},
		{"a report of an error has the stack", `{"tools":{}}`, mcptest.TextTool("get_issue_details", "Details of an issue, with its stack trace.", "", "issue_id"), "", RuleStackTrace,
			mcptest.CallOf("2", "get_issue_details", `{"issue_id":"PROJ-1"}`) + mcptest.AnswerOf("2", `TypeError: x\n    at a (/app/a.js:1:2)\n    at b (/app/b.js:3:4)`)},
		{"a log of the calls", `{"tools":{},"resources":{}}`, `{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`, `{"uri":"log://calls","name":"log"}`, check.RuleReadOnly,
			"check read-only\n" + `> {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"log://calls"}}
< {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"log://calls","text":""}]}}
> {"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"log://calls"}}
< {"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"log://calls","text":""}]}}
` + mcptest.CallOf("3", "look", `{}`) + mcptest.AnswerOf("3", "x") + `> {"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"log://calls"}}
< {"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"log://calls","text":"look was called"}]}}
`},
		{"an empty list of what the server does not have", `{"tools":{}}`, plain, "", RuleCapability,
			`> {"jsonrpc":"2.0","id":2,"method":"prompts/list"}` + "\n" + `< {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}` + "\n"},
		{"a subscription where there are no resources", `{"tools":{}}`, plain, "", RuleCapability,
			`> {"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a://b"}}` + "\n" + `< {"jsonrpc":"2.0","id":2,"result":{}}` + "\n"},
		{"capabilities of a request without a handshake, and no version", `{"tools":{}}`, plain, "", RulePing,
			`> {"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n" +
				`< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"the protocol version is missing"}}` + "\n"},
		{"a refusal that quotes a long line three times", `{"tools":{}}`, plain, "", RuleFlood,
			mcptest.CallOf("2", "a", `{"x":"`+strings.Repeat("a", oversized)+`"}`) + "! flood\n"},
		{"fifty thousand members in a tenth of a second", `{"tools":{}}`, plain, "", check.RuleShape,
			"check shape-time\n" + mcptest.CallOf("2", "a", `{"x":"a","k0":0}`) + mcptest.AnswerOf("2", "a") + "growth shape 1:4000 2:99000 3:3000 4:97000\n"},
		{"no method takes such parameters", `{"tools":{}}`, plain, "", RuleMissing,
			`> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":0}}` + "\n" + `< {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"No handler"}}` + "\n"},
		{"a request is cancelled by its id in another type", `{"tools":{}}`, mcptest.TextTool("a", "", `,"annotations":{"readOnlyHint":true,"openWorldHint":false}`, "x"), "", RuleHang,
			">& " + strings.TrimPrefix(mcptest.CallOf("2", "a", `{"x":"a"}`), "> ") + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"2"}}` + "\n! hung\n"},
		{"the database is down", `{"tools":{}}`, plain, "", RuleToolFailure,
			mcptest.CallOf("2", "a", `{"x":"a"}`) + `< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"database is down"}}` + "\n"},
		{"calls are limited", `{"tools":{}}`, mcptest.TextTool("lookup", "Looks up.", `,"annotations":{"readOnlyHint":true,"openWorldHint":false}`, "q"), "", check.RuleNotRepeatable,
			"check repeat\n" + mcptest.CallOf("1", "lookup", `{"q":"a"}`) + mcptest.AnswerOf("1", "found nothing") + mcptest.CallOf("2", "lookup", `{"q":"a"}`) +
				`< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"Rate limit exceeded: at most 3 calls a second."}]}}` + "\n"},
		{"a cursor on a list without pages", `{"tools":{}}`, plain, "", RuleCursor,
			`> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"teasel_no_such_a1"}}` + "\n" +
				`< {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}` + "\n"},
		{"an unknown tool is a result", `{"tools":{}}`, plain, "", RuleUnknownToolResult,
			mcptest.CallOf("2", "b", `{}`) + `< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"Unknown tool: b"}]}}` + "\n"},
		{"a list before initialize", `{"tools":{}}`, plain, "", RuleBeforeInitialize,
			"fresh\n" + `> {"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" + `< {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}` + "\n"},
		{"initialize a second time", `{"tools":{}}`, plain, "", RuleSecondInitialize,
			begin + `< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
< {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
`},
	}
}

// TestNoFalseAlarms: what a server may do is no finding, or one for information only.
func TestNoFalseAlarms(t *testing.T) {
	for _, c := range rightCases() {
		t.Run(c.name, func(t *testing.T) {
			session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":`+c.capabilities+`},"tools":[`+c.tools+`],"resources":[`+c.resources+`]}`)
			for _, f := range judgeText(t, session, c.text) {
				if f.Severity > teasel.Info {
					t.Errorf("%s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Message)
				}
			}
		})
	}
}
