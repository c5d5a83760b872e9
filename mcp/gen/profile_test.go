package gen

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

func TestProfiles(t *testing.T) {
	for _, p := range Profiles() {
		got, err := ParseProfile(p.Name)
		if err != nil || got.Name != p.Name {
			t.Errorf("%s was read as %s, %v", p.Name, got.Name, err)
		}
		if p.Stack == 0 || p.MutateRatio <= 0 || p.MutateRatio >= 1 || p.FreshEvery == 0 {
			t.Errorf("%s leaves something open: %+v", p.Name, p)
		}
	}
	if _, err := ParseProfile("hard"); err == nil {
		t.Error("an unknown profile was taken")
	}
}

// A profile's weights decide which mutations are made.
func TestProfileWeights(t *testing.T) {
	weights := make(map[Mutation]int)
	for _, m := range Mutations() {
		weights[m] = 0
	}
	weights[RapidFire] = 1
	m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything"), Profile: Profile{Weights: weights, MutateRatio: 1, Stack: 1, FreshEvery: -1}})
	r := mcptest.NewRand(1)
	var dst script.Script
	for range 500 {
		dst = m.Mutate(r, dst, mcptest.ScriptOf(mcptest.EchoCall))
		for i := range dst.Steps {
			if string(dst.Steps[i].Line) != mcptest.EchoCall {
				t.Fatalf("a message was changed: %s", dst.Steps[i].Line)
			}
		}
	}
	for _, p := range Profiles() {
		m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything"), Profile: p})
		for range 300 {
			dst = m.Mutate(r, dst, mcptest.ScriptOf(mcptest.EchoCall))
			mcptest.WellFormed(t, &dst)
		}
	}
}

// With a process for every script, handshakes and ends of connections come in many forms.
func TestFreshScripts(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything"), Profile: Profile{FreshEvery: 1}})
	r := mcptest.NewRand(2)
	var dst script.Script
	seen := make(map[string]int)
	for range 300 {
		for _, in := range []script.Script{m.Generate(r), m.Mutate(r, dst, mcptest.ScriptOf(mcptest.EchoCall, mcptest.ListCall))} {
			mcptest.WellFormed(t, &in)
			if in.Start != script.Fresh {
				continue
			}
			first := jsonrpc.Parse(in.Steps[0].Line)
			if first.Method == "initialize" {
				seen["handshake"]++
				if version, _ := first.Params.Get("protocolVersion").Str(); version != "2025-11-25" {
					seen["other version"]++
				}
			} else {
				seen["something before"]++
			}
			last := in.Steps[len(in.Steps)-1]
			switch {
			case last.Close && last.NoNewline:
				seen["end in a line"]++
			case last.Close:
				seen["end after a line"]++
			}
		}
	}
	for _, want := range []string{"handshake", "other version", "something before", "end in a line", "end after a line"} {
		if seen[want] < 5 {
			t.Errorf("%s: %d times", want, seen[want])
		}
	}
}
