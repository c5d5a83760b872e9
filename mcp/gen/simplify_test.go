package gen

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// minimise is what the engine does: it takes the first candidate that is simpler and still shows the fault, and begins
// anew.
func minimise(t *testing.T, m *Mutator, in script.Script, fault func(script.Script) bool) script.Script {
	t.Helper()
	tried := 0
	for k := uint64(0); ; k++ {
		if tried++; tried > 200_000 {
			t.Fatal("minimising does not end")
		}
		out, more := m.Simplify(k, script.Script{}, in)
		if !more {
			return in
		}
		if m.Complexity(out) < m.Complexity(in) && len(out.Steps) > 0 && fault(out) {
			in, k = script.Copy(script.Script{}, out), ^uint64(0)
		}
	}
}

func has(in script.Script, words ...string) bool {
	at := 0
	for i := range in.Steps {
		if at < len(words) && bytes.Contains(in.Steps[i].Line, []byte(words[at])) {
			at++
		}
	}
	return at == len(words)
}

func TestSimplify(t *testing.T) {
	m := newTestMutator(t)
	long := `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"` + strings.Repeat("xyz", 100) + `!","n":123456,"extra":{"a":[1,2,3],"b":null}}}}`
	for _, test := range []struct {
		name  string
		in    script.Script
		fault func(script.Script) bool
		want  string // the encoded minimum
	}{
		{
			"steps are dropped, messages shrunk",
			mcptest.ScriptOf(mcptest.ListCall, long, mcptest.SumCall, `{"jsonrpc":"2.0","id":"@id","method":"ping"}`),
			func(in script.Script) bool { return has(in, "!") && has(in, "echo") },
			`"params":{"name":"echo","arguments":"!"}}}]}`,
		},
		{
			"references follow",
			mcptest.ScriptOf(mcptest.ListCall, mcptest.EchoCall, `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"cursor":"@{1:/content/0/text}"}}`),
			func(in script.Script) bool {
				return has(in, "hello", "@{") && len(in.Steps) > 1 && bytes.Contains(in.Steps[1].Line, []byte("@{0:/content"))
			},
			"\"arguments\":\"hello\"}}},\n{\"send\":{\"jsonrpc\":\"2.0\",\"id\":\"@id\",\"method\":\"tools/list\",\"params\":\"@{0:/content\"}}",
		},
		{
			"raw bytes",
			mcptest.ScriptOf("{bad \x00 bytes", session.PingLine),
			func(in script.Script) bool { return has(in, "\x00") },
			`{"text":"\u0000"}`,
		},
		{
			"flags and repetitions",
			script.Script{Start: script.Shared, Steps: []script.Step{{Line: []byte(`"a"`), NoWait: true, Times: 64}, {Line: []byte(`"b"`), NoNewline: true}, {Line: []byte(`"c"`)}}},
			func(in script.Script) bool { return len(in.Steps) > 0 && in.Steps[0].Times >= 5 },
			`"times":5}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := minimise(t, m, test.in, test.fault)
			if !test.fault(out) {
				t.Fatal("the fault is gone")
			}
			data, err := script.Codec{}.Encode(out)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), test.want) {
				t.Errorf("minimised to\n%s\nwant %s in it", data, test.want)
			}
		})
	}
}

// The minimum of a fault that needs three calls has no message that can be left out.
func TestSimplifyUseAfterClose(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	c := &m.e.b.chains[0]
	var in script.Script
	for _, q := range c.sequences() {
		if q.name == "use after close" && q.calls[0].tool.Name == "append_log" {
			in, _ = c.script(q, 0, plainArguments)
		}
	}
	in.Steps = append(append([]script.Step{script.SendText(session.PingLine)}, in.Steps...), script.SendText(session.PingLine))
	for i := range in.Steps {
		in.Steps[i].Line = script.Renumber(in.Steps[i].Line, func(k int) int { return k + 1 })
	}
	handle := `"handle":"@{0:`
	out := minimise(t, m, in, func(in script.Script) bool {
		return len(in.Steps) >= 3 && has(in, "open_log", "close_log", "append_log") && has(in, "open_log", handle, handle)
	})
	if len(out.Steps) != 3 {
		t.Errorf("%d steps remain, want open, close and append", len(out.Steps))
	}
}

func TestSimplifyKeepsWhatIsCompared(t *testing.T) {
	m := newTestMutator(t)
	labels := []string{check.Transports}
	for _, c := range check.All {
		labels = append(labels, c.Label)
	}
	for _, label := range slices.DeleteFunc(labels, func(l string) bool { return !check.IsComparing(l) }) {
		in := script.NewShared(label, script.SendText(mcptest.EchoCall), script.SendText(mcptest.SumCall), script.SendText(mcptest.ListCall))
		for k := uint64(0); ; k++ {
			out, more := m.Simplify(k, script.Script{}, in)
			if !more {
				break
			}
			if out.Check != label {
				t.Fatalf("%s: the label became %q", label, out.Check)
			}
			for i := range out.Steps {
				if line := string(out.Steps[i].Line); line != mcptest.EchoCall && line != mcptest.SumCall && line != mcptest.ListCall {
					t.Errorf("%s: candidate %d changes a message: %s", label, k, line)
				}
			}
		}
	}
}

func TestSimplifyFresh(t *testing.T) {
	m := newTestMutator(t)
	in := script.NewFresh("", append(script.Handshake("2025-06-18"), script.SendText(mcptest.EchoCall), script.Step{Line: []byte(session.PingLine), Close: true, NoNewline: true})...)
	out := minimise(t, m, in, func(in script.Script) bool { return has(in, "hello") })
	if out.Start != script.Shared || len(out.Steps) != 1 {
		t.Errorf("start %d, %d steps: the call alone shows it in any session", out.Start, len(out.Steps))
	}
	out = minimise(t, m, in, func(in script.Script) bool {
		return in.Start == script.Fresh && has(in, "hello") && in.Steps[len(in.Steps)-1].Close
	})
	if out.Start != script.Fresh || len(out.Steps) != 1 || !out.Steps[0].Close {
		t.Errorf("start %d, %d steps, want the call whose process loses its input", out.Start, len(out.Steps))
	}
}

func TestSimplifyEndsForEverySeed(t *testing.T) {
	mcptest.Computes(t)
	m := newTestMutator(t)
	for _, s := range m.Seeds() {
		if len(s.Script.Steps) > 6 || m.Complexity(s.Script) > 600 {
			continue
		}
		n := 0
		for k := uint64(0); ; k++ {
			out, more := m.Simplify(k, script.Script{}, s.Script)
			if !more {
				break
			}
			if n++; n > 20_000 {
				t.Fatalf("%s has no last candidate", s.Name)
			}
			if len(out.Steps) > 0 && m.Complexity(out) < m.Complexity(s.Script) {
				mcptest.WellFormed(t, &out)
			}
		}
	}
}

// What takes long to run is not run a thousand times.
func TestSimplifyLongScripts(t *testing.T) {
	mcptest.Computes(t)
	m := newTestMutator(t)
	candidates := func(in script.Script) (n int) {
		for k := uint64(0); ; k++ {
			if _, more := m.Simplify(k, script.Script{}, in); !more {
				return n
			}
			n++
		}
	}
	line := session.CallLine("echo", jsonrpc.Object("message", script.LongText(1<<20)))
	if n := candidates(script.NewShared("", script.Step{Line: line})); n < 10 || n > 80 {
		t.Errorf("%d candidates for a line of a megabyte", n)
	}
	out := minimise(t, m, script.NewShared("", script.Step{Line: line}), func(in script.Script) bool { return len(in.Steps[0].Line) > 1<<19 })
	if len(out.Steps[0].Line) > 5<<17 {
		t.Errorf("%d bytes are left where more than %d are needed", len(out.Steps[0].Line), 1<<19)
	}
	for _, label := range []string{check.GrowthTime, check.ShapeTime, check.GrowthMemory} {
		if n := candidates(script.NewShared(label, script.SendText(mcptest.EchoCall), script.Step{Line: []byte(mcptest.SumCall), Times: 2000})); n != 0 {
			t.Errorf("%s: %d candidates", label, n)
		}
	}
}

// Some steps of a script are kept: references among them keep their meaning.
func TestKeep(t *testing.T) {
	m := newTestMutator(t)
	ping := `{"jsonrpc":"2.0","id":"@id","method":"ping"}`
	next := func(step string) string {
		return `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"cursor":"@{` + step + `:/nextCursor}"}}`
	}
	in := mcptest.ScriptOf(ping, mcptest.ListCall, ping, next("1"), next("0"))
	want := mcptest.ScriptOf(mcptest.ListCall, next("0"), string(script.Renumber([]byte(next("0")), func(int) int { return script.Gone })))
	if got := m.Keep(in, []int{1, 3, 4}); !script.Same(&got, &want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if m.Parts(in) != 5 || m.Parts(script.NewShared(check.GrowthTime, in.Steps...)) != 1 {
		t.Error("what measures growth is one part, and no other script is")
	}
	closed := script.NewFresh("", script.SendText(ping), script.SendText(ping))
	closed.Steps[1].Close = true
	if got := m.Keep(closed, []int{0}); !got.Steps[0].Close {
		t.Error("standard input is not closed any more")
	}
	headed := mcptest.ScriptOf(mcptest.ListCall, ping, "")
	headed.Steps[0].Head, headed.Steps[1].Head, headed.Steps[2].Head = "Origin: null", "Accept:", "DELETE"
	if n := m.Parts(headed); n != 5 {
		t.Errorf("three steps, two of which have a head that they can do without, are %d parts", n)
	}
	for _, kept := range [][]int{{0, 1, 2, 3, 4}, {0, 2, 3}, {1, 4}} {
		var heads []string
		for _, s := range m.Keep(headed, kept).Steps {
			heads = append(heads, s.Head)
		}
		if want := map[int]string{5: "Origin: null,Accept:,DELETE", 3: ",Accept:", 2: "DELETE"}[len(kept)]; strings.Join(heads, ",") != want {
			t.Errorf("kept %v: heads %q, want %q", kept, heads, want)
		}
	}
	in.Steps[2] = script.Step{Asked: "roots/list"}
	for i, s := range m.Together(in).Steps {
		if s.NoWait != (i != 2) && i < 4 || i == 4 && s.NoWait || in.Steps[i].NoWait {
			t.Errorf("step %d: awaited: %v", i, !s.NoWait)
		}
	}
}
