package check

import (
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Answers are the lines with which each question may be answered, whatever it asks. The empty one is none.
var Answers = []string{
	"",
	`{"jsonrpc":"2.0","id":"@asked","error":{"code":-1,"message":"User rejected the request"}}`,
	`{"jsonrpc":"2.0","id":"@asked","error":{"code":-32601,"message":"Method not found"}}`,
	`{"jsonrpc":"2.0","id":"@asked","error":{"code":-32603,"message":"@{huge}","data":{"__proto__":{"a":1}}}}`,
	`{"jsonrpc":"2.0","id":"@asked","error":null}`,
	`{"jsonrpc":"2.0","id":"@asked","error":"no"}`,
	`{"jsonrpc":"2.0","id":"@asked","error":{}}`,
	`{"jsonrpc":"2.0","id":"@asked","result":null}`,
	`{"jsonrpc":"2.0","id":"@asked","result":{}}`,
	`{"jsonrpc":"2.0","id":"@asked","result":[]}`,
	`{"jsonrpc":"2.0","id":"@asked","result":"a"}`,
	`{"jsonrpc":"2.0","id":"@asked","result":0}`,
	`{"jsonrpc":"2.0","id":"@asked","result":{},"error":{"code":-1,"message":"a"}}`,
	`{"jsonrpc":"2.0","id":"@asked"}`,
	`{"id":"@asked","result":{}}`,
	`{"jsonrpc":"2.0","id":null,"result":{}}`,
	`{"jsonrpc":"2.0","id":0,"result":{}}`,
	`[{"jsonrpc":"2.0","id":"@asked","result":{}}]`,
	`{"jsonrpc":"2.0","id":"@asked","result":{`,
	`{"jsonrpc":"2.0","id":"@asked","result":"@{asked:}"}`,
}

// Results are results for a question of a method, most of which it does not allow. The first is one that it does, in which the
// mutations of values find most.
var Results = map[string][]string{
	session.AsksForSample: {
		`{"role":"assistant","content":{"type":"text","text":"a"},"model":"a","stopReason":"endTurn"}`,
		`{"role":"assistant","content":{"type":"text","text":""},"model":""}`,
		`{"role":"assistant","content":{"type":"text","text":"@{huge}"},"model":"a"}`,
		`{"role":"assistant","content":{"type":"text"},"model":"a"}`,
		`{"role":"assistant","content":{"type":"text","text":null},"model":"a"}`,
		`{"role":"assistant","content":{"type":"text","text":5},"model":"a"}`,
		`{"role":"assistant","content":{"type":"text","text":"{}"},"model":"a"}`,
		`{"role":"assistant","content":{"type":"text","text":"\u0000\ud800"},"model":"a"}`,
		`{"role":"assistant","content":"a","model":"a"}`,
		`{"role":"assistant","content":null,"model":"a"}`,
		`{"role":"assistant","content":[],"model":"a"}`,
		`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"a"}`,
		`{"role":"assistant","content":{"type":"image","data":"!","mimeType":"image/png"},"model":"a"}`,
		`{"role":"assistant","content":{"type":"audio","data":"","mimeType":""},"model":"a"}`,
		`{"role":"assistant","content":{"type":"teasel"},"model":"a"}`,
		`{"role":"assistant","content":{},"model":"a"}`,
		`{"role":"assistant","content":{"type":"tool_use","id":"a","name":"teasel_no_such_tool","input":{}},"model":"a","stopReason":"toolUse"}`,
		`{"role":"system","content":{"type":"text","text":"a"},"model":"a"}`,
		`{"content":{"type":"text","text":"a"}}`,
		`{"role":"assistant","content":{"type":"text","text":"a"},"model":"a","stopReason":5}`,
		`{"role":"assistant","content":{"type":"text","text":"a"},"model":"a","stopReason":"maxTokens"}`,
	},
	session.AsksForForm: {
		`{"action":"accept","content":{}}`,
		`{"action":"accept"}`,
		`{"action":"accept","content":null}`,
		`{"action":"accept","content":[]}`,
		`{"action":"accept","content":"a"}`,
		`{"action":"accept","content":"@{fill:-1}"}`,
		`{"action":"accept","content":"@{fill:0}"}`,
		`{"action":"accept","content":"@{fill:2147483647}"}`,
		`{"action":"accept","content":"@{fill:9223372036854775808}"}`,
		`{"action":"accept","content":"@{fill:1.5}"}`,
		`{"action":"accept","content":"@{fill:\"\"}"}`,
		`{"action":"accept","content":"@{fill:\"teasel\"}"}`,
		`{"action":"accept","content":"@{fill:null}"}`,
		`{"action":"accept","content":"@{fill:true}"}`,
		`{"action":"accept","content":"@{fill:[]}"}`,
		`{"action":"accept","content":{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}}`,
		`{"action":"accept","content":{"a":"@{huge}"}}`,
		`{"action":"accept","content":"@{asked:/requestedSchema}"}`,
		`{"action":"accept","content":"@{asked:/requestedSchema/properties}"}`,
		`{"action":"decline"}`,
		`{"action":"decline","content":{"a":"b"}}`,
		`{"action":"cancel"}`,
		`{"action":"teasel"}`,
		`{"action":null}`,
		`{"content":{}}`,
	},
	session.AsksForRoots: {
		`{"roots":[{"uri":"file:///a","name":"a"}]}`,
		`{"roots":[]}`,
		`{"roots":null}`,
		`{"roots":{}}`,
		`{"roots":[null]}`,
		`{"roots":[{}]}`,
		`{"roots":[{"uri":5}]}`,
		`{"roots":[{"uri":""}]}`,
		`{"roots":[{"uri":"a"}]}`,
		`{"roots":[{"uri":"http://127.0.0.1/"}]}`,
		`{"roots":[{"uri":"file://"}]}`,
		`{"roots":[{"uri":"file:///%00"}]}`,
		`{"roots":[{"uri":"file:///%zz"}]}`,
		`{"roots":[{"uri":"file:///a/../../b"}]}`,
		`{"roots":[{"uri":"file://@{huge}"}]}`,
		`{"roots":[{"uri":"file:///a"},{"uri":"file:///a"}]}`,
		`{"roots":[{"uri":"file:///a","name":null,"_meta":[]}]}`,
	},
	session.InputRequired: { // the request's state
		`"@{asked:/requestState}"`,
		`"@{altered:/requestState}"`,
		`"@{asked:/requestState}a"`,
		`"a@{asked:/requestState}"`,
		`""`,
		`"a"`,
		`null`,
		`{}`,
		`5`,
		`"@{huge}"`,
		`"e30="`,
		`"e30.e30.e30"`,
	},
}

// AnswerLine returns a result as the line that answers a question of a method. What is sent as the state of a request is no message.
func AnswerLine(method, result string) string {
	if method == session.InputRequired {
		return result
	}
	return `{"jsonrpc":"2.0","id":"@asked","result":` + result + `}`
}

// questions are what a server may ask in a session.
func questions(s *session.Session) []string {
	if s.Stateless {
		return []string{session.AsksForSample, session.AsksForForm, session.AsksForRoots, session.InputRequired}
	}
	return []string{session.AsksForSample, session.AsksForForm, session.AsksForRoots}
}

// checkAnswers calls each tool again and again, and answers what it asks in another way each time. The script ends with the first call
// during which nothing was asked.
func checkAnswers(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	asked := questions(b.Session)
	for _, t := range b.Tools {
		call := t.Call()
		for _, method := range asked {
			var steps []script.Step
			for _, line := range answersTo(method) {
				steps = append(steps, script.Step{Asked: method, Line: []byte(line)}, script.Send(call))
			}
			Chunks(steps, answeredCalls, func(part int, steps []script.Step) {
				emit(t.Name+" "+method+" "+strconv.Itoa(part), script.NewShared(Questions, steps...))
			})
		}
		for _, end := range [...]struct{ name, line string }{
			{"late", session.PingLine},
			{"when it was cancelled", string(CancelLine(`"@id:0"`))},
			{"twice", AnswerLine(session.AsksForSample, Results[session.AsksForSample][1])},
		} {
			var steps []script.Step
			steps = append(steps, script.SendOn(call))
			for _, method := range asked {
				steps = append(steps, script.Step{Asked: method})
			}
			steps = append(steps, script.SendText(session.PingLine), script.SendText(end.line),
				script.SendText(AnswerLine(session.AsksForSample, Results[session.AsksForSample][0])), script.SendText(session.PingLine))
			emit(t.Name+" "+end.name, script.NewShared(Questions, steps...))
		}
	}
}

// answeredCalls is how many steps a script has at most, two for each call. Of a tool that asks nothing only the first is run, and one that
// hangs leaves out the rest.
const answeredCalls = 40

// answersTo returns the lines that answer questions of a method, odd in one way each.
func answersTo(method string) (lines []string) {
	for _, result := range Results[method] {
		lines = append(lines, AnswerLine(method, result))
	}
	if method == session.InputRequired {
		return lines
	}
	return append(lines, Answers...)
}

// wasAsked reports whether the server has asked something of the client.
func wasAsked(t *script.Transcript) bool {
	return slices.ContainsFunc(t.Received, func(r script.Received) bool {
		return r.Message.Class == jsonrpc.ClassRequest || session.AsksForInput(r.Message.Result)
	})
}
