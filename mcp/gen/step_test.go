package gen

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// changes collects all ordered changes of a script.
func changes(t *testing.T, m *Mutator, src script.Script) (all []script.Script) {
	t.Helper()
	before := script.Copy(script.Script{}, src)
	for k := uint64(0); ; k++ {
		in, more := m.Step(k, script.Script{}, src)
		if !more {
			break
		}
		mcptest.WellFormed(t, &in)
		all = append(all, script.Copy(script.Script{}, in))
		if k > 100_000 {
			t.Fatal("it has no last step")
		}
	}
	if !script.Same(&src, &before) {
		t.Fatal("the source was changed")
	}
	return all
}

func said(all []script.Script, text string) bool {
	return slices.ContainsFunc(all, func(in script.Script) bool {
		return slices.ContainsFunc(in.Steps, func(s script.Step) bool { return bytes.Contains(s.Line, []byte(text)) })
	})
}

func TestStepWalksTheEnvelope(t *testing.T) {
	all := changes(t, newTestMutator(t), mcptest.ScriptOf(session.PingLine))
	for _, id := range oddIDs {
		if !said(all, `"id":`+id+`,`) {
			t.Errorf("never with the id %s", id)
		}
	}
	for _, v := range oddVersions {
		if !said(all, `"jsonrpc":`+v) {
			t.Errorf("never with jsonrpc %s", v)
		}
	}
	for _, method := range oddMethods {
		if !said(all, `"method":`+check.Quote(method)) {
			t.Errorf("never with the method %q", method)
		}
	}
	for _, left := range []string{`{"id":"@id","method":"ping"}`, `{"jsonrpc":"2.0","method":"ping"}`, `{"jsonrpc":"2.0","id":"@id"}`} {
		if !said(all, left) {
			t.Errorf("never %s", left)
		}
	}
	t.Logf("%d steps", len(all))
}

func TestStepWalksSchemas(t *testing.T) {
	m := newTestMutator(t)
	all := changes(t, m, mcptest.ScriptOf(mcptest.SumCall))
	for _, broken := range m.e.b.Find("get-sum").Broken {
		if !said(all, `"arguments":`+broken.String()) {
			t.Errorf("never with the arguments %s", broken)
		}
	}
	for _, want := range []string{`"a":9007199254740993`, `"a":"1"`, `"a":-2147483648`, `"a":null`, `"b":1e400`} {
		if !said(all, want) {
			t.Errorf("never with %s", want)
		}
	}
	// One mistake at a time: the envelope of a call that has arguments is left alone.
	for i := range all {
		root, err := mutate.ParseJSON(all[i].Steps[0].Line)
		if err == nil && root.Get("id").String() != `"@id"` {
			t.Fatalf("step %d has the id %s", i, root.Get("id"))
		}
	}
	t.Logf("%d steps", len(all))
}

func TestStepWalksSequences(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	in, ok := m.e.b.chains[0].script(sequence{opens: 1, calls: []link{m.e.b.chains[0].users[0], m.e.b.chains[0].closes[0]}, from: []int{0, 0}}, 0, plainArguments)
	if !ok {
		t.Fatal("no script")
	}
	order := func(in script.Script) string {
		var b strings.Builder
		for _, s := range in.Steps {
			for _, w := range []string{"open", "append", "close"} {
				if bytes.Contains(s.Line, []byte(w+"_log")) {
					b.WriteString(w[:1])
				}
			}
		}
		return b.String()
	}
	var orders []string
	for _, in := range changes(t, m, in)[:10] {
		orders = append(orders, order(in))
	}
	for _, want := range []string{"oaca", "oacc", "oaco", "oca", "oc", "oa", "ac"} {
		if !slices.Contains(orders, want) {
			t.Errorf("never %s among the first: %v", want, orders)
		}
	}
}

func TestStepRepeats(t *testing.T) {
	a, b := newTestMutator(t), newTestMutator(t)
	var dst script.Script
	for k := uint64(0); k < 400; k += 7 {
		x, okX := a.Step(k, script.Script{}, mcptest.ScriptOf(mcptest.EchoCall))
		var okY bool
		dst, okY = b.Step(k, dst, mcptest.ScriptOf(mcptest.EchoCall))
		if okX != okY || !mcptest.ScriptsEqual(x, dst) {
			t.Fatalf("step %d is another one the second time", k)
		}
	}
}

func TestStepLeavesProcessesAlone(t *testing.T) {
	if _, more := newTestMutator(t).Step(0, script.Script{}, script.NewFresh("", script.SendText(session.PingLine))); more {
		t.Error("each step would cost a process")
	}
}

func TestStepWalksListsAndNames(t *testing.T) {
	m := newTestMutator(t)
	all := changes(t, m, mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"prompts/list"}`))
	for _, cursor := range check.OddCursors {
		if !said(all, `"cursor":`+cursor) {
			t.Errorf("never with the cursor %s", cursor)
		}
	}
	all = changes(t, m, mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"get-env","arguments":{}}}`))
	for _, name := range append(append([]string{}, check.OwnedNames...), oddTools...) {
		if !said(all, `"name":`+check.Quote(name)) {
			t.Errorf("never with the name %q", name)
		}
	}
}
