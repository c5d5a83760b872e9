package mcp

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/testrun"
	"github.com/teaselfuzz/teasel/mutate"
)

func scriptsEqual(a, b Script) bool { return a.Check == b.Check && same(&a, &b) }

func deskSession(t testing.TB) *Session {
	t.Helper()
	data, err := os.ReadFile(testdata(t, "transcripts", "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	return sessionOf(t, string(data))
}

const echoExchange = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"the quick brown fox jumps over the lazy dog"}}}
< {"result":{"content":[{"type":"text","text":"Echo: the quick brown fox jumps over the lazy dog"}]},"jsonrpc":"2.0","id":1}
`

// textTool is a tool whose arguments are all texts.
func textTool(name, description, more string, arguments ...string) string {
	var properties []string
	for _, a := range arguments {
		properties = append(properties, `"`+a+`":{"type":"string"}`)
	}
	return `{"name":"` + name + `","description":"` + description + `"` + more + `,"inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}`
}

func callOf(id, name, arguments string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + "}}\n"
}

func answerOf(id, text string) string {
	return `< {"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + text + "\"}]}}\n"
}

const jobs = `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[
	{"name":"list_jobs","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"state":{"type":"string"}}}},
	{"name":"finish_job","annotations":{"destructiveHint":false},"inputSchema":{"type":"object","properties":{"job_id":{"type":"string"},"worker_id":{"type":"string"}},
		"required":["job_id","worker_id"]}},
	{"name":"read_file","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"job_id":{"type":"string"},"path":{"type":"string"}},
		"required":["job_id","path"]}}]}`

// servers are those of testdata that a test has wanted: each is compiled once for all of them.
var servers struct {
	sync.Mutex
	dir      string
	programs map[string]string
}

// Missing skips a test for want of what scripts/setup-test.sh installs, or fails it where all of that has to be there.
func Missing(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
		tb.Fatalf("%v: run scripts/setup-test.sh", err)
	}
	tb.Skipf("%v: run scripts/setup-test.sh", err)
}

// computes is for tests that compute for long in one goroutine: the race detector would make them ten times as long and
// learn nothing.
func computes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine computes for long: not with -short")
	}
	t.Parallel()
}

// BuildServer returns the program of a server in testdata.
func BuildServer(tb testing.TB, name string) string {
	tb.Helper()
	servers.Lock()
	defer servers.Unlock()
	if program, ok := servers.programs[name]; ok {
		return program
	}
	var err error
	if servers.dir == "" {
		servers.programs = map[string]string{}
		if servers.dir, err = os.MkdirTemp("", "teasel-mcp-"); err != nil {
			tb.Fatal(err)
		}
	}
	program, err := plantedtest.Build(tb.Context(), servers.dir, name)
	if err != nil {
		tb.Fatal(err)
	}
	servers.programs[name] = program
	return program
}

func scriptOf(lines ...string) Script {
	in := Script{Start: Shared}
	for _, line := range lines {
		in.Steps = append(in.Steps, Step{Line: []byte(line)})
	}
	return in
}

const (
	sumCall  = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"get-sum","arguments":{"a":1,"b":2}}}`
	echoCall = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`
	listCall = `{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`
)

// wellFormed checks what holds for every script that is made.
func wellFormed(t testing.TB, in *Script) {
	t.Helper()
	if in.Start != Shared && in.Start != Fresh {
		t.Fatalf("start is %d", in.Start)
	}
	if len(in.Steps) == 0 {
		t.Fatal("no steps")
	}
	for i := range in.Steps {
		s := &in.Steps[i]
		if bytes.IndexByte(s.Line, '\n') >= 0 {
			t.Fatalf("step %d has a newline: %q", i, s.Line)
		}
		if s.Close && in.Start != Fresh {
			t.Fatalf("step %d closes a session that others use", i)
		}
		if s.Times < 0 || s.Times > maxTimes {
			t.Fatalf("step %d is sent %d times", i, s.Times)
		}
	}
	if in.Start == Shared && in.Steps[len(in.Steps)-1].NoNewline {
		t.Fatal("what others send next is the end of its last line")
	}
}

// recordedSession reads what a real server said of itself, from testdata/session.
func recordedSession(t testing.TB, name string) *Session {
	t.Helper()
	data, err := os.ReadFile(testdata(t, "session", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return parseSession(t, string(data))
}

// parseSession reads a session from JSON: initialize, tools, resources, resourceTemplates, prompts.
func parseSession(t testing.TB, text string) *Session {
	t.Helper()
	root, err := mutate.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	str := func(v *mutate.JSON) string { s, _ := v.Str(); return s }
	items := func(name string) []*mutate.JSON {
		if list := root.Get(name); list != nil {
			return list.Items
		}
		return nil
	}
	s := &Session{Initialize: root.Get("initialize")}
	s.Version, s.Capabilities = str(s.Initialize.Get("protocolVersion")), s.Initialize.Get("capabilities")
	s.Asked = s.Version
	for _, v := range items("tools") {
		s.Tools = append(s.Tools, Tool{
			Name: str(v.Get("name")), Description: str(v.Get("description")), InputSchema: v.Get("inputSchema"),
			OutputSchema: v.Get("outputSchema"), Annotations: v.Get("annotations"), Root: v,
		})
	}
	for _, v := range items("resources") {
		s.Resources = append(s.Resources, Resource{URI: str(v.Get("uri")), Name: str(v.Get("name")), Root: v})
	}
	for _, v := range items("resourceTemplates") {
		s.Templates = append(s.Templates, Resource{URI: str(v.Get("uriTemplate")), Name: str(v.Get("name")), Root: v})
	}
	for _, v := range items("prompts") {
		p := Prompt{Name: str(v.Get("name")), Root: v}
		if list := v.Get("arguments"); list != nil {
			for _, a := range list.Items {
				p.Arguments = append(p.Arguments, PromptArgument{Name: str(a.Get("name")), Required: a.Get("required").String() == "true"})
			}
		}
		s.Prompts = append(s.Prompts, p)
	}
	return s
}

// handles is a server with state: what open hands out goes into append and close.
const handles = `{
"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"handles","version":"1"}},
"tools":[
{"name":"open_log","description":"Opens a log and returns a handle.","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}},
{"name":"append_log","description":"Appends a line.","inputSchema":{"type":"object","properties":{"handle":{"type":"string"},"line":{"type":"string"}},"required":["handle","line"]}},
{"name":"close_log","description":"Closes a log.","inputSchema":{"type":"object","properties":{"handle":{"type":"string"}},"required":["handle"]}},
{"name":"count_lines","description":"Counts the lines of a log.","inputSchema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}}
]}`

func newRand(n uint64) *teasel.Rand { return rand.New(rand.NewPCG(n, n)) }

// catalog is what a server says of itself, as a test writes it.
type catalog struct {
	Initialize struct {
		Capabilities    json.RawMessage
		ProtocolVersion string
	}
	Tools     []json.RawMessage
	Resources []json.RawMessage
	Templates []json.RawMessage `json:"resourceTemplates"`
	Prompts   []json.RawMessage
}

func sessionOf(t testing.TB, text string) *Session {
	t.Helper()
	var c catalog
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	tree := func(raw json.RawMessage) *mutate.JSON {
		v, err := mutate.ParseJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	s := &Session{Version: c.Initialize.ProtocolVersion, Capabilities: tree(c.Initialize.Capabilities)}
	for _, raw := range c.Tools {
		v := tree(raw)
		name, _ := v.Get("name").Str()
		s.Tools = append(s.Tools, Tool{
			Name: name, InputSchema: v.Get("inputSchema"), OutputSchema: v.Get("outputSchema"), Annotations: v.Get("annotations"), Root: v,
		})
		s.Tools[len(s.Tools)-1].Description, _ = v.Get("description").Str()
	}
	resource := func(v *mutate.JSON, uri string) Resource {
		r := Resource{Root: v}
		r.URI, _ = v.Get(uri).Str()
		r.Name, _ = v.Get("name").Str()
		return r
	}
	for _, raw := range c.Resources {
		s.Resources = append(s.Resources, resource(tree(raw), "uri"))
	}
	for _, raw := range c.Templates {
		s.Templates = append(s.Templates, resource(tree(raw), "uriTemplate"))
	}
	for _, raw := range c.Prompts {
		v := tree(raw)
		p := Prompt{Root: v}
		p.Name, _ = v.Get("name").Str()
		if list := v.Get("arguments"); list != nil {
			for _, a := range list.Items {
				name, _ := a.Get("name").Str()
				required := a.Get("required")
				p.Arguments = append(p.Arguments, PromptArgument{Name: name, Required: required != nil && required.Text == "true"})
			}
		}
		s.Prompts = append(s.Prompts, p)
	}
	return s
}

// campaigns is how many of the tests that may run side by side do so at least: they wait for their servers for most of the time.
const campaigns = 4

// runTests runs the tests of a package that starts servers. TestMain calls it.
func runTests(m *testing.M) {
	if err := testrun.Parallel(campaigns); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(servers.dir)
	os.Exit(code)
}

// testdata returns the path of a file in mcp/testdata, whichever package asks for it.
func testdata(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir, "mcp", "testdata"}, elem...)...)
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("there is no go.mod above the folder of the test")
		}
		dir = filepath.Dir(dir)
	}
}

const loggedByNode = "TypeError: handled\n    at log (/srv/log.js:1:2)\n    at main (/srv/a.js:3:4)\n"
