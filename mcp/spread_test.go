package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
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

// TestOneCauseOneFinding: what one place in a server does wrong is one finding, on how many methods and tools it may show.
func TestOneCauseOneFinding(t *testing.T) {
	session := sessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+textTool("a", "", "", "x")+`,`+textTool("b", "", "", "x")+`]}`)
	listed := func(tools ...string) string {
		return "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[" + strings.Join(tools, ",") + "]}}\n"
	}
	const code = `< {"jsonrpc":"2.0","id":1,"error":{"code":"E_BAD","message":"x"}}` + "\n"
	for _, tt := range []struct {
		name, rule  string
		transcripts []string
		seen        string // what the report says of it
	}{
		{"an error code that is no integer", RuleMalformedReply, []string{
			callOf("1", "a", `{"x":"a"}`) + code, callOf("1", "b", `{"x":"a"}`) + code,
			`> {"jsonrpc":"2.0","id":1,"method":"resources/list"}` + "\n" + code, `> {"jsonrpc":"2.0","id":1,"method":"teasel_no_such_a1"}` + "\n" + code,
		}, "2 methods and 2 tools"},
		{"schemas without a type", RuleToolDefinition, []string{listed(`{"name":"a","inputSchema":{}}`, `{"name":"b","inputSchema":{}}`, `{"name":"c","inputSchema":{}}`)}, "0 methods and 3 tools"},
		{"a text on standard output", RuleNoise, []string{
			callOf("1", "a", `{"x":"apple"}`) + "noise DEBUG looking for apple in 12 places\n" + answerOf("1", "a"),
			callOf("1", "b", `{"x":"pear"}`) + "noise DEBUG looking for pear in 3 places\n" + answerOf("1", "a"),
		}, "0 methods and 2 tools"},
		{"a text that a server prints when it starts", RuleNoise, []string{
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\nnoise Server ready on stdio\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
			"fresh\n" + `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}` +
				"\nnoise Server ready on stdio\n" +
				`< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}` + "\n",
		}, "2 methods and 0 tools"},
		{"answers to notifications", RuleNotificationReply, []string{
			`>& {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}` + "\n" +
				`< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
			`>& {"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `> {"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
				`< {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
		}, "2 methods and 0 tools"},
		{"a session that ends on a line that is no request", RuleExit, []string{
			"> []\n! exit 0\n", "> {\"jsonrpc\":\n! exit 0\n", `> {"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n! exit 0\n",
			`>& {"id":"","result":null}` + "\n" + `> {"jsonrpc":"2.0","id":1,"method":"teasel_no_such_a1"}` + "\n! exit 0\n",
		}, "4 methods and 0 tools"},
		{"arguments that nobody validates", RuleInput, []string{
			callOf("1", "a", `{"x":[]}`) + answerOf("1", "done"), callOf("1", "b", `{"x":{}}`) + answerOf("1", "done"),
		}, "0 methods and 2 tools"},
		{"an exception that is logged", RuleErrorLogged, []string{
			callOf("1", "a", `{"x":"a"}`) + nameError + answerOf("1", "done") + callOf("2", "b", `{"x":"a"}`) + answerOf("2", "done"),
			callOf("1", "b", `{"x":"a"}`) + nameError + answerOf("1", "done"),
		}, "0 methods and 2 tools"},
		{"answers with ids of nobody", RuleID, []string{
			callOf("1", "a", `{"x":"a"}`) + answerOf("2", "done"), callOf("7", "b", `{"x":"a"}`) + answerOf("8", "done"),
		}, "0 methods and 2 tools"},
		{"names that an object inherits", RuleRuntimeName, []string{
			unknownNames("tools/call", `"name":%q`), unknownNames("prompts/get", `"name":%q`), unknownNames("completion/complete", `"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"a","value":""}`),
		}, "2 methods and 1 tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spread := new(Spread)
			detector := Detectors(DetectorConfig{Spread: spread})[0]
			ids := map[string]teasel.Finding{}
			for _, text := range tt.transcripts {
				for _, f := range detector.Detect(&teasel.Observation{Evidence: parseTranscript(t, session, text)}) {
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
				if spread.Describe(&f); !strings.Contains(f.Message, "The same was seen on "+tt.seen+".") {
					t.Errorf("message %q, want %q in it", f.Message, tt.seen)
				}
			}
		})
	}
}
