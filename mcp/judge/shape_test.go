package judge

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// TestShapesRead: each version has all definitions but those of tasks and forms, which came late.
func TestShapesRead(t *testing.T) {
	for i, v := range shapeVersions {
		s := v.read()
		for method, names := range definitions {
			late := strings.HasPrefix(method, "tasks/") || method == "elicitation/create"
			if (s.results[method] == nil || s.params[method] == nil) && (!late || i == newestShapes()) {
				t.Errorf("%s has no %v", v.name, names)
			}
		}
	}
}

// TestResultFault holds results against the schema of a version: each member, in words, and what only a later version allows passes.
func TestResultFault(t *testing.T) {
	const tool = `"name":"a","inputSchema":{"type":"object"}`
	for _, tt := range []struct{ version, method, result, want string }{
		{"2025-11-25", "tools/call", `{"content":[{"type":"text","text":"hi","annotations":{"audience":["user"],"priority":0.5}}]}`, ""},
		{"2025-11-25", "tools/call", `{"content":[]}`, ""},
		{"2025-11-25", "tools/call", `{}`, "content is missing"},
		{"2025-11-25", "tools/call", `{"content":null}`, "content is null"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"text"}]}`, "content[0].text is missing"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"text","text":5}]}`, "content[0].text is a number"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"text","text":"a"},"b"]}`, "content[1] is none of what it may be"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"video","data":""}]}`, `content[0] is of a type that does not exist, or lacks what belongs to it: "video"`},
		{"2025-11-25", "tools/call", `{"content":[{"text":"a"}]}`, "content[0] is none of what it may be"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"image","data":"AAAA"}]}`, "content[0].mimeType is missing"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"image","data":"A-_A","mimeType":"image/png"}]}`, ""},
		{"2025-11-25", "tools/call", `{"content":[{"type":"image","data":"!","mimeType":"image/png"}]}`, "content[0]: data is not base64: ! at byte 0"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"text","text":"a","annotations":{"audience":["robot"]}}]}`, `content[0].annotations.audience[0] is "robot", which it may not be`},
		{"2025-11-25", "tools/call", `{"content":[{"type":"text","text":"a","annotations":{"priority":2}}]}`, "content[0].annotations.priority: it breaks maximum"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"resource_link","uri":"a:b","name":"c","size":"big"}]}`, "content[0].size is a string"},
		{"2025-11-25", "tools/call", `{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}`, "content[0]: it has neither text nor blob"},
		{"2025-11-25", "tools/call", `{"content":[],"structuredContent":[]}`, "structuredContent is an array"},
		{"2026-07-28", "tools/call", `{"content":[],"structuredContent":[]}`, ""},
		{"2025-11-25", "tools/call", `{"content":[],"isError":"no"}`, "isError is a string"},
		{"2025-11-25", "tools/call", `{"content":[],"_meta":5}`, "_meta is a number"},
		{"2024-11-05", "tools/call", `{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}`, ""}, // of a later version
		{"2024-11-05", "tools/call", `{"content":[{"type":"audio","data":"AAAA"}]}`, `content[0] is of a type that does not exist, or lacks what belongs to it: "audio"`},
		{"2025-03-26", "tools/call", `{"content":[{"type":"resource_link","uri":"a:b","name":"c"}]}`, ""},
		{"", "tools/call", `{"content":5}`, "content is a number"},
		{"2025-11-25", "resources/read", `{"contents":[{"uri":"a:b","text":"x","mimeType":5}]}`, "contents[0].mimeType is a number"},
		{"2025-11-25", "resources/read", `{"contents":[{"uri":"a:b","text":"x","blob":""}]}`, "contents[0]: it has both text and blob"},
		{"2025-11-25", "resources/read", `{"contents":[{"uri":"a:b","text":"x"}]}`, ""},
		{"2025-11-25", "prompts/get", `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`, `messages[0].role is "system", which it may not be`},
		{"2025-11-25", "prompts/get", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"description":1}`, "description is a number"},
		{"2025-11-25", "prompts/get", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, ""},
		{"2025-11-25", "completion/complete", `{"completion":{"values":["a"],"total":1,"hasMore":false}}`, ""},
		{"2025-11-25", "completion/complete", `{"completion":{"values":["a"],"total":0}}`, "total is 0, but there are 1 values"},
		{"2025-11-25", "completion/complete", `{"completion":{"values":["a",1]}}`, "completion.values[1] is a number"},
		{"2025-11-25", "completion/complete", `{"completion":{"values":["a"],"total":0.5}}`, "completion.total is a number"},
		{"2025-11-25", "tools/list", `{"tools":[{` + tool + `,"annotations":{"readOnlyHint":"yes"}}]}`, "tools[0].annotations.readOnlyHint is a string"},
		{"2025-11-25", "tools/list", `{"tools":[{` + tool + `,"icons":[{"src":5}]}]}`, "tools[0].icons[0].src is a number"},
		{"2025-11-25", "tools/list", `{"tools":[{` + tool + `,"execution":{"taskSupport":"maybe"}}]}`, `tools[0].execution.taskSupport is "maybe", which it may not be`},
		{"2025-11-25", "tools/list", `{"tools":[{` + tool + `,"x-more":5}],"nextCursor":"1"}`, ""},
		{"2025-11-25", "resources/list", `{"resources":[{"uri":"a:b","name":"c","size":1.5}]}`, "resources[0].size is a number"},
		{"2025-11-25", "prompts/list", `{"prompts":[{"name":"a","arguments":[{"name":"b","required":"yes"}]}]}`, "prompts[0].arguments[0].required is a string"},
		{"2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"yes"}},"serverInfo":{"name":"a","version":"1"}}`, "capabilities.tools.listChanged is a string"},
		{"2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"x-vendor":true},"serverInfo":{"name":"a","version":"1"}}`, ""},
		{"2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a"}}`, "serverInfo.version is missing"},
		{"2025-11-25", "tasks/get", `{"taskId":"a","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}`, ""},
		{"2025-11-25", "tasks/get", `{"taskId":"a","status":"lost","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}`, `status is "lost", which it may not be`},
		{"2025-06-18", "tasks/get", `{}`, ""},
		{"2025-11-25", "ping", `{}`, ""},
		{"2025-11-25", "tools/call", `{"content":5,"content":[]}`, ""}, // readers disagree
	} {
		v, err := mutate.ParseJSON([]byte(tt.result))
		if err != nil {
			t.Fatal(err)
		}
		if got := resultFault(tt.version, tt.method, v); got != tt.want {
			t.Errorf("%s %s %s: %q, want %q", tt.version, tt.method, tt.result, got, tt.want)
		}
	}
}

// TestParamFault: which parameters no server may accept.
func TestParamFault(t *testing.T) {
	j := &judge{phase: phase{version: "2025-06-18"}}
	for _, tt := range []struct {
		method, params, want string
		grave                bool
	}{
		{"tools/call", `{"name":"a","arguments":{}}`, "", false},
		{"tools/call", `{"name":"a","arguments":null}`, "arguments is null", false},
		{"tools/call", `{"name":"a","arguments":[]}`, "arguments is an array", true},
		{"tools/call", `{"name":null}`, "name is null", true},
		{"tools/call", `{}`, "name is missing", true},
		{"tools/call", `{"a":1,"a":2}`, "name is missing", true}, // in whatever way the rest is read
		{"tools/call", `[]`, "params is an array", false},
		{"tools/call", `{"name":"a","_meta":5}`, "_meta is a number", false},
		{"tools/call", `{"name":5,"_meta":5}`, "name is a number", true},
		{"tools/call", `{"name":"a","task":5}`, "", false}, // of another version
		{"ping", `{"_meta":{"progressToken":{}}}`, "_meta.progressToken is an object", false},
		{"no/method", `{"_meta":5}`, "_meta is a number", false},
		{"prompts/get", `{"name":"a","arguments":{"n":5}}`, "arguments.n is a number", false},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":"c"}}`, "", false},
		{"completion/complete", `{"ref":{"type":"ref/prompt"},"argument":{"name":"b","value":"c"}}`, "ref.name is missing", true},
		{"completion/complete", `{"ref":{"type":"ref/tool","name":"a"},"argument":{"name":"b","value":"c"}}`, `ref is of a type that does not exist, or lacks what belongs to it: "ref/tool"`, true},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b"}}`, "argument.value is missing", true},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":"c"},"context":5}`, "context is a number", false},
		{"logging/setLevel", `{"level":"loud"}`, `level is "loud", which it may not be`, true},
		{"tools/list", `{"cursor":5}`, "cursor is a number", true},
		{"tools/list", `{"cursor":null}`, "cursor is null", false},
		{"tools/list", ``, "", false},
		{"resources/read", `{"uri":"nowhere"}`, `"nowhere" is no URI`, false},
		{"initialize", `{"protocolVersion":5,"capabilities":{},"clientInfo":{"name":"a","version":"1"}}`, "protocolVersion is a number", false},
	} {
		text := `{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `"`
		if tt.params != "" {
			text += `,"params":` + tt.params
		}
		m := jsonrpc.Parse([]byte(text + "}"))
		if f := j.faultOf(&m); f.text != tt.want || f.grave != tt.grave {
			t.Errorf("%s %s: %q, %v, want %q, %v", tt.method, tt.params, f.text, f.grave, tt.want, tt.grave)
		}
	}
}

// TestStatic: what is wrong with what the server said of itself before the campaign, and says again, needs no other execution; what it says
// now only does.
func TestStatic(t *testing.T) {
	const shown = `{"name":"a","inputSchema":{"type":"text"}}`
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a"}},"tools":[`+shown+`]}`)
	for _, tt := range []struct {
		tool, rule string
		want       bool
	}{
		{shown, RuleToolDefinition, true},
		{`{"name":"a","inputSchema":{"type":"text","x":1}}`, RuleToolDefinition, false},
		{`{"name":"b","inputSchema":{"type":"text"}}`, RuleToolDefinition, false},
		{`{"name":"a","title":5,"inputSchema":{"type":"object"}}`, RuleList, false},
	} {
		found := judgeText(t, session, `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"+`< {"jsonrpc":"2.0","id":1,"result":{"tools":[`+tt.tool+`]}}`+"\n")
		if len(found) != 1 || found[0].Rule != tt.rule || found[0].Static != tt.want {
			t.Errorf("%s: %+v, want %s, static %v", tt.tool, found, tt.rule, tt.want)
		}
	}
	var err error
	if session.Initialize, err = mutate.ParseJSON([]byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a"}}`)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		info string
		want bool
	}{{`{"name":"a"}`, true}, {`{"name":"b"}`, false}} {
		found := judgeText(t, session, "fresh\n"+`> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n"+
			`< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":`+tt.info+`}}`+"\n")
		if len(found) != 1 || found[0].Rule != RuleInitialize || found[0].Static != tt.want {
			t.Errorf("initialize with %s: %+v, want static %v", tt.info, found, tt.want)
		}
	}
}
