package mcp_test

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// A server that has a tool less over standard input and output than over HTTP is found, and the same one without that bug is not.
func TestTransportsDiffer(t *testing.T) {
	t.Parallel()
	program := mcptest.BuildServer(t, "plantedhttp")
	for _, bug := range []string{"fewer-over-stdio", ""} {
		t.Run("bug="+bug, func(t *testing.T) {
			target := &run.Target{Command: server.Command{Args: []string{program, "-port", "{port}", "-clean", "-bug", bug}, URL: plantedURL}}
			found := 0
			for _, in := range acrossTransports(t, target, &server.Command{Args: []string{program, "-stdio", "-clean", "-bug", bug}}) {
				for _, f := range detect(t, target, in) {
					t.Log(f.Rule, f.Subject, f.Message)
					found++
				}
			}
			if want := map[bool]int{true: 1}[bug != ""]; found != want {
				t.Errorf("%d findings, want %d", found, want)
			}
		})
	}
}

// acrossTransports returns the scripts that compare a target's server with another one.
func acrossTransports(t *testing.T, target *run.Target, other *server.Command) (ins []script.Script) {
	t.Helper()
	visit, err := target.Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	visit.Close()
	target.Session = visit.Session
	choice, err := session.Selection{}.Apply(visit.Session)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := session.NewCatalog(t.Context(), visit.Session, &choice, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := check.Comparable(catalog)
	answers, err := other.Ask(t.Context(), slices.Concat(lines, lines))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		in, ok := check.AcrossTransports(line, answers[i], answers[i+len(lines)], "standard input and output")
		if !ok {
			t.Errorf("%s cannot be compared", line)
		}
		ins = append(ins, in)
	}
	return ins
}

// detect runs a script and returns what is found.
func detect(t *testing.T, target *run.Target, in script.Script) []teasel.Finding {
	t.Helper()
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	defer ex.Close()
	obs := teasel.Observation{Runs: 1}
	if err := ex.Exec(context.WithoutCancel(t.Context()), in, &obs); err != nil {
		t.Fatal(err)
	}
	return judge.Detectors(judge.DetectorConfig{})[0].Detect(&obs)
}
