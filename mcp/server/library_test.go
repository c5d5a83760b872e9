package server

import (
	"os"
	"path/filepath"
	"testing"
)

// A server says in files which library it is built on, and one that is built on none says nothing, though there may be some around.
func TestLibrary(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"node/node_modules/@modelcontextprotocol/sdk/package.json": `{"name":"@modelcontextprotocol/sdk","version":"1.2.3"}`,
		"node/server/package.json":                                 `{"dependencies":{"@modelcontextprotocol/sdk":"^1.0.0"}}`,
		"node/server/dist/index.js":                                "#!/usr/bin/env node\nimport './server.js'\n",
		"node/own/package.json":                                    `{"dependencies":{}}`,
		"node/own/index.js":                                        "process.stdin.on('data', () => {})\n",
		"node/plain.mjs":                                           "import { Server } from '@modelcontextprotocol/sdk/server/index.js'\n",
		"venv/bin/python3":                                         "\x00",
		"venv/lib/python3.12/site-packages/mcp-1.9.4.dist-info/METADATA": "Name: mcp\n",
		"venv/lib/python3.12/site-packages/clock/__init__.py":            "from .server import main\n",
		"venv/lib/python3.12/site-packages/clock/server.py":              "import asyncio\nfrom mcp.server import Server\n",
		"venv/bin/clock": "#!" + root + "/venv/bin/python3\nfrom clock import main\nmain()\n",
		"venv/lib/python3.12/site-packages/watch/cli.py":          "from watch.server import run\n",
		"venv/lib/python3.12/site-packages/watch/server/tools.py": "from mcp.server import Server\n",
		"venv/bin/watch": "#!" + root + "/venv/bin/python3\nfrom watch.cli import main\nmain()\n",
		"ticker":         "#!/usr/bin/env python3\nimport mcp\n",
		"desk.py":        "def main():\n    import mcp\n",
		"toy.py":         "import json, sys\n# an mcp server\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(root, "venv/bin")+":"+os.Getenv("PATH"))
	python := filepath.Join(root, "venv/bin/python3")
	sh, _ := filepath.Abs("/bin/sh")
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{[]string{sh, filepath.Join(root, "node/server/dist/index.js")}, "@modelcontextprotocol/sdk 1.2.3"},
		{[]string{sh, "node/server/dist/index.js", "--verbose"}, "@modelcontextprotocol/sdk 1.2.3"},
		{[]string{sh, filepath.Join(root, "node/plain.mjs")}, "@modelcontextprotocol/sdk 1.2.3"},
		{[]string{sh, filepath.Join(root, "node/own/index.js")}, ""},
		{[]string{python, filepath.Join(root, "desk.py")}, "mcp 1.9.4"},
		{[]string{python, "ticker"}, "mcp 1.9.4"},
		{[]string{filepath.Join(root, "ticker")}, "mcp 1.9.4"},
		{[]string{sh, "ticker"}, "mcp 1.9.4"},
		{[]string{python, "-m", "clock"}, "mcp 1.9.4"},
		{[]string{filepath.Join(root, "venv/bin/clock")}, "mcp 1.9.4"},
		{[]string{filepath.Join(root, "venv/bin/watch")}, "mcp 1.9.4"},
		{[]string{python, filepath.Join(root, "toy.py")}, ""},
		{[]string{filepath.Join(root, "nowhere")}, ""},
		{nil, ""},
	} {
		if got := Library(tt.command, root); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.command, got, tt.want)
		}
	}
}
