package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/servertest"
)

// stopped are targets, one for each kind, that touch the file MARK when their fault happens, and the arguments that fuzz them.
var stopped = []struct {
	kind  string
	files map[string]string
	build []string
	args  []string
	needs string // a program
}{
	{kind: "native", needs: "clang", build: []string{"cc", "-O1", "-g", "-fsanitize=fuzzer", "stop.c", "-o", "stop"}, args: []string{"native", "--", "./stop"}, files: map[string]string{"stop.c": `
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > 2 && data[0] == 'b' && data[1] > 'b') {
		open(getenv("MARK"), O_CREAT | O_WRONLY, 0600);
		abort();
	}
	return 0;
}
`}},
	{kind: "go", needs: "go", args: []string{"go", "."}, files: map[string]string{"go.mod": "module example.com/stop\n\ngo 1.24\n", "stop_test.go": `package stop

import (
	"os"
	"testing"
)

func FuzzStop(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2 && b[0] == 'b' && b[1] > 'b' {
			os.WriteFile(os.Getenv("MARK"), nil, 0o600)
			panic("the fault")
		}
	})
}
`}},
	{kind: "mcp", needs: "/usr/bin/python3", args: []string{"mcp", "--", "/usr/bin/python3", "server.py"}, files: map[string]string{"server.py": `
import json, os, sys
def send(m): sys.stdout.write(json.dumps(m) + '\n'); sys.stdout.flush()
TOOL = {'name': 'echo', 'annotations': {'readOnlyHint': True, 'openWorldHint': False}, 'inputSchema': {'type': 'object', 'properties': {'text': {'type': 'string'}}, 'required': ['text']}}
def answer(m):
    p = m.get('params')
    if m.get('method') == 'initialize': return {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'stop', 'version': '1'}}
    if m.get('method') == 'tools/list': return {'tools': [TOOL]}
    if m.get('method') == 'ping': return {}
    if m.get('method') == 'tools/call' and isinstance(p, dict) and p.get('name') == 'echo':
        text = p.get('arguments', {}).get('text') if isinstance(p.get('arguments'), dict) else None
        if isinstance(text, str) and len(text) > 40:
            open(os.environ['MARK'], 'w').close()
            os._exit(9)
        return {'content': [{'type': 'text', 'text': str(text)}]}
for line in sys.stdin:
    try: m = json.loads(line)
    except Exception: m = None
    if not isinstance(m, dict): send({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'parse error'}})
    elif 'id' in m:
        r = answer(m)
        if r is None: send({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32601, 'message': 'no such method'}})
        else: send({'jsonrpc': '2.0', 'id': m['id'], 'result': r})
`}},
	{kind: "net", needs: "/usr/bin/python3", args: []string{"net", "--corpus", "seeds", "--dir", ".", "--connect", "127.0.0.1:{port}", "--", "/usr/bin/python3", "server.py", "{port}"}, files: map[string]string{"seeds/a": "hello\n", "server.py": `
import os, socket, sys
s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    c, _ = s.accept()
    try:
        while (data := c.recv(4096)):
            if len(data) > 12:
                open(os.environ['MARK'], 'w').close()
                os._exit(9)
            c.sendall(b'ok\n')
    except OSError: pass
    c.close()
`}},
}

// TestStoppedAfterFault: a campaign that is stopped at any moment after a fault was seen reports it, confirmed or not, and never says that
// nothing was found.
func TestStoppedAfterFault(t *testing.T) {
	t.Parallel()
	stops := 100
	if testing.Short() {
		stops = 3
		t.Logf("%d stops of each kind with -short", stops)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	goCache, _ := goCaches(t)
	for _, target := range stopped {
		t.Run(target.kind, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(target.needs); err != nil {
				t.Skipf("%v: scripts/setup-test.sh installs it", err)
			}
			dir := servertest.Folder(t) // a server runs as somebody else
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			for name, text := range target.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			mark := filepath.Join(dir, "mark")
			command := func(args ...string) *exec.Cmd {
				return &exec.Cmd{Path: self, Args: append([]string{"teasel"}, args...), Dir: dir, Env: append(os.Environ(), "MARK="+mark, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+goCache)}
			}
			if target.build != nil {
				if out, err := command(target.build...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			early := 0
			for range stops {
				early += stopAfterFault(t, command(append([]string{target.args[0], "--no-ui", "--fresh", "--format", "json", "--duration", "1m"}, target.args[1:]...)...), mark, time.Duration(r.Int64N(int64(50*time.Millisecond))))
			}
			if t.Logf("%d of %d stops came before teasel had heard of any execution", early, stops); 2*early > stops {
				t.Error("too many for this test to say anything")
			}
		})
	}
}

// stopAfterFault runs a campaign, stops it a while after its target has made the file mark, and looks at its report. It returns 1 if that was
// before teasel had heard of any execution, which it says, and else 0.
func stopAfterFault(t *testing.T, cmd *exec.Cmd, mark string, delay time.Duration) int {
	t.Helper()
	if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	for ended := false; !ended; {
		select {
		case err = <-done:
			t.Fatalf("it ended before the fault: %v\n%s", err, stderr.String())
		case <-time.After(time.Millisecond):
			_, missing := os.Stat(mark)
			ended = missing == nil
		}
	}
	time.Sleep(delay)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = <-done
	var report struct {
		Outcome               string
		Findings, Unconfirmed []struct{ Rule string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatalf("stopped after %v: %v\n%s\n%s", delay, err, stdout.String(), stderr.String())
	}
	if err != nil && report.Outcome == "untested" {
		return 1
	}
	if err == nil || len(report.Findings)+len(report.Unconfirmed) == 0 || report.Outcome == "nothing" || strings.Contains(stderr.String(), "Nothing found") {
		t.Errorf("stopped after %v: %v, outcome %q, %d findings, %d unconfirmed\n%s", delay, err, report.Outcome, len(report.Findings), len(report.Unconfirmed), stderr.String())
	}
	return 0
}
