package judge

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestBlame: who is to blame, and what of standard error belongs to a death.
func TestBlame(t *testing.T) {
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+mcptest.TextTool("a", "", "", "x")+`,`+mcptest.TextTool("b", "", "", "x")+`]}`)
	ping := `> {"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
	pong := `< {"jsonrpc":"2.0","id":2,"result":{}}` + "\n"
	call := mcptest.CallOf("1", "a", `{"x":"a"}`)
	for _, tt := range []struct{ name, text, rule, subject, not string }{
		{"an exception of an earlier call", call + nameError + mcptest.AnswerOf("1", "done") + mcptest.CallOf("3", "b", `{"x":"a"}`) + "! exit 7\n", RuleCrash, "tools/call b", "NameError"},
		{"an exception is logged, and a ping follows", call + nameError + mcptest.AnswerOf("1", "done") + ping + pong, RuleErrorLogged, "tools/call a", ""},
		{"an exit after the answer", call + mcptest.AnswerOf("1", "done") + ping + "! exit 0\n", RuleExit, "tools/call a", ""},
		{"an answer that comes twice around a notification", call + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}` + "\n" +
			mcptest.AnswerOf("1", "done") + mcptest.AnswerOf("1", "done"), RuleDuplicateReply, "tools/call a", ""},
		{"each answer has the next id, which is another request's", strings.Replace(call, "> ", ">& ", 1) + mcptest.CallOf("2", "teasel_no_such_a1", `{}`) + mcptest.AnswerOf("2", "done") + mcptest.AnswerOf("3", "done"),
			RuleID, "tools/call a", "no tool"},
		{"a call waits for an answer that has the next id", call + mcptest.AnswerOf("2", "done") + "! hung\n", RuleID, "tools/call a", ""},
		{"a large id, and the next one in the answer", `> {"jsonrpc":"2.0","id":1152921504606846977,"method":"ping"}` + "\n" +
			`< {"jsonrpc":"2.0","id":1152921504606846978,"result":{}}` + "\n", RuleID, "ping", "rounded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := judgeText(t, session, tt.text)
			if len(found) != 1 || found[0].Rule != tt.rule || found[0].Subject != tt.subject {
				t.Fatalf("found %v, want one %s of %s", found, tt.rule, tt.subject)
			}
			if tt.not != "" && strings.Contains(found[0].Message+found[0].Group, tt.not) {
				t.Errorf("%q and %q speak of %s", found[0].Message, found[0].Group, tt.not)
			}
		})
	}
}

// TestBlameWholeLine: of a message that is sent in two parts the whole is to blame, not the first part.
func TestBlameWholeLine(t *testing.T) {
	whole := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	j := &judge{session: &noSession, t: &script.Transcript{Script: &script.Script{Start: script.Shared, Steps: []script.Step{{NoNewline: true, NoWait: true}, {}}}, Sent: []script.Sent{
		{Raw: []byte(`{"jsonrpc":`), Message: jsonrpc.Message{Class: jsonrpc.ClassInvalid, Why: script.WhyUnfinished}, Answer: -1},
		{Step: 1, Raw: []byte(`"2.0","id":1,"method":"ping"}`), Message: whole, Answer: -1},
	}}}
	if got := j.guiltySubject(); got != "ping" {
		t.Errorf("%s is to blame, want ping", got)
	}
}

// TestOneFaultOneFinding: what a program fails over is the same fault, whether a key stands in the request once or twice.
func TestOneFaultOneFinding(t *testing.T) {
	const answer = `< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'NoneType' object is not subscriptable"}],"isError":true}}`
	ids := make(map[string][]string)
	for _, params := range []string{
		`{"name":"look","arguments":{"name":"a"}}`,
		`{"name":"look","arguments":{"name":"b","name":"a"}}`,
		`{"name":"look","name":"look","arguments":{"name":"a"}}`,
		`{"name":"add","name":"look","arguments":{"name":"a"}}`,
		`{"name":"look","arguments":{},"arguments":{"name":"a"}}`,
	} {
		found := judgeText(t, mcptest.DeskSession(t), `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+"}\n"+answer+"\n")
		for i := range found {
			ids[found[i].ID()] = append(ids[found[i].ID()], found[i].Rule+" "+found[i].Subject+" "+found[i].Group)
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d findings, want 1: %v", len(ids), ids)
	}
}
