package mcp_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/judge"
)

// servers is the folder of the servers that scripts/setup-test.sh installs.
func servers(t testing.TB, name ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"testdata", "servers"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRealHTTP fuzzes servers of somebody else's over HTTP, of each SDK, each way it answers, and one that wants a token, for a few hundred
// executions: they are reached, and what is found can be reproduced.
func TestRealHTTP(t *testing.T) {
	long(t)
	everything := servers(t, "npm", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	gosdk, python := servers(t, "bin", "gosdk"), servers(t, "python", "venv", "bin", "python")
	desk := []string{python, servers(t, "python", "desk.py")}
	const root, mcp = "http://127.0.0.1:{port}/", "http://127.0.0.1:{port}/mcp"
	for _, tt := range []struct {
		name string
		hunt hunt
	}{
		{"TypeScript SDK, Streamable HTTP", hunt{command: []string{"node", everything, "streamableHttp"}, env: []string{"PORT={port}"}, url: mcp}},
		{"TypeScript SDK, HTTP+SSE", hunt{command: []string{"node", everything, "sse"}, env: []string{"PORT={port}"}, url: root + "sse"}},
		{"Go SDK, event streams", hunt{command: []string{gosdk, "-http", "127.0.0.1:{port}"}, url: root}},
		{"Go SDK, JSON", hunt{command: []string{gosdk, "-http", "127.0.0.1:{port}", "-json"}, url: root}},
		{"Go SDK, stateless", hunt{command: []string{gosdk, "-http", "127.0.0.1:{port}", "-stateless"}, url: root, stateless: true}},
		{"Python SDK, stdio", hunt{command: desk}},
		{"Python SDK, event streams", hunt{command: append(desk, "--http", "{port}"), url: mcp}},
		{"FastMCP, JSON and a token", hunt{command: append(desk, "fastmcp", "--http", "{port}", "--json", "--token", "secret"), url: mcp,
			header: []string{"Authorization: Bearer secret"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := tt.hunt
			installed(t, h.command)
			h.seed, h.enough, h.duration = 1, 300, 15*time.Minute
			sum := h.run(t)
			if sum.Executions < h.enough {
				t.Errorf("%d executions, want %d", sum.Executions, h.enough)
			}
			for _, f := range sum.Findings {
				if len(f.Input) == 0 || f.Stable == 0 {
					t.Errorf("%s %s cannot be reproduced", f.Rule, f.Subject)
				}
			}
		})
	}
}

// TestOldHoles fuzzes SDKs at versions with a public fault: each serves requests for a foreign Host, which a web page sends by DNS
// rebinding: CVE-2025-66414 of the TypeScript SDK, CVE-2025-66416 of the Python SDK, CVE-2026-34742 of the Go SDK. The last is mended in
// version 1.8.0, which is the clean twin.
func TestOldHoles(t *testing.T) {
	long(t)
	rebinding := func(fs []teasel.Finding) bool {
		return slices.ContainsFunc(fs, func(f teasel.Finding) bool { return f.Rule == judge.RuleHTTPHost })
	}
	const root, mcp = "http://127.0.0.1:{port}/", "http://127.0.0.1:{port}/mcp"
	venv := servers(t, "python", "venv")
	for _, tt := range []struct {
		name string
		hunt hunt
		hole bool
	}{
		{"TypeScript SDK 1.23.0", hunt{command: []string{"node", servers(t, "npm", "old.mjs"), "{port}"}, url: mcp}, true},
		{"Python SDK 1.21.2", hunt{command: []string{filepath.Join(venv, "bin", "python"), servers(t, "python", "desk.py"), "--http", "{port}"}, url: mcp,
			env: []string{"PYTHONPATH=" + filepath.Join(venv, "old")}}, true},
		{"Go SDK 1.3.1", hunt{command: []string{servers(t, "bin", "old"), "127.0.0.1:{port}"}, url: root}, true},
		{"Go SDK 1.8.0", hunt{command: []string{servers(t, "bin", "gosdk"), "-http", "127.0.0.1:{port}"}, url: root}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := tt.hunt
			installed(t, h.command)
			h.seed, h.duration, h.stop = 1, 15*time.Minute, rebinding
			if !tt.hole {
				h.enough = 3000
			}
			sum := h.run(t)
			if found := rebinding(sum.Findings); found != tt.hole {
				t.Errorf("a foreign host is served: %t, want %t", found, tt.hole)
			}
		})
	}
}
