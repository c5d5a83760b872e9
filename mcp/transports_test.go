package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// TestTransportsAgree runs the same scripts on the same server over standard input and output and over HTTP, with both forms of
// responses: the observation is the same. Scripts that this SDK's two transports take differently, before anything of the server sees them, are
// left out: what is no call of a tool as JSON-RPC 2.0 has it, ids that it does not give back, what is nested too deeply for it, and versions in
// the metadata, which have to be that of the head over HTTP.
func TestTransportsAgree(t *testing.T) {
	long(t)
	command := reals(t)[4].command
	installed(t, command)
	overHTTP := func(more ...string) *run.Target {
		return &run.Target{Command: server.Command{Args: append(slices.Clone(command), append(more, "-http", "127.0.0.1:{port}")...), URL: "http://127.0.0.1:{port}/"}, Exact: true}
	}
	stdio := &run.Target{Command: server.Command{Args: command}, Exact: true}
	scripts := sharedScripts(t, stdio, 1000)
	want := observations(t, stdio, scripts)
	for name, target := range map[string]*run.Target{"events": overHTTP(), "JSON": overHTTP("-json")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, differ := observations(t, target, scripts), 0
			for i := range scripts {
				if got[i] != want[i] {
					if differ++; differ < 10 {
						t.Errorf("script %d\n%s\nover standard input and output:\n%s\nover HTTP:\n%s", i, encode(t, scripts[i]), want[i], got[i])
					}
				}
			}
			t.Logf("%d of %d scripts differ", differ, len(scripts))
		})
	}
}

// sharedScripts returns scripts that the mutator makes for a target, those left out that TestTransportsAgree leaves out.
func sharedScripts(t *testing.T, target *run.Target, n int) (out []script.Script) {
	t.Helper()
	visit, err := target.Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer visit.Close()
	choice, err := session.Selection{}.Apply(visit.Session)
	if err != nil {
		t.Fatal(err)
	}
	m := gen.NewMutator(gen.MutatorConfig{Session: visit.Session, Choice: &choice, Profile: gen.Standard})
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range m.Seeds() {
		out = append(out, s.Script)
	}
	seeds := len(out)
	for len(out) < 8*n {
		out = append(out, m.Mutate(r, script.Script{}, out[r.IntN(seeds)]))
	}
	out = slices.DeleteFunc(out, func(s script.Script) bool { return !plain(&s) })
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:n]
}

// whole is a reference that has its end in the same text of JSON; one that has lost it makes the line unreadable.
var whole = regexp.MustCompile(`@\{[^}"]*\}`)

// plain reports whether a script has nothing that a transport has rules of its own for.
func plain(s *script.Script) bool {
	return s.Start == script.Shared && s.Check == "" && !slices.ContainsFunc(s.Steps, func(s script.Step) bool {
		m := jsonrpc.Parse(s.Line)
		version, _ := m.Root.Get("jsonrpc").Str()
		return m.Class != jsonrpc.ClassRequest || m.Twice || version != "2.0" || m.ID != `"@id"` || len(s.Line) > 4096 || m.Method != "tools/call" || m.Params == nil || m.Params.Kind != mutate.Object || m.Params.Get("_meta").Get(session.MetaVersion) != nil || bytes.Count(s.Line, []byte("@{")) != len(whole.FindAll(s.Line, -1)) || s.NoWait || s.NoNewline || s.Head != "" || s.Asked != "" || s.Times > 1
	})
}

// observations returns what a target's server does with each script, as text: how it ends,
// and of each request whether it was answered, the error code, and isError. Texts differ from call to call: they list names in the order of a map.
func observations(t *testing.T, target *run.Target, scripts []script.Script) (out []string) {
	t.Helper()
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	defer ex.Close()
	for i := range scripts {
		obs := teasel.Observation{Runs: 1}
		if err := ex.Exec(context.WithoutCancel(t.Context()), scripts[i], &obs); err != nil {
			t.Fatal(err)
		}
		text := obs.Exit.String() + "\n"
		if tr, _ := obs.Evidence.(*script.Transcript); tr != nil {
			for i := range tr.Sent {
				if at := tr.Sent[i].Answer; at >= 0 {
					m := &tr.Received[at].Message
					text += fmt.Sprintln(m.Class, m.Error != nil, m.IsRefusal())
				}
			}
		}
		out = append(out, text)
	}
	return out
}

func encode(t *testing.T, in script.Script) string {
	t.Helper()
	data, err := script.Codec{}.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
