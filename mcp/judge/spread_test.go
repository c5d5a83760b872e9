package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
)

// unknownNames is a check of names with a method: one that every object inherits is refused in other words.
func unknownNames(method, params string) string {
	text := "check unknown-name\n"
	for i, name := range []string{"teasel_no_such_a1", "teasel_no_such_b2", "__proto__"} {
		why := name + " not found"
		if name == "__proto__" {
			why = name + " disabled"
		}
		text += fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":%q,"params":{`+params+"}}\n", i+1, method, name) +
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":%q}}`+"\n", i+1, why)
	}
	return text
}

const nameError = "2> Traceback (most recent call last):\n2>   File \"/srv/s.py\", line 3, in calc\n2> NameError: name 'x' is not defined\n"

const (
	taskError = "2> Task exception was never retrieved\n2> Traceback (most recent call last):\n2>   File \"/srv/s.py\", line 3, in call\n2> AttributeError: 'int' object has no attribute 'get'\n"
	noCode    = `< {"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"not found"}}` + "\n"
)

// undeclared opens a session in which the client declares nothing.
const undeclared = `fresh
> {"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
< {"jsonrpc":"2.0","id":5,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestOneCauseOneFinding: what one place in a server does wrong is one finding, on how many methods and tools it may show.
func TestOneCauseOneFinding(t *testing.T) {
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}}},"tools":[`+mcptest.TextTool("a", "", "", "x")+`,`+mcptest.TextTool("b", "", "", "x")+
		`],"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]},{"name":"q","arguments":[{"name":"x","required":true}]}]}`)
	listed := func(tools ...string) string {
		return "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[" + strings.Join(tools, ",") + "]}}\n"
	}
	refused := func(method, params, message string) string {
		return `> {"jsonrpc":"2.0","id":1,"method":"` + method + `"` + params + "}\n" + `< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"` + message + `"}}` + "\n"
	}
	keys := func(tool string) (text string) {
		text = "check unknown-name\n"
		for i, key := range []string{"teasel_no_such_a1", "teasel_no_such_b2", "constructor", "teasel_no_such_a1", "constructor"} {
			id := fmt.Sprint(i + 1)
			text += mcptest.CallOf(id, tool, `{"x":"a","`+key+`":"a"}`)
			if key == "constructor" {
				text += `< {"jsonrpc":"2.0","id":` + id + `,"result":{"isError":true,"content":[{"type":"text","text":"expected a record"}]}}` + "\n"
			} else {
				text += mcptest.AnswerOf(id, "done")
			}
		}
		return text
	}
	logged := func(tool string) string {
		return mcptest.CallOf("1", tool, `{"x":"a"}`) + "2> Task exception was never retrieved\n2> Traceback (most recent call last):\n" +
			"2>   File \"/srv/server.py\", line 113, in handle\n2> AttributeError: 'bool' object has no attribute 'get'\n" + mcptest.AnswerOf("1", "done")
	}
	const code = `< {"jsonrpc":"2.0","id":1,"error":{"code":"E_BAD","message":"x"}}` + "\n"
	for _, tt := range []struct {
		name, rule  string
		transcripts []string
		seen        string // what the report says of it
	}{
		{"an error code that is no integer", RuleMalformedReply, []string{
			mcptest.CallOf("1", "a", `{"x":"a"}`) + code, mcptest.CallOf("1", "b", `{"x":"a"}`) + code,
			`> {"jsonrpc":"2.0","id":1,"method":"resources/list"}` + "\n" + code, `> {"jsonrpc":"2.0","id":1,"method":"teasel_no_such_a1"}` + "\n" + code,
		}, "1 method, 2 tools and 1 unusual message"},
		{"schemas without a type", RuleToolDefinition, []string{listed(`{"name":"a","inputSchema":{}}`, `{"name":"b","inputSchema":{}}`, `{"name":"c","inputSchema":{}}`)}, "3 tools"},
		{"a text on standard output", RuleNoise, []string{
			mcptest.CallOf("1", "a", `{"x":"apple"}`) + "noise DEBUG looking for apple in 12 places\n" + mcptest.AnswerOf("1", "a"),
			mcptest.CallOf("1", "b", `{"x":"pear"}`) + "noise DEBUG looking for pear in 3 places\n" + mcptest.AnswerOf("1", "a"),
		}, "2 tools"},
		{"a text that ends in what was sent", RuleNoise, []string{
			mcptest.CallOf("1", "a", `{"x":""}`) + "noise requested path \n" + mcptest.AnswerOf("1", "a"),
			mcptest.CallOf("1", "b", `{"x":"tmp"}`) + "noise requested path tmp\n" + mcptest.AnswerOf("1", "a"),
			mcptest.CallOf("1", "b", `{"x":"é"}`) + "noise requested path é\n" + mcptest.AnswerOf("1", "a"),
			mcptest.CallOf("1", "b", `{"x":"−１typ"}`) + "noise requested path −１typ\n" + mcptest.AnswerOf("1", "a"),
		}, "2 tools"},
		{"a text that a server prints when it starts", RuleNoise, []string{
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\nnoise Server ready on stdio\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}` +
				"\nnoise Server ready on stdio\n" +
				`< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}` + "\n",
		}, "2 methods"},
		{"answers to notifications", RuleNotificationReply, []string{
			`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}` + "\n",
			`> {"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"result":{}}` + "\n",
		}, "2 methods"},
		{"a session that ends on a line that is no request", RuleExit, []string{
			"> []\n! exit 0\n", "> {\"jsonrpc\":\n! exit 0\n", `> {"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n! exit 0\n",
			`>& {"id":"","result":null}` + "\n" + `> {"jsonrpc":"2.0","id":1,"method":"teasel_no_such_a1"}` + "\n! exit 0\n",
		}, "4 unusual messages"},
		{"arguments that nobody validates", RuleInput, []string{
			mcptest.CallOf("1", "a", `{"x":[]}`) + mcptest.AnswerOf("1", "done"), mcptest.CallOf("1", "b", `{"x":{}}`) + mcptest.AnswerOf("1", "done"),
		}, "2 tools"},
		{"an exception that is logged", RuleErrorLogged, []string{
			mcptest.CallOf("1", "a", `{"x":"a"}`) + nameError + mcptest.AnswerOf("1", "done") + mcptest.CallOf("2", "b", `{"x":"a"}`) + mcptest.AnswerOf("2", "done"),
			mcptest.CallOf("1", "b", `{"x":"a"}`) + nameError + mcptest.AnswerOf("1", "done"),
		}, "2 tools"},
		{"answers with ids of nobody", RuleID, []string{
			mcptest.CallOf("1", "a", `{"x":"a"}`) + mcptest.AnswerOf("2", "done"), mcptest.CallOf("7", "b", `{"x":"a"}`) + mcptest.AnswerOf("8", "done"),
		}, "2 tools"},
		{"names that an object inherits", check.RuleRuntimeName, []string{
			unknownNames("tools/call", `"name":%q`), unknownNames("prompts/get", `"name":%q`), unknownNames("completion/complete", `"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"a","value":""}`),
		}, "2 methods and 1 tool"},
		{"parameters that nobody looks at", RuleException, []string{
			refused("tools/call", "", "Cannot read properties of undefined (reading 'name')"), refused("tools/call", `,"params":null`, "Cannot read properties of null (reading 'name')"),
			refused("logging/setLevel", "", "Cannot read properties of undefined (reading 'level')"),
			refused("tools/call", `,"params":{"name":"b","arguments":[[]],"_meta":null}`, "list indices must be integers or slices, not str"),
			refused("completion/complete", `,"params":{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""},"ref":null}`, "Cannot read properties of null (reading 'type')"),
			refused("tools/call", `,"params":{"name":{"toString":true}}`, "Cannot convert object to primitive value"),
			refused("tools/call", `,"params":{"name":"a","arguments":1}`, "'int' object is not subscriptable"),
			refused("tools/call", `,"params":{"name":"b","arguments":[[]]}`, "list indices must be integers or slices, not str"),
		}, "2 methods and 3 tools"},
		{"values of a type that the schema does not allow", RuleException, []string{
			refused("tools/call", `,"params":{"name":"a","arguments":{"x":null}}`, "'NoneType' object is not iterable"),
			refused("tools/call", `,"params":{"name":"a","arguments":{"x":[5]}}`, "'int' object is not subscriptable"),
		}, ""},
		{"a member of nothing", RuleException, []string{
			refused("tools/call", `,"params":{"name":"a","arguments":{"x":"a"}}`, "Cannot read properties of undefined (reading 'length')"),
			refused("tools/call", `,"params":{"name":"a","arguments":{"x":"null"}}`, "Cannot read properties of null (reading 'length')"),
		}, ""},
		{"arguments whose key every object has", check.RuleRuntimeName, []string{keys("a"), keys("b")}, "2 tools"},
		{"arguments that fail where every object has a member of their name", check.RuleRuntimeName, []string{
			refused("tools/call", `,"params":{"name":"a","arguments":{"constructor":null}}`, "Cannot read properties of null (reading 'prototype')"),
			refused("tools/call", `,"params":{"name":"b","arguments":{"x":"a","constructor":null}}`, "Cannot read properties of null (reading 'prototype')"),
			keys("a"),
		}, "2 tools"},
		{"requests that do not pass the schema of a message", RuleNoReply, []string{
			`> {"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}` + "\n", `> {"jsonrpc":"2.0","id":2,"method":"ping","teasel_no_such_a1":1}` + "\n",
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n! hung\n", `> {"jsonrpc":"2.1","id":"\u00fc","method":"ping"}` + "\n", `> {"jsonrpc":"2.0","id":1.5,"method":"ping"}` + "\n",
		}, "2 unusual messages"},
		{"parameters over which a task fails without an answer", RuleNoReply, []string{
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}` + "\n" + taskError + "! hung\n",
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":1}` + "\n" + taskError,
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}` + "\n" + taskError + "! hung\n",
		}, ""},
		{"a code that every error has", RuleCodeRange, []string{
			`> {"jsonrpc":"2.0","id":1,"method":"teasel_no_such_a1"}` + "\n" + noCode, `> {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}` + "\n" + noCode,
		}, "1 method and 1 unusual message"},
		{"arguments that prompts do without", RulePromptArguments, []string{
			`> {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"messages":[]}}` + "\n",
			`> {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"q"}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"messages":[]}}` + "\n",
		}, "2 methods"},
		{"parameters that are accepted as they come", RuleInvalidParams, []string{
			`> {"jsonrpc":"2.0","id":1,"method":"resources/read"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"contents":[]}}` + "\n",
			`> {"jsonrpc":"2.0","id":1,"method":"prompts/get"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"messages":[]}}` + "\n",
		}, "2 methods"},
		{"memory of a size that was sent", RuleOutOfMemory, []string{
			mcptest.CallOf("1", "a", `{"x":"400000000 bytes"}`) + "2> memory allocation of 40000000000 bytes failed\n! signal aborted\n",
			mcptest.CallOf("1", "a", `{"x":"2000000000"}`) + "2> memory allocation of 200000000000 bytes failed\n! signal aborted\n",
		}, ""},
		{"a session that ends on what is not read", RuleExit, []string{
			"> []\n! exit 0\n", mcptest.CallOf("1", "a", strings.Repeat("[", deep)+strings.Repeat("]", deep)) + "! exit 0\n",
		}, "2 unusual messages"},
		{"an exception that is logged over a request with two ids", RuleErrorLogged, []string{
			mcptest.CallOf("1", "a", `{"x":"a"}`) + nameError + mcptest.AnswerOf("1", "done"),
			`> {"jsonrpc":"2.0","id":2,"method":"tools/call","id":"b"}` + "\n2> TypeError: Cannot destructure property 'name' of 'undefined' as it is undefined.\n2>     at call (/srv/index.js:646:13)\n" +
				`< {"jsonrpc":"2.0","id":"b","error":{"code":-32603,"message":"Cannot destructure property 'name' of 'undefined' as it is undefined."}}` + "\n",
		}, ""},
		{"requests to a client that cannot answer them", RuleClientCapability, []string{
			undeclared + mcptest.CallOf("1", "a", `{"x":"a"}`) + `< {"jsonrpc":"2.0","id":"s1","method":"roots/list"}` + "\n" + mcptest.AnswerOf("1", "done"),
			undeclared + mcptest.CallOf("1", "b", `{"x":"a"}`) + `< {"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}` + "\n" + mcptest.AnswerOf("1", "done"),
		}, "2 methods"},
		{"a task that failed before", RulePanicLogged, []string{logged("a"), logged("b")}, ""},
		{"an exit with an error for a line that is no request", RuleExit, []string{
			`> {"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n2> serve: parse error: invalid ID type bool\n! exit 2\n",
			`> {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}` + "\n2> serve: invalid request\n! exit 2\n",
			`> {"jsonrpc":"2.0","id":1,"method":"tools/list","Jsonrpc":"1.0"}` + "\n2> serve: invalid version\n! exit 2\n",
			`> {"jsonrpc":"2.0","id":1,"method":"ping","jſonrpc":"1.0"}` + "\n2> serve: invalid version\n! exit 2\n",
		}, "2 methods and 2 unusual messages"},
		{"methods that do not exist", RuleUnknownMethod, []string{refused("", "", "no handler"), refused("teasel_no_such_a1", "", "no handler")}, ""},
		{"ids that nobody looks at", RuleInvalidID, []string{
			`> {"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":true,"result":{}}` + "\n",
			`> {"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"result":{}}` + "\n",
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spread := new(Spread)
			detector := Detectors(DetectorConfig{Spread: spread})[0]
			ids := map[string]teasel.Finding{}
			for _, text := range tt.transcripts {
				for _, f := range detector.Detect(&teasel.Observation{Evidence: mcptest.ParseTranscript(t, session, text)}) {
					if f.Rule != tt.rule {
						t.Errorf("%s %s: %s", f.Rule, f.Subject, f.Message)
					}
					ids[f.ID()] = f
				}
			}
			if len(ids) != 1 {
				t.Fatalf("%d findings, want 1: %v", len(ids), fmt.Sprint(ids))
			}
			for _, f := range ids {
				if spread.Describe(&f); tt.seen != "" && !strings.Contains(f.Message, "The same was seen on "+tt.seen+".") {
					t.Errorf("message %q, want %q in it", f.Message, tt.seen)
				}
			}
		})
	}
}

// However a call is spelled, what its answer shows is one finding.
func TestSpellingsAreOneFinding(t *testing.T) {
	session := mcptest.DeskSession(t)
	for _, tt := range []struct {
		name  string
		words string
		lines []string
	}{
		{"arguments that the schema allows", "list index out of range", []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":1,"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nobody","name":"echo","arguments":{"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"arguments":{"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"params":{"name":"echo","arguments":{"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"\u006dessage":"x"}}}`,
			`{"id":1,"params":{"arguments":{"message":"x"},"name":"echo"},"method":"tools/call","jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"},"_meta":{"progressToken":1}}}`,
			`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`,
		}},
		{"arguments that it does not", "Cannot read properties of undefined (reading 'length')", []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":null}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"},"arguments":{"message":5}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"echo","arguments":{"message":5}}}`,
		}},
	} {
		ids := make(map[string]string)
		for _, line := range tt.lines {
			id := "1"
			if strings.Contains(line, `"id":"1"`) {
				id = `"1"`
			}
			answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"isError":true,"content":[{"type":"text","text":"` + tt.words + `"}]}}`
			found := 0
			for _, f := range judgeText(t, session, "> "+line+"\n< "+answer+"\n") {
				if f.Rule == RuleException {
					ids[f.ID()] = line + ": " + f.Subject + " " + f.Group + " " + f.Fault
					found++
				}
			}
			if found != 1 {
				t.Errorf("%s: %d findings for %s", tt.name, found, line)
			}
		}
		if len(ids) != 1 {
			t.Errorf("%s: %d findings for one fault: %q", tt.name, len(ids), ids)
		}
	}
}

// Answers that nobody can read are as many findings as they have causes: numbers that JSON does not have, and texts that are not quoted.
func TestUnreadableCauses(t *testing.T) {
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+
		mcptest.TextTool("a", "", "", "x")+`,`+mcptest.TextTool("b", "", "", "x")+`]}`)
	answer := func(tool, rest string) string {
		return mcptest.CallOf("1", tool, `{"x":"a"}`) + `noise {"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"r":` + rest + "\n"
	}
	long := strings.Repeat("0,", 2500)
	for _, tt := range []struct {
		name string
		all  []string
		want int
	}{
		{"numbers", []string{answer("a", "NaN}}}"), answer("b", "-Infinity}}}"), answer("b", "["+long+"NaN]}}}")}, 1},
		{"texts", []string{answer("a", `"""}}}`), answer("b", `"a"b"}}}`), answer("b", `"""},"l":[`+long+`0]}}`)}, 1},
		{"both", []string{answer("a", "NaN}}}"), answer("b", `"""}}}`)}, 2},
	} {
		ids := map[string]string{}
		detector := Detectors(DetectorConfig{Spread: new(Spread)})[0]
		for _, text := range tt.all {
			for _, f := range detector.Detect(&teasel.Observation{Evidence: mcptest.ParseTranscript(t, session, text)}) {
				ids[f.ID()] = f.Message
			}
		}
		if len(ids) != tt.want {
			t.Errorf("%s: %d findings, want %d: %v", tt.name, len(ids), tt.want, ids)
		}
	}
}
