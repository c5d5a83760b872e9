package mcp_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestPython: what the program prints about a server over standard input and output, and about one over HTTP.
func TestPython(t *testing.T) {
	planted, overHTTP := mcptest.BuildServer(t, plantedtest.Planted), mcptest.BuildServer(t, "plantedhttp")
	asking := mcptest.BuildServer(t, "asking")
	for _, tt := range []struct {
		name    string
		program mcp.Program
		script  string
		want    []string
	}{
		{"answer", mcp.Program{Command: []string{planted}}, `{"teasel-script":1,"steps":[{"send":{"jsonrpc":"2.0","id":"@id","method":"ping"}},
			{"send":{"jsonrpc":"2.0","id":"@id:0:s","method":"ping"}}]}`,
			[]string{`> {"jsonrpc":"2.0","id":1000002,"method":"ping"}`, `< {"jsonrpc":"2.0","id":1000002,"result":{}}`, `> {"jsonrpc":"2.0","id":"1000002","method":"ping"}`, "still there"}},
		{"capture", mcp.Program{Command: []string{planted}}, `{"teasel-script":1,"steps":[{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/list"}},
			{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"cursor":"@{0:/nextCursor}","a":"x@{0:/tools/0/name#0}"}}}]}`,
			[]string{`"a":"x`}},
		{"bytes and end", mcp.Program{Command: []string{planted}}, `{"teasel-script":1,"start":"fresh","steps":[{"base64":"/w==","nowait":true,"close":true}]}`,
			[]string{`> \xff`, "the server ended with status 0"}},
		{"questions", mcp.Program{Command: []string{asking}}, `{"teasel-script":1,"steps":[
			{"asked":"elicitation/create","send":{"jsonrpc":"2.0","id":"@asked","result":{"action":"accept","content":"@{fill:99}"}}},
			{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"summarize_menu"}}},
			{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"book_table"}}}]}`,
			[]string{`"text": "teasel"`, `Summary: teasel`, `"content":{"guests": 99, "name": 99}`, "the server ended with status 2"}},
		{"results that ask", mcp.Program{Command: []string{asking, "-stateless"}, Stateless: true}, `{"teasel-script":1,"steps":[
			{"asked":"input_required","text":"\"@{altered:/requestState}\""},
			{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"pay_bill","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}}]}`,
			[]string{`"inputResponses": {"guests": {"action": "accept"`, `For 1.`}},
		{"HTTP", mcp.Program{Command: []string{overHTTP, "-port", "{port}"}, URL: plantedURL}, `{"teasel-script":1,"steps":[
			{"send":{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"read_count","arguments":{"text":"'"}}}},
			{"text":"","head":"DELETE"},{"send":{"jsonrpc":"2.0","id":"@id","method":"ping"},"head":"Mcp-Session-Id: other"}]}`,
			[]string{"! no response", "< 204 No Content", "Mcp-Session-Id: other", "< 200 OK"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in, err := script.Codec{}.Decode([]byte(tt.script))
			if err != nil {
				t.Fatal(err)
			}
			text, err := tt.program.Python(in)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("python3", "-")
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.CombinedOutput()
			if ended := strings.Contains(string(out), "the server ended with status"); (err != nil) != ended {
				t.Errorf("the server has ended: %v, and the program ends with %v", ended, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// TestPythonHostile: what a server says of itself reaches neither a terminal nor Python as anything but text.
func TestPythonHostile(t *testing.T) {
	const hostile = "\x1b[2J\u009b31m\u202e\u2066\U000e0041\n\x00"
	in, err := script.Codec{}.Decode([]byte(`{"teasel-script":1,"steps":[{"send":{"jsonrpc":"2.0","id":"@id","method":"a` + "\u009b\u202e\u2066\U000e0041" + `"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	program := mcp.Program{About: hostile, Command: []string{"x" + hostile}, URL: plantedURL}
	text, err := program.Python(in)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("something else than text: %q", text[max(0, i-40):i+10])
	}
}

// TestCurl: which scripts are one request, and what is run for it.
func TestCurl(t *testing.T) {
	p := mcp.Program{About: "a rule\nof two lines", URL: "http://127.0.0.1:8080/mcp", Header: []string{"Authorization: Bearer ${TOKEN}"}, Version: "2025-06-18"}
	in := script.NewShared("", script.Step{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"it's"}`), Head: "Origin: http://a.example\nMCP-Protocol-Version: x"})
	text, ok := p.Curl(in)
	if !ok {
		t.Fatal("no script")
	}
	for _, want := range []string{"# a rule of two lines\n", `-H "Authorization: Bearer ${TOKEN}"`, `-H "Origin: http://a.example"`, `-H "MCP-Protocol-Version: x"`, `"id":2,"method":"it'\''s"`, "session=$(curl"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if out, err := exec.Command("sh", "-n", "-c", text).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for name, in := range map[string]script.Script{
		"two steps":     script.NewShared("", in.Steps[0], in.Steps[0]),
		"a fresh start": script.NewFresh("", in.Steps[0]),
		"a reference":   script.NewShared("", script.SendText(`{"id":"@id:0"}`)),
	} {
		if _, ok := p.Curl(in); ok {
			t.Errorf("%s: there is a script", name)
		}
	}
	p.URL = ""
	if _, ok := p.Curl(in); ok {
		t.Error("standard input: there is a script")
	}
}
