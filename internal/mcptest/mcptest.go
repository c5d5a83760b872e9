// Package mcptest has what the tests of several packages of the MCP kind share: sessions, transcripts written as text, scripts, and the
// servers of mcp/testdata, each compiled once.
package mcptest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/testrun"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// ScriptsEqual reports whether two scripts are the same, their labels included.
func ScriptsEqual(a, b script.Script) bool { return a.Check == b.Check && script.Same(&a, &b) }

// DeskSession returns the session that the transcripts in testdata are from.
func DeskSession(t testing.TB) *session.Session {
	t.Helper()
	data, err := os.ReadFile(testdata(t, "transcripts", "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	return SessionOf(t, string(data))
}

// EchoExchange is a transcript in which a tool says what it was told.
const EchoExchange = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"the quick brown fox jumps over the lazy dog"}}}
< {"result":{"content":[{"type":"text","text":"Echo: the quick brown fox jumps over the lazy dog"}]},"jsonrpc":"2.0","id":1}
`

// TextTool is a tool whose arguments are all texts.
func TextTool(name, description, more string, arguments ...string) string {
	var properties []string
	for _, a := range arguments {
		properties = append(properties, `"`+a+`":{"type":"string"}`)
	}
	return `{"name":"` + name + `","description":"` + description + `"` + more + `,"inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}`
}

// CallOf returns the line of a transcript that calls a tool.
func CallOf(id, name, arguments string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + "}}\n"
}

// AnswerOf returns the line of a transcript that answers a call with a text.
func AnswerOf(id, text string) string {
	return `< {"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + text + "\"}]}}\n"
}

// Jobs is a server whose tools give out ids under other names than those that take them.
const Jobs = `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[
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

// Computes is for tests that compute for long in one goroutine: the race detector would make them ten times as long and
// learn nothing.
func Computes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine computes for long: not with -short")
	}
	t.Parallel()
}

// ProcessorTime returns the processor time that somebody has used: syscall.RUSAGE_SELF, or RUSAGE_CHILDREN, those that have ended.
func ProcessorTime(tb testing.TB, who int) time.Duration {
	tb.Helper()
	var ru syscall.Rusage
	if err := syscall.Getrusage(who, &ru); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// Listen has a function serve each connection to an address, which it returns, and closes it; the test's end closes the address.
func Listen(tb testing.TB, serve func(c net.Conn)) (address string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
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

// ScriptOf returns a shared script of lines that are awaited.
func ScriptOf(lines ...string) script.Script {
	in := script.Script{Start: script.Shared}
	for _, line := range lines {
		in.Steps = append(in.Steps, script.Step{Line: []byte(line)})
	}
	return in
}

const (
	// SumCall calls a tool of the recorded session "everything" that takes two numbers.
	SumCall = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"get-sum","arguments":{"a":1,"b":2}}}`
	// EchoCall calls a tool of the recorded session "everything" that takes a text.
	EchoCall = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`
	// ListCall lists tools.
	ListCall = `{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`
)

// WellFormed checks what holds for every script that is made.
func WellFormed(t testing.TB, in *script.Script) {
	t.Helper()
	if in.Start != script.Shared && in.Start != script.Fresh {
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
		if s.Close && in.Start != script.Fresh {
			t.Fatalf("step %d closes a session that others use", i)
		}
		if s.Times < 0 || s.Times > script.MaxTimes {
			t.Fatalf("step %d is sent %d times", i, s.Times)
		}
	}
	if in.Start == script.Shared && in.Steps[len(in.Steps)-1].NoNewline {
		t.Fatal("what others send next is the end of its last line")
	}
}

// RecordedSession reads what a real server said of itself, from testdata/session.
func RecordedSession(t testing.TB, name string) *session.Session {
	t.Helper()
	data, err := os.ReadFile(testdata(t, "session", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return ParseSession(t, string(data))
}

// ParseSession reads a session from JSON: initialize, tools, resources, resourceTemplates, prompts.
func ParseSession(t testing.TB, text string) *session.Session {
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
	s := &session.Session{Initialize: root.Get("initialize")}
	s.Version, s.Capabilities = str(s.Initialize.Get("protocolVersion")), s.Initialize.Get("capabilities")
	s.Asked = s.Version
	for _, v := range items("tools") {
		s.Tools = append(s.Tools, session.Tool{
			Name: str(v.Get("name")), Description: str(v.Get("description")), InputSchema: v.Get("inputSchema"),
			OutputSchema: v.Get("outputSchema"), Annotations: v.Get("annotations"), Root: v,
		})
	}
	s.WeighAnnotations()
	for _, v := range items("resources") {
		s.Resources = append(s.Resources, session.Resource{URI: str(v.Get("uri")), Name: str(v.Get("name")), Root: v})
	}
	for _, v := range items("resourceTemplates") {
		s.Templates = append(s.Templates, session.Resource{URI: str(v.Get("uriTemplate")), Name: str(v.Get("name")), Root: v})
	}
	for _, v := range items("prompts") {
		p := session.Prompt{Name: str(v.Get("name")), Root: v}
		if list := v.Get("arguments"); list != nil {
			for _, a := range list.Items {
				p.Arguments = append(p.Arguments, session.PromptArgument{Name: str(a.Get("name")), Required: a.Get("required").String() == "true"})
			}
		}
		s.Prompts = append(s.Prompts, p)
	}
	return s
}

// Handles is a server with state: what open hands out goes into append and close.
const Handles = `{
"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"handles","version":"1"}},
"tools":[
{"name":"open_log","description":"Opens a log and returns a handle.","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}},
{"name":"append_log","description":"Appends a line.","inputSchema":{"type":"object","properties":{"handle":{"type":"string"},"line":{"type":"string"}},"required":["handle","line"]}},
{"name":"close_log","description":"Closes a log.","inputSchema":{"type":"object","properties":{"handle":{"type":"string"}},"required":["handle"]}},
{"name":"count_lines","description":"Counts the lines of a log.","inputSchema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}}
]}`

// NewRand returns a generator with a fixed seed.
func NewRand(n uint64) *teasel.Rand { return rand.New(rand.NewPCG(n, n)) }

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

// SessionOf reads a session from the JSON of its lists, keeping of each item what the detectors look at.
func SessionOf(t testing.TB, text string) *session.Session {
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
	s := &session.Session{Version: c.Initialize.ProtocolVersion, Capabilities: tree(c.Initialize.Capabilities)}
	for _, raw := range c.Tools {
		v := tree(raw)
		name, _ := v.Get("name").Str()
		s.Tools = append(s.Tools, session.Tool{
			Name: name, InputSchema: v.Get("inputSchema"), OutputSchema: v.Get("outputSchema"), Annotations: v.Get("annotations"), Root: v,
		})
		s.Tools[len(s.Tools)-1].Description, _ = v.Get("description").Str()
	}
	resource := func(v *mutate.JSON, uri string) session.Resource {
		r := session.Resource{Root: v}
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
		p := session.Prompt{Root: v}
		p.Name, _ = v.Get("name").Str()
		if list := v.Get("arguments"); list != nil {
			for _, a := range list.Items {
				name, _ := a.Get("name").Str()
				required := a.Get("required")
				p.Arguments = append(p.Arguments, session.PromptArgument{Name: name, Required: required != nil && required.Text == "true"})
			}
		}
		s.Prompts = append(s.Prompts, p)
	}
	return s
}

// campaigns is how many of the tests that may run side by side do so at least: they wait for their servers for most of the time.
const campaigns = 4

// Main runs the tests of a package that starts servers. TestMain calls it.
func Main(m *testing.M) {
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

// LoggedByNode is what Node.js writes of an exception that was caught and logged.
const LoggedByNode = "TypeError: handled\n    at log (/srv/log.js:1:2)\n    at main (/srv/a.js:3:4)\n"
