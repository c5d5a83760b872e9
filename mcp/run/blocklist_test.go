package run

import (
	"cmp"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func TestBlocklist(t *testing.T) {
	s := &session.Session{Tools: []session.Tool{{Name: "delete_all"}, {Name: "add"}, {Name: "Löschen"}, {Name: "safe"}}}
	b := script.NewBlocklist(s, func(name string) bool { return name != "safe" }, nil)
	for _, tt := range []struct {
		before, line string
		want         bool
	}{
		{"", `{"name":"safe"}`, false},
		{"", `{"name":"delete_all"}`, true},
		{"", `{"name":"Delete_ALL"}`, true},
		{"", `{"name":"\u0064elete_all"}`, true},
		{"", `{"name":"\u0044\u0045lete\u005fall"}`, true},
		{"", `{"text":"{\"name\":\"\\u0064elete_all\"}"}`, true},
		{"", `{"text":"{\"name\":\"\\\\u0064elete_all\"}"}`, true},
		{"", "{\"name\":\"dele\xffte_all\"}", true},
		{"", "{\"name\":\"dele\x00te_all\"}", true},
		{"", "{\"name\":\"delete\u200b_all\"}", true},
		{"", `{"name":"delete\u0000_all"}`, true},
		{"", `{"name":"delete_all "}`, true},
		{"", "[{\"x\":1},{\"name\":\"delete_all\"", true},
		{`{"name":"dele`, `te_all"}`, true},
		{"", `{"name":"löschen"}`, true},
		{"", `{"name":"L\u00d6SCHEN"}`, true},
		{"", `{"name":"L\u00f6schen"}`, true},
		{"", `{"name":"undelete_all"}`, false},
		{"", `{"name":"delete_all_now"}`, false},
		{"", `{"text":"my address"}`, false},
		{"", `{"text":"add 1"}`, true},
		{"", `delete\`, false},
		{"", `\u00`, false},
		{"", ``, false},
	} {
		if got := b.Mentions([]byte(tt.before), []byte(tt.line)) != ""; got != tt.want {
			t.Errorf("%q after %q: %v", tt.line, tt.before, got)
		}
	}
	none := script.NewBlocklist(s, nil, nil)
	if none.Mentions(nil, []byte("delete_all")) != "" {
		t.Error("something is blocked though nothing is to be")
	}
	// What was handed in stays as it was.
	line := []byte(`{"name":"DELETE\u005FALL"}`)
	if b.Mentions(nil, line); string(line) != `{"name":"DELETE\u005FALL"}` {
		t.Errorf("the line became %s", line)
	}
	if b.Mentions(nil, []byte(strings.Repeat("x", 2<<20))); cap(b.Buf) > 1<<20 {
		t.Error("a huge buffer is kept")
	}
}

// TestExcludedTools: what is only left out is known by its call, so that a tool whose name is an ordinary word takes no other
// message away.
func TestExcludedTools(t *testing.T) {
	s := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[{"name":"list","inputSchema":{"type":"object"}},
		{"name":"read","inputSchema":{"type":"object"}},{"name":"ping","inputSchema":{"type":"object"}}]}`)
	choice, err := session.Selection{Include: []string{"read"}}.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	b := script.NewBlocklist(s, choice.Blocks, choice.Excludes)
	for _, tt := range []struct {
		line string
		want string
	}{
		{`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`, ""},
		{session.PingLine, ""},
		{`{"jsonrpc":"2.0","id":"@id","method":"resources/templates/list"}`, ""},
		{`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"read","arguments":{"a":"list"}}}`, ""},
		{`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"list"}}`, "list"},
		{`[{"jsonrpc":"2.0","id":"@id","method":"ping"},{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"ping"}}]`, "ping"},
	} {
		m := jsonrpc.Parse([]byte(tt.line))
		if name := b.Mentions(nil, []byte(tt.line)); name != "" {
			t.Errorf("%s: mentions %q", tt.line, name)
		}
		if name := b.Calls(&m); name != tt.want {
			t.Errorf("%s: calls %q, want %q", tt.line, name, tt.want)
		}
	}
	all := gen.NewMutator(gen.MutatorConfig{Session: s, Choice: &choice}).Seeds()
	for _, seed := range all {
		for i := range seed.Script.Steps {
			m := jsonrpc.Parse(seed.Script.Steps[i].Line)
			if name := cmp.Or(b.Mentions(nil, seed.Script.Steps[i].Line), b.Calls(&m)); name != "" {
				t.Errorf("seed %s is never sent: it names %q", seed.Name, name)
			}
		}
	}
}

// TestBlockedMethodWord: the name of a dangerous tool may be a word that methods of the protocol have.
func TestBlockedMethodWord(t *testing.T) {
	b := script.NewBlocklist(&session.Session{Tools: []session.Tool{{Name: "call"}, {Name: "list"}}}, func(string) bool { return true }, nil)
	for line, want := range map[string]string{
		`{"method":"tools/list"}`:                               "",
		`{"method" : "tools/list","id":1}`:                      "",
		`{"method":"tools/call","params":{"name":"other"}}`:     "",
		`{"method":"tools/call","params":{"name":"list"}}`:      "list",
		`{"method":"tools/call","params":{"name":"call"}}`:      "call",
		`{"method":"list"}`:                                     "list",
		`{"method":"tools/list/x"}`:                             "list",
		`{"method":"tools/list`:                                 "list",
		`{"params":{"method":"tools/list"},"name":"\u006cist"}`: "list",
	} {
		if got := b.Mentions(nil, []byte(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestWithheld: what is not sent is counted by the tool that is to blame.
func TestWithheld(t *testing.T) {
	var withheld script.Withheld
	target := &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, "planted"), "-bugs", "none"}}, Blocked: func(name string) bool { return name == "wipe_cache" }, Excluded: func(name string) bool { return name == "echo" }, Withheld: &withheld}
	e := open(t, target)
	executeBatch(t, e, call("echo", `{"text":"a"}`), call("add", `{"a":1,"b":2}`), lineScript(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"a":"wipe_cache"}}`))
	if got := withheld.Lines(); got["echo"] != 1 || got["wipe_cache"] != 1 || len(got) != 2 {
		t.Errorf("withheld %v", got)
	}
}
