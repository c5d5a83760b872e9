package mcp_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestVersionsAgree asks servers of somebody else's the same in each version that they speak: none has a reason to answer otherwise.
func TestVersionsAgree(t *testing.T) {
	long(t)
	everything := servers(t, "npm", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	gosdk, desk := servers(t, "bin", "gosdk"), []string{servers(t, "python", "venv", "bin", "python"), servers(t, "python", "desk.py")}
	const root, mcp = "http://127.0.0.1:{port}/", "http://127.0.0.1:{port}/mcp"
	for name, target := range map[string]*run.Target{
		"TypeScript SDK, stdio": {Command: server.Command{Args: []string{"node", everything}}},
		"TypeScript SDK, HTTP":  {Command: server.Command{Args: []string{"node", everything, "streamableHttp"}, Env: []string{"PORT={port}"}, URL: mcp}},
		"Go SDK, stdio":         {Command: server.Command{Args: []string{gosdk}}},
		"Go SDK, HTTP":          {Command: server.Command{Args: []string{gosdk, "-http", "127.0.0.1:{port}"}, URL: root}},
		"Go SDK, no sessions":   {Command: server.Command{Args: []string{gosdk, "-http", "127.0.0.1:{port}", "-stateless", "-json"}, URL: root}},
		"Python SDK, stdio":     {Command: server.Command{Args: desk}},
		"Python SDK, HTTP":      {Command: server.Command{Args: append(desk, "--http", "{port}"), URL: mcp}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed(t, target.Args)
			versions := map[string]bool{}
			for _, tr := range exchanges(t, target, check.Versions) {
				for i := range tr.Sent {
					if r := tr.Sent[i].Answer; r >= 0 && tr.Received[r].Message.Result != nil && tr.Sent[i].Message.Method == "initialize" {
						version, _ := tr.Received[r].Message.Result.Get("protocolVersion").Str()
						versions[version] = true
					} else if r >= 0 && tr.Received[r].Message.Result != nil && tr.Sent[i].Message.Method == "server/discover" {
						versions[session.StatelessVersion] = true
					}
				}
				for _, d := range judge.Detectors(judge.DetectorConfig{}) {
					for _, f := range d.Detect(&teasel.Observation{Evidence: tr}) {
						if f.Rule == check.RuleVersions {
							t.Errorf("%s %s: %s\n%s", f.Rule, f.Subject, f.Message, f.Detail)
						}
					}
				}
			}
			t.Log(versions)
		})
	}
}

// exchanges runs the scripts of a check, and returns what was said.
func exchanges(t *testing.T, target *run.Target, label string) (all []*script.Transcript) {
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
	m := gen.NewMutator(gen.MutatorConfig{Session: visit.Session, Choice: &choice, Profile: gen.Standard})
	for _, s := range m.Seeds() {
		if s.Script.Check != label {
			continue
		}
		ex, err := target.Open(t.Context(), teasel.Role{}) // evidence is good until the next execution but one
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ex.Close() })
		obs := teasel.Observation{Runs: 1}
		if err := ex.Exec(context.WithoutCancel(t.Context()), s.Script, &obs); err != nil {
			t.Fatal(err)
		}
		tr, ok := obs.Evidence.(*script.Transcript)
		if !ok {
			t.Fatal("no transcript")
		}
		all = append(all, tr)
	}
	if len(all) == 0 {
		t.Error("there is no such script")
	}
	return all
}
