package gen

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func TestGenerateSaysEverything(t *testing.T) {
	mcptest.Computes(t)
	s := mcptest.RecordedSession(t, "everything")
	m := NewMutator(MutatorConfig{Session: s})
	r := rand.New(rand.NewPCG(1, 2))
	subjects, checked := make(map[string]int), make(map[string]int)
	var lines bytes.Buffer
	for range 20_000 {
		in := m.Generate(r)
		mcptest.WellFormed(t, &in)
		checked[in.Check]++
		for i := range in.Steps {
			if len(in.Steps[i].Line) < 4096 {
				msg := jsonrpc.Parse(in.Steps[i].Line)
				subjects[session.Subject(s, &msg)]++
				lines.Write(in.Steps[i].Line)
				lines.WriteByte('\n')
			}
		}
	}
	for i := range s.Tools {
		if n := subjects["tools/call "+s.Tools[i].Name]; n < 100 {
			t.Errorf("%s is called %d times", s.Tools[i].Name, n)
		}
	}
	for _, method := range append(append([]string{}, session.Methods...), session.Notifications...) {
		if method != "tools/call" && method != "prompts/get" && subjects[method] < 5 {
			t.Errorf("%s is said %d times", method, subjects[method])
		}
	}
	for _, subject := range []string{"(unknown method)", "(unknown notification)", "tools/call (unknown tool)", "prompts/get (unknown prompt)", "prompts/get args-prompt", "(response)"} {
		if subjects[subject] == 0 {
			t.Errorf("%s is never said", subject)
		}
	}
	elsewhere := []string{check.Undeclared, check.HTTP, check.Sessions, check.SessionState, check.GrowthFiles, check.Stateless, check.BareClient, check.Subscriptions} // not of this server
	for _, c := range check.All {
		if !c.Expensive && checked[c.Label] == 0 && !slices.Contains(elsewhere, c.Label) {
			t.Errorf("check %s is never made", c.Label)
		}
	}
	for _, want := range []string{
		`"progressToken":"@id"`, `"cursor":"@\{\d+:/nextCursor\}"`, `"requestId":"@id:\d+"`, `demo://resource/dynamic/text/\d`, `demo://resource/dynamic/[^"]*%2f`,
		regexp.QuoteMeta(script.CanaryPath), regexp.QuoteMeta(script.CanaryRelative), regexp.QuoteMeta(script.CanaryURI), regexp.QuoteMeta(script.CanaryDir), `"ref":\{"type":"ref/prompt","name":"completable-prompt"`, `"level":"debug"`,
		`"type":"ref/resource","uri":"demo://resource/dynamic/text/\{resourceId\}"`, `"uri":"demo://resource/static/document/features.md"`,
	} {
		if !regexp.MustCompile(want).Match(lines.Bytes()) {
			t.Errorf("nothing like %s is ever said", want)
		}
	}
}

func TestGenerateChains(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	r := rand.New(rand.NewPCG(1, 2))
	after := 0
	for range 5000 {
		in := m.Generate(r)
		closed := false
		for i := range in.Steps {
			line := string(in.Steps[i].Line)
			captures := strings.Contains(line, `"handle":"@{0:`)
			if closed && captures && strings.Contains(line, "append_log") {
				after++
				break
			}
			closed = closed || captures && strings.Contains(line, "close_log")
		}
	}
	if after < 50 {
		t.Errorf("a handle is used after it was closed in %d of 5,000 scripts", after)
	}
}

// Without tools, resources and prompts there still is a protocol.
func TestGenerateForAnEmptyServer(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2024-11-05","capabilities":{}}}`)})
	r := rand.New(rand.NewPCG(1, 2))
	seen := make(map[string]bool)
	var dst script.Script
	for range 3000 {
		in := m.Generate(r)
		mcptest.WellFormed(t, &in)
		dst = m.Mutate(r, dst, in)
		mcptest.WellFormed(t, &dst)
		msg := jsonrpc.Parse(in.Steps[0].Line)
		seen[session.Subject(nil, &msg)] = true
	}
	for _, want := range []string{"ping", "(unknown method)", "tools/call (unknown tool)"} {
		if !seen[want] {
			t.Errorf("%s is never said", want)
		}
	}
	if len(m.Seeds()) < 50 {
		t.Errorf("%d seeds", len(m.Seeds()))
	}
}

func TestGenerateRepeats(t *testing.T) {
	a := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "memory")})
	b := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "memory")})
	for n := range uint64(500) {
		if x, y := a.Generate(rand.New(rand.NewPCG(9, n))), b.Generate(rand.New(rand.NewPCG(9, n))); !mcptest.ScriptsEqual(x, y) {
			t.Fatalf("script %d is another one the second time", n)
		}
	}
}
