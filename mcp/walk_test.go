package mcp

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

// walk collects all ordered changes of a script.
func walk(t *testing.T, m *Mutator, src Script) (all []Script) {
	t.Helper()
	before := copyScript(Script{}, src)
	for k := uint64(0); ; k++ {
		in, more := m.Step(k, Script{}, src)
		if !more {
			break
		}
		wellFormed(t, &in)
		all = append(all, copyScript(Script{}, in))
		if k > 100_000 {
			t.Fatal("it has no last step")
		}
	}
	if !same(&src, &before) {
		t.Fatal("the source was changed")
	}
	return all
}

func said(all []Script, text string) bool {
	return slices.ContainsFunc(all, func(in Script) bool {
		return slices.ContainsFunc(in.Steps, func(s Step) bool { return bytes.Contains(s.Line, []byte(text)) })
	})
}

func TestStepWalksTheEnvelope(t *testing.T) {
	all := walk(t, newTestMutator(t), scriptOf(pingLine))
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
		if !said(all, `"method":`+quote(method)) {
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
	all := walk(t, m, scriptOf(sumCall))
	for _, broken := range m.e.b.find("get-sum").broken {
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
	m := NewMutator(MutatorConfig{Session: parseSession(t, handles)})
	in, ok := m.e.b.chains[0].script(sequence{opens: 1, calls: []link{m.e.b.chains[0].users[0], m.e.b.chains[0].closes[0]}, from: []int{0, 0}}, 0, plainArguments)
	if !ok {
		t.Fatal("no script")
	}
	order := func(in Script) string {
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
	for _, in := range walk(t, m, in)[:10] {
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
	var dst Script
	for k := uint64(0); k < 400; k += 7 {
		x, okX := a.Step(k, Script{}, scriptOf(echoCall))
		var okY bool
		dst, okY = b.Step(k, dst, scriptOf(echoCall))
		if okX != okY || !scriptsEqual(x, dst) {
			t.Fatalf("step %d is another one the second time", k)
		}
	}
}

func TestStepLeavesProcessesAlone(t *testing.T) {
	if _, more := newTestMutator(t).Step(0, Script{}, fresh("", sendText(pingLine))); more {
		t.Error("each step would cost a process")
	}
}

func TestStepWalksListsAndNames(t *testing.T) {
	m := newTestMutator(t)
	all := walk(t, m, scriptOf(`{"jsonrpc":"2.0","id":"@id","method":"prompts/list"}`))
	for _, cursor := range oddCursors {
		if !said(all, `"cursor":`+cursor) {
			t.Errorf("never with the cursor %s", cursor)
		}
	}
	all = walk(t, m, scriptOf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"get-env","arguments":{}}}`))
	for _, name := range append(append([]string{}, ownedNames...), oddTools...) {
		if !said(all, `"name":`+quote(name)) {
			t.Errorf("never with the name %q", name)
		}
	}
}
