package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// The TypeScript SDK takes thirty times as long for an object of many members as for a text of the same length, servers in
// Go a few times.
func TestCostlyShape(t *testing.T) {
	for _, test := range []struct {
		name   string
		costly bool
	}{{"everything", true}, {"gosdk", false}, {"mcpgo", false}} {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: realServer(t, test.name), Timeout: 20 * time.Second}})
			tool := e.session.Tools[0].Name
			choice, err := session.Selection{}.Apply(e.session)
			if err != nil {
				t.Fatal(err)
			}
			b, err := session.NewCatalog(t.Context(), e.session, &choice, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for range 5 { // a busy machine can make the few milliseconds that a text takes twice as long
				for _, c := range check.All {
					if c.Label != check.ShapeTime {
						continue
					}
					c.Make(b, rand.New(rand.NewPCG(1, 2)), func(name string, in script.Script) {
						_, obs := execute(t, e, in)
						for _, f := range told(&obs, check.RuleShape) {
							found++
							t.Logf("%s: %s", name, f.Message)
						}
					})
				}
				if found > 0 {
					break
				}
			}
			if (found > 0) != test.costly {
				t.Errorf("%s: %d findings", tool, found)
			}
		})
	}
}

// A server that keeps connections open which its clients have cut is found, and one that closes them when it sees that is not.
func TestOpenFiles(t *testing.T) {
	program := mcptest.BuildServer(t, "plantedhttp")
	for _, clean := range []bool{false, true} {
		t.Run(fmt.Sprintf("clean=%t", clean), func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{program, "-port", server.PortWord, fmt.Sprintf("-clean=%t", clean)}, URL: "http://127.0.0.1:" + server.PortWord + "/mcp"}})
			found := 0
			for _, c := range check.All {
				if c.Label != check.GrowthFiles {
					continue
				}
				c.Make(&session.Catalog{Session: e.session}, nil, func(name string, in script.Script) {
					tr, obs := execute(t, e, in)
					if g := tr.Growth; g == nil || len(g.Values) < 5 {
						t.Errorf("%s: files were not counted: %v", name, g)
					}
					found += len(told(&obs, check.RuleOpenFiles))
				})
			}
			if (found > 0) == clean {
				t.Errorf("%d findings", found)
			}
		})
	}
}

// TestSeedsOfManyTools: what is sent before the campaign begins fits into the memory that a campaign may take, however many
// texts the tools have.
func TestSeedsOfManyTools(t *testing.T) {
	mcptest.Computes(t)
	var tools []string
	for i := range 50 {
		tools = append(tools, mcptest.TextTool(fmt.Sprintf("tool_%d", i), "", "", "a", "b", "c", "d", "e", "f"))
	}
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+strings.Join(tools, ",")+`]}`)
	growing := 0
	for _, seed := range gen.NewMutator(gen.MutatorConfig{Session: session}).Seeds() {
		for _, step := range seed.Script.Steps {
			if seed.Script.Check == check.GrowthTime {
				growing += len(step.Line)
			}
		}
	}
	if growing < 16<<20 || growing > 64<<20 {
		t.Errorf("%d MiB of growing texts, want 16 to 64", growing>>20)
	}
}

// A server that leaves a file open, or a child that has ended, of each call is found, and one that does not is not.
func TestKeptOpen(t *testing.T) {
	program := mcptest.BuildServer(t, "plantedhttp")
	for _, bug := range []string{"call-file", "call-zombie", ""} {
		t.Run("bug="+bug, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{program, "-port", server.PortWord, "-clean", "-bug", bug}, URL: "http://127.0.0.1:" + server.PortWord + "/mcp"}})
			found := 0
			for _, s := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
				if s.Script.Check != check.KeptOpen {
					continue
				}
				tr, obs := execute(t, e, s.Script)
				t.Log(s.Name, tr.Growth)
				found += len(told(&obs, check.RuleKeptOpen))
			}
			if (found > 0) != (bug != "") {
				t.Errorf("%d findings", found)
			}
		})
	}
}

// Of one call that is made again and again, memory that is kept of each is found, however much the server takes without it, and so is time that
// grows with the number of calls. A cache that fills up and stays, and a server that is slow from the start, or has no processor for itself, are not.
func TestRepeatedCalls(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	for _, tt := range []struct {
		mode, rule string
		beside     int // programs that keep processors busy for the second half of the time
		long       bool
	}{
		{"leaking", check.RuleMemoryGrowth, 0, false}, {"slower", check.RuleSlower, 0, true}, {"growing", check.RuleSlower, 0, false},
		{"clean", "", 0, false}, {"clean-cache", "", 0, false}, {"clean-slow", "", 0, true}, {"clean-slow", "", 4, true},
	} {
		t.Run(fmt.Sprint(tt.mode, " ", tt.beside), func(t *testing.T) {
			if tt.long && testing.Short() {
				t.Skip("others of its kind run with -short")
			}
			args := []string{program, tt.mode}
			e := open(t, &Target{Command: server.Command{Args: args, Scratch: t.TempDir(), Timeout: 20 * time.Second}})
			defer burn(tt.beside)()
			found := 0
			for _, s := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
				if s.Script.Check != check.GrowthMemory {
					continue
				}
				tr, obs := execute(t, e, s.Script)
				t.Log(s.Name, obs.Runs, tr.Growth)
				for _, rule := range []string{check.RuleMemoryGrowth, check.RuleSlower} {
					for _, f := range told(&obs, rule) {
						t.Log(f.Message)
						if found++; f.Rule != tt.rule {
							t.Errorf("%s is reported", f.Rule)
						}
					}
				}
			}
			if (found > 0) != (tt.rule != "") {
				t.Errorf("%d findings, want %q", found, tt.rule)
			}
		})
	}
}

// burn keeps so many processors busy until it is stopped, from a moment on at which a server has done some of its work.
func burn(processors int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range processors {
		all.Go(func() {
			for began := time.Now(); ctx.Err() == nil; {
				if time.Since(began) < 500*time.Millisecond {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}
