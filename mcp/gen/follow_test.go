package gen

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

func TestFollow(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	src := mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"open_log","arguments":{"title":"a"}}}`)
	note := &observe.Note{
		Captures: []observe.Capture{{Step: 0, Pointer: "/content/0/text", Value: "Opened log h-17 for you."}, {Step: 0, Pointer: "/content/0/text#0", Value: "Opened"}, {Step: 0, Pointer: "/content/0/text#2", Value: "h-17"}, {Step: 0, Pointer: "/content/0/type", Value: "text"}},
		Words:    []string{"h-17"},
	}
	r := mcptest.NewRand(1)
	var dst script.Script
	right, afterClose, learnt := 0, 0, 0
	const runs = 4000
	for range runs {
		dst = m.Follow(r, dst, src, note)
		mcptest.WellFormed(t, &dst)
		if script.Same(&dst, &src) {
			t.Fatal("nothing was added")
		}
		learnt += strings.Count(string(dst.Steps[0].Line), `"h-17"`)
		closed := false
		for _, s := range dst.Steps[1:] {
			line := string(s.Line)
			takes := strings.Contains(line, `"handle":"@{0:/content/0/text#2}"`)
			if takes {
				right++
			}
			if takes && closed && strings.Contains(line, "append_log") {
				afterClose++
			}
			closed = closed || takes && strings.Contains(line, "close_log")
		}
	}
	t.Logf("of %d: %d took the handle, %d of them after it was closed, %d had the word", runs, right, afterClose, learnt)
	if right < runs/4 || afterClose < runs/50 || learnt < runs/50 {
		t.Error("too seldom")
	}
}

func TestFollowWithoutTools(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"resources":{}}}}`)})
	note := &observe.Note{Captures: []observe.Capture{{Step: 0, Pointer: "/resources/0/uri", Value: "file:///a"}, {Step: 0, Pointer: "/nextCursor", Value: "2"}}}
	r := mcptest.NewRand(1)
	var dst script.Script
	for range 200 {
		dst = m.Follow(r, dst, mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"resources/list"}`), note)
		mcptest.WellFormed(t, &dst)
	}
}

func TestChainName(t *testing.T) {
	var s teasel.Stage[script.Script] = Sequence{}
	if s.Name() != "sequence" {
		t.Errorf("the stage is called %q", s.Name())
	}
}

// TestFollowTogether: what stands side by side in an answer is used together.
func TestFollowTogether(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Jobs)})
	src := mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"list_jobs","arguments":{}}}`)
	note := &observe.Note{Captures: []observe.Capture{
		{Step: 0, Pointer: "/structuredContent/jobs/0/id", Value: "j-1"}, {Step: 0, Pointer: "/structuredContent/jobs/0/worker_id", Value: "w-1"}, {Step: 0, Pointer: "/structuredContent/jobs/0/state", Value: "done"},
		{Step: 0, Pointer: "/structuredContent/jobs/1/id", Value: "j-2"}, {Step: 0, Pointer: "/structuredContent/jobs/1/worker_id", Value: "w-2"}, {Step: 0, Pointer: "/structuredContent/jobs/1/state", Value: "done"},
	}}
	r := mcptest.NewRand(1)
	var dst script.Script
	var together, apart int
	for range 4000 {
		dst = m.Follow(r, dst, src, note)
		mcptest.WellFormed(t, &dst)
		for _, s := range dst.Steps[1:] {
			line := string(s.Line)
			for _, job := range []string{"0", "1"} {
				if !strings.Contains(line, `"job_id":"@{0:/structuredContent/jobs/`+job+`/id}"`) {
					continue
				}
				switch {
				case strings.Contains(line, `"worker_id":"@{0:/structuredContent/jobs/`+job+`/worker_id}"`):
					together++
				case strings.Contains(line, `"worker_id":"@{0:`):
					apart++
				}
			}
		}
	}
	t.Logf("%d together, %d apart", together, apart)
	if together < 400 || apart > together/3 {
		t.Error("too seldom")
	}
}

// TestProbe: what security checks try is tried with what the server has handed out.
func TestProbe(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Jobs)})
	src := mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"list_jobs","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"read_file","arguments":{"job_id":"@{0:/structuredContent/jobs/0/id}","path":"log"}}}`)
	note := &observe.Note{Captures: []observe.Capture{{Step: 0, Pointer: "/structuredContent/jobs/0/id", Value: "j-1"}}}
	r := mcptest.NewRand(1)
	var dst script.Script
	tried := map[string]bool{}
	for range 4000 {
		dst = m.Follow(r, dst, src, note)
		mcptest.WellFormed(t, &dst)
		for _, s := range dst.Steps[1:] {
			if before, after, ok := strings.Cut(string(s.Line), `{"job_id":"@{0:/structuredContent/jobs/0/id}","path":`); ok && strings.Contains(before, "read_file") {
				tried[strings.TrimSuffix(after, "}}}")] = true
			}
		}
	}
	for _, texts := range m.e.b.attacks {
		for _, text := range texts {
			if !tried[mutate.NewString(text).String()] {
				t.Errorf("never tried: %s", text)
			}
		}
	}
}
