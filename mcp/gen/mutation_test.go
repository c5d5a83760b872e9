package gen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

func newTestMutator(t testing.TB) *Mutator {
	t.Helper()
	return NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything")})
}

// each mutation has to do what its name says to at least one of these scripts, and must never do nothing.
func TestMutations(t *testing.T) {
	m := newTestMutator(t)
	get := func(in script.Script, pointer string) *mutate.JSON {
		root, err := mutate.ParseJSON(in.Steps[len(in.Steps)-1].Line)
		if err != nil {
			return nil
		}
		return root.At(pointer)
	}
	argument := func(in script.Script) *mutate.JSON { return get(in, "/params/arguments/message") }
	long := func(n int) func(script.Script) bool {
		return func(in script.Script) bool { return len(in.Steps[0].Line) > n }
	}
	for _, test := range []struct {
		mutation Mutation
		src      script.Script
		shows    func(in script.Script) bool // the mutation's own effect
	}{
		{TypeConfusion, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return argument(in) != nil && argument(in).Kind != mutate.String }},
		{BoundaryValues, mcptest.ScriptOf(mcptest.SumCall), func(in script.Script) bool {
			a := get(in, "/params/arguments/a")
			return a != nil && a.Kind == mutate.Number && len(a.Text) >= 10
		}},
		{DeepNesting, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			return bytes.Contains(in.Steps[0].Line, []byte("[[[[[[[[")) || bytes.Count(in.Steps[0].Line, []byte(":{")) > 8
		}},
		{UnicodeInjection, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			return strings.ContainsFunc(argument(in).String(), func(r rune) bool { return r > 0x7f })
		}},
		{StringMutation, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			v := argument(in)
			return v != nil && v.Kind == mutate.String && v.Text != "hello"
		}},
		{InvalidID, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return get(in, "/id") == nil || get(in, "/id").Kind == mutate.Null }},
		{MalformedVersion, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return get(in, "/jsonrpc").String() != `"2.0"` }},
		{UnknownMethod, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { m, _ := get(in, "/method").Str(); return !session.IsMethod(m) }},
		{MissingFields, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return argument(in) == nil }},
		{ExtraFields, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return get(in, "/params/_meta") != nil }},
		{ToolNotFound, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			name, _ := get(in, "/params/name").Str()
			return m.e.b.Find(name) == nil
		}},
		{SchemaViolation, mcptest.ScriptOf(mcptest.SumCall), func(in script.Script) bool {
			v := get(in, "/params/arguments")
			return m.e.b.Find("get-sum").Schema.Validate(v) != nil
		}},
		{SequenceViolation, mcptest.ScriptOf(mcptest.EchoCall, mcptest.SumCall), func(in script.Script) bool { return bytes.Contains(in.Steps[0].Line, []byte("get-sum")) }},
		{ResourceExhaustion, mcptest.ScriptOf(mcptest.EchoCall), long(50_000)},
		{CapabilityMismatch, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			return slices.ContainsFunc(in.Steps, func(s script.Step) bool { return slices.Contains(mismatches, string(s.Line)) })
		}},
		{InvalidPagination, mcptest.ScriptOf(mcptest.ListCall), func(in script.Script) bool { return get(in, "/params/cursor") != nil }},
		{RapidFire, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { return in.Steps[0].Times > 1 }},
		{ConnectionDrop, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			return in.Start == script.Fresh && in.Steps[len(in.Steps)-1].Close && bytes.Contains(in.Steps[0].Line, []byte(`"initialize"`))
		}},
		{PartialMessage, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool {
			return in.Steps[0].NoNewline && string(in.Steps[0].Line)+string(in.Steps[1].Line) == mcptest.EchoCall
		}},
		{LineHavoc, mcptest.ScriptOf(mcptest.EchoCall), func(in script.Script) bool { _, err := mutate.ParseJSON(in.Steps[0].Line); return err != nil }},
		{FreshArguments, mcptest.ScriptOf(mcptest.SumCall), func(in script.Script) bool {
			return m.e.b.Find("get-sum").Schema.Validate(get(in, "/params/arguments")) == nil
		}},
		{Rearrangement, mcptest.ScriptOf(mcptest.SumCall), func(in script.Script) bool { return get(in, "/params/arguments/a").String() == "2" }},
	} {
		t.Run(test.mutation.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(test.mutation), 7))
			before := script.Copy(script.Script{}, test.src)
			applied, shown := 0, false
			var dst script.Script
			for range 500 {
				in, ok := m.Apply(r, test.mutation, dst, test.src)
				dst = in
				if !mcptest.ScriptsEqual(test.src, before) {
					t.Fatal("the source was changed")
				}
				if !ok {
					continue
				}
				applied++
				if script.Same(&in, &test.src) {
					t.Fatal("it says that it changed the script, and did not")
				}
				mcptest.WellFormed(t, &in)
				shown = shown || test.shows(in)
			}
			if applied < 250 {
				t.Errorf("it fitted %d times out of 500", applied)
			}
			if !shown {
				t.Error("its own effect was never seen")
			}
		})
	}
}

func TestMutationNames(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Mutations() {
		if told := fmt.Sprintf("`%s` %d", m, m.Weight()); !m.needsProcess() && !bytes.Contains(page, []byte(told)) {
			t.Errorf("docs/mcp.md does not say %s", told)
		}
		got, err := ParseMutation(m.String())
		if err != nil || got != m {
			t.Errorf("%s was read as %s, %v", m, got, err)
		}
		if m.Family() == FamilyInvalid || m.Weight() <= 0 {
			t.Errorf("%s: family %s, weight %d", m, m.Family(), m.Weight())
		}
	}
	for _, bad := range []string{"", "invalid", "nonsense"} {
		if m, err := ParseMutation(bad); err == nil {
			t.Errorf("%q was read as %s", bad, m)
		}
	}
	// Those that the plan names, in its order.
	for i, name := range strings.Fields(`type-confusion boundary-values deep-nesting unicode-injection string-mutation invalid-id malformed-version
		unknown-method missing-fields extra-fields tool-not-found schema-violation sequence-violation resource-exhaustion capability-mismatch
		invalid-pagination rapid-fire connection-drop partial-message`) {
		if got := Mutations()[i].String(); got != name {
			t.Errorf("mutation %d is %s, want %s", i+1, got, name)
		}
	}
}

func TestMutateAlwaysDiffersAndRepeats(t *testing.T) {
	mcptest.Computes(t)
	m, twin := newTestMutator(t), newTestMutator(t).Clone()
	seeds := m.Seeds()
	var dst, other script.Script
	for n := range 8_000 {
		src := seeds[n%len(seeds)].Script
		if len(src.Steps) > 8 || m.Complexity(src) > 4000 {
			continue
		}
		before := script.Copy(script.Script{}, src)
		dst = m.Mutate(rand.New(rand.NewPCG(3, uint64(n))), dst, src)
		if !script.Same(&src, &before) {
			t.Fatalf("the source %s was changed", seeds[n%len(seeds)].Name)
		}
		if script.Same(&dst, &src) {
			t.Fatalf("mutant %d of %s is no other script", n, seeds[n%len(seeds)].Name)
		}
		mcptest.WellFormed(t, &dst)
		other = twin.Mutate(rand.New(rand.NewPCG(3, uint64(n))), other, src)
		if !mcptest.ScriptsEqual(dst, other) {
			t.Fatalf("mutant %d of %s is another one the second time", n, seeds[n%len(seeds)].Name)
		}
	}
}

func TestMutateSeldomStartsProcesses(t *testing.T) {
	mcptest.Computes(t)
	m := newTestMutator(t)
	in := script.NewFresh("", append(script.Handshake("2025-06-18"), script.SendText(mcptest.EchoCall), script.Step{Line: []byte(session.PingLine), Close: true, NoNewline: true})...)
	r := rand.New(rand.NewPCG(5, 6))
	var dst script.Script
	starts := 0
	for range 20_000 {
		if dst = m.Mutate(r, dst, in); dst.Start == script.Fresh {
			starts++
		}
	}
	if starts > 10 {
		t.Errorf("%d of 20,000 mutants want a process of their own", starts)
	}
}

// Most mutants are to reach a tool's handler: a known tool, an envelope that is right.
func TestMutateReachesTools(t *testing.T) {
	m := newTestMutator(t)
	r := rand.New(rand.NewPCG(8, 9))
	var dst script.Script
	counts := make(map[string]int)
	const runs = 8_000
	for range runs {
		dst = m.Mutate(r, dst, mcptest.ScriptOf(mcptest.SumCall))
		msg := jsonrpc.Parse(dst.Steps[len(dst.Steps)-1].Line)
		if c := m.e.b.Find(strings.TrimPrefix(session.Subject(m.e.b.Session, &msg), "tools/call ")); c != nil {
			counts["call"]++
			if v := msg.Params.Get("arguments"); v != nil && c.Schema.Validate(v) == nil {
				counts["conform"]++
			}
		}
		if msg.Class == jsonrpc.ClassInvalid {
			counts["invalid"]++
		}
	}
	t.Logf("of %d: %v", runs, counts)
	for _, want := range []struct {
		what      string
		low, high float64
	}{{"call", 0.6, 1}, {"conform", 0.15, 0.9}, {"invalid", 0.005, 0.1}} {
		if share := float64(counts[want.what]) / runs; share < want.low || share > want.high {
			t.Errorf("share of %s is %.3f, want %.3f to %.3f", want.what, share, want.low, want.high)
		}
	}
}

// A script whose lines may get no answer has the server for itself, so that there must not be many.
func TestMutantsMostlyGoTogether(t *testing.T) {
	mcptest.Computes(t)
	m := newTestMutator(t)
	for _, src := range []script.Script{
		mcptest.ScriptOf(mcptest.EchoCall), mcptest.ScriptOf(mcptest.ListCall), mcptest.ScriptOf(session.PingLine), mcptest.ScriptOf(mcptest.EchoCall, mcptest.SumCall, mcptest.ListCall), mcptest.ScriptOf(`{bad`),
		mcptest.ScriptOf(`{"jsonrpc":"1.0","id":{},"method":"tools/call","params":[]}`), mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"a","id":"b","method":"ping"}`),
	} {
		r := mcptest.NewRand(3)
		var dst script.Script
		alone := 0
		const runs = 4000
		for range runs {
			dst = m.Mutate(r, dst, src)
			odd := dst.Start != script.Shared || dst.Check != ""
			for i := range dst.Steps {
				msg := jsonrpc.Parse(dst.Steps[i].Line)
				_, regular := script.PlanLine(&dst.Steps[i], &msg)
				odd = odd || !regular || dst.Steps[i].Times > 1
			}
			if odd {
				alone++
			}
		}
		most := 0.14 // of many more mutants it is 0.09 to 0.13
		if msg := jsonrpc.Parse(src.Steps[0].Line); msg.ID != `"@id"` {
			most = 0.4
		}
		if share := float64(alone) / runs; share > most {
			t.Errorf("%.1f %% of the mutants of %s need the server for themselves", 100*share, src.Steps[0].Line)
		}
	}
}

func TestCross(t *testing.T) {
	m := newTestMutator(t)
	a := mcptest.ScriptOf(mcptest.EchoCall, mcptest.ListCall)
	b := mcptest.ScriptOf(strings.Replace(mcptest.EchoCall, "hello", "other", 1), `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"cursor":"@{0:/nextCursor}"}}`)
	r := rand.New(rand.NewPCG(1, 1))
	var dst script.Script
	arguments, steps := false, false
	for range 300 {
		dst = m.Cross(r, dst, a, b)
		mcptest.WellFormed(t, &dst)
		if script.Same(&dst, &a) {
			t.Fatal("the cross is its first parent")
		}
		first := string(dst.Steps[0].Line)
		arguments = arguments || len(dst.Steps) == 2 && strings.Contains(first, "other")
		steps = steps || len(dst.Steps) == 4 && strings.Contains(string(dst.Steps[3].Line), "@{2:/nextCursor}")
	}
	if !arguments || !steps {
		t.Errorf("arguments crossed: %t, steps crossed: %t", arguments, steps)
	}
}

func TestJoin(t *testing.T) {
	m := newTestMutator(t)
	list := `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"cursor":"@{0:/nextCursor}","x":"@id:0"}}`
	out := m.Join([]script.Script{mcptest.ScriptOf(mcptest.EchoCall, list), script.NewFresh("", script.SendText(session.PingLine)), mcptest.ScriptOf(session.PingLine, list)})
	if out.Start != script.Shared || len(out.Steps) != 4 {
		t.Fatalf("start %d and %d steps, want a shared script of four", out.Start, len(out.Steps))
	}
	for i, want := range map[int]string{1: `"@{0:/nextCursor}","x":"@id:0"`, 3: `"@{2:/nextCursor}","x":"@id:2"`} {
		if !strings.Contains(string(out.Steps[i].Line), want) {
			t.Errorf("step %d is %s, want %s", i, out.Steps[i].Line, want)
		}
	}
	if out := m.Join([]script.Script{script.NewFresh("", script.SendText(session.PingLine)), script.NewFresh("", script.SendText(session.PingLine))}); out.Start != script.Fresh || len(out.Steps) != 2 {
		t.Errorf("two that have a process of their own: start %d, %d steps", out.Start, len(out.Steps))
	}
}

func ExampleMutation() {
	fmt.Println(BoundaryValues, BoundaryValues.Family(), len(Mutations()))
	// Output: boundary-values json 23
}

func BenchmarkMutate(b *testing.B) {
	m := newTestMutator(b)
	src := mcptest.ScriptOf(mcptest.EchoCall)
	r := rand.New(rand.NewPCG(1, 2))
	var dst script.Script
	b.ReportAllocs()
	for b.Loop() {
		dst = m.Mutate(r, dst, src)
	}
}

func BenchmarkMutation(b *testing.B) {
	m := newTestMutator(b)
	src := mcptest.ScriptOf(mcptest.EchoCall)
	for _, mutation := range Mutations() {
		b.Run(mutation.String(), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var dst script.Script
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = m.Apply(r, mutation, dst, src)
			}
		})
	}
}

func BenchmarkGenerate(b *testing.B) {
	m := newTestMutator(b)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		m.Generate(r)
	}
}

// TestJoinLeavesMeasurementsOut: what measures time is not put before other scripts, nor they before it.
func TestJoinLeavesMeasurementsOut(t *testing.T) {
	m := newTestMutator(t)
	ping := script.NewShared("", script.SendText(session.PingLine))
	growth := script.NewShared(check.GrowthTime, script.SendText(session.PingLine), script.SendText(session.PingLine))
	if in := m.Join([]script.Script{ping, growth, ping}); len(in.Steps) != 2 {
		t.Errorf("%d steps, want those of the two others", len(in.Steps))
	}
	if in := m.Join([]script.Script{ping, growth}); in.Check != check.GrowthTime || len(in.Steps) != 2 {
		t.Errorf("%d steps under the label %q, want the measurement alone", len(in.Steps), in.Check)
	}
}

// TestConnectionDropHasWeight: a profile that gives ConnectionDrop no weight never drops a connection, and one that does not
// mention it does.
func TestConnectionDropHasWeight(t *testing.T) {
	for _, tt := range []struct {
		weights map[Mutation]int
		want    bool
	}{{map[Mutation]int{ConnectionDrop: 0}, false}, {map[Mutation]int{RapidFire: 0}, true}} {
		m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "memory"), Profile: Profile{Weights: tt.weights, FreshEvery: 1, MutateRatio: 1}})
		r, dropped := mcptest.NewRand(3), false
		for range 50 {
			in := m.Mutate(r, script.Script{}, mcptest.ScriptOf(mcptest.EchoCall))
			dropped = dropped || slices.ContainsFunc(in.Steps, func(s script.Step) bool { return s.Close })
		}
		if dropped != tt.want {
			t.Errorf("weights %v: dropped %t, want %t", tt.weights, dropped, tt.want)
		}
	}
}

// TestMemoryOfEditor: an editor is used again and again, and keeps nothing of what it looked at before the last time.
func TestMemoryOfEditor(t *testing.T) {
	var e editor
	every := func(*mutate.JSON) bool { return true }
	large := mutate.NewArray()
	for range 100 {
		large.Items = append(large.Items, mutate.NewArray())
	}
	last := weak.Make(large.Items[99])
	e.under(large, every)
	large = nil
	e.under(mutate.NewNull(), every)
	if runtime.GC(); last.Value() != nil {
		t.Error("what was looked at before the last time lives on")
	}
	runtime.KeepAlive(&e)
}
