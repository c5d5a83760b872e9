package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestSteepOnBusyMachine measures servers whose time grows in many ways, on a machine that makes everything take up to
// twice as long now and then.
func TestSteepOnBusyMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	measure := func(power, constant float64) *script.Growth {
		g := &script.Growth{What: "time"}
		for n := 1024.0; n <= 1<<18; n *= 2 {
			g.Sizes = append(g.Sizes, n)
			g.Values = append(g.Values, (constant+400e3*math.Pow(n/(1<<18), power))*(1+r.Float64()*r.Float64()))
		}
		return g
	}
	const rounds = 2000
	for _, test := range []struct {
		power, constant float64
		least, most     int
	}{
		{0, 0, 0, 0}, {0.5, 100, 0, 0}, {1, 100, 0, 0}, {1, 50e3, 0, 0}, {1.1, 100, 0, 0},
		{2, 100, rounds * 8 / 10, rounds}, {3, 100, rounds * 9 / 10, rounds}, {2, 2000, rounds / 2, rounds},
	} {
		found := 0
		for range rounds {
			if _, ok := check.Steep(measure(test.power, test.constant)); ok {
				found++
			}
		}
		if found < test.least || found > test.most {
			t.Errorf("power %g and %g µs: found %d times in %d, want %d to %d", test.power, test.constant, found, rounds, test.least, test.most)
		}
	}
}

func TestLeaks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	measure := func(each, base, ceiling float64) *script.Growth {
		g := &script.Growth{What: "memory"}
		for n := 0.0; n <= 1000; n += 100 {
			g.Sizes = append(g.Sizes, n)
			g.Values = append(g.Values, base+min(ceiling, n*each)+r.Float64()*1e6)
		}
		return g
	}
	for range 1000 {
		if _, ok := check.Leaks(measure(100e3, 30e6, 1e12)); !ok {
			t.Fatal("a leak of 100 KB was not found")
		}
		if _, ok := check.Leaks(measure(1e6, 30e6, 60e6)); ok {
			t.Fatal("a cache of 60 MB is no leak")
		}
		if _, ok := check.Leaks(measure(10e3, 30e6, 1e12)); ok {
			t.Fatal("10 MB are too little to be sure")
		}
	}
}

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
				check.MakeShapeTime(b, rand.New(rand.NewPCG(1, 2)), func(name string, in script.Script) {
					_, obs := execute(t, e, in)
					for _, f := range told(&obs, check.RuleShape) {
						found++
						t.Logf("%s: %s", name, f.Message)
					}
				})
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
