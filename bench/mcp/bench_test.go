package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

func TestReplyID(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		id         int
		ok         bool
	}{
		{"id last", `{"result":{"content":[]},"jsonrpc":"2.0","id":12}` + "\r\n", 12, true},
		{"id first", `{"jsonrpc":"2.0","id":12,"result":{}}` + "\n", 12, true},
		{"id in the middle", `{"id":12,"jsonrpc":"2.0","result":{}}` + "\n", 12, true},
		{"error", `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":""}}` + "\n", 3, true},
		{"another id within", `{"result":{"x":{"jsonrpc":"2.0","id":9}},"jsonrpc":"2.0","id":4}`, 4, true},
		{"only an id within", `{"result":{"jsonrpc":"2.0","id":9}}`, 0, false},
		{"a string that looks like one", `{"result":"\"jsonrpc\":\"2.0\",\"id\":9}","id":5}`, 5, true},
		{"request of the server's", `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, 0, false},
		{"the same, id last", `{"method":"roots/list","jsonrpc":"2.0","id":1}`, 0, false},
		{"notification", `{"method":"notifications/message","params":{"id":7},"jsonrpc":"2.0"}`, 0, false},
		{"no message", "listening\n", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, ok := replyID([]byte(tt.line))
			if id != tt.id || ok != tt.ok {
				t.Errorf("replyID = %d, %v; want %d, %v", id, ok, tt.id, tt.ok)
			}
		})
	}
}

func TestPrintTable(t *testing.T) {
	rows := []row{
		{name: "bare", samples: []sample{{rate: 300}, {rate: 100}, {rate: 200}}},
		{name: "other", samples: []sample{{rate: 40, peak: 5e6}, {rate: 60, peak: 7e6, fuzzer: 2 * time.Second, servers: 3 * time.Second}}},
	}
	var b strings.Builder
	if err := printTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{
		"median/s lowest highest of bare peak memory fuzzer CPU servers' CPU",
		"bare 200 100 300 1.00 - - -",
		"other 50 40 60 0.25 7 MB 2.0 s 3.0 s",
	} {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

// testServer returns a server that the set-up has built.
func testServer(t *testing.T) string {
	t.Helper()
	server := filepath.Join("..", "..", "mcp", "testdata", "servers", "bin", "mcpgo")
	if _, err := os.Stat(server); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") == "1" {
			t.Fatalf("%v (scripts/setup-test.sh builds it)", err)
		}
		t.Skipf("no test server: %v (scripts/setup-test.sh builds it)", err)
	}
	return server
}

// What a server uses of the processor grows with what is played to it.
func TestPlayed(t *testing.T) {
	server := []string{testServer(t)}
	start, err := played(context.Background(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	pings := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", 50_000)
	used, err := played(context.Background(), server, []byte(initialize+initialized+pings))
	if err != nil {
		t.Fatal(err)
	}
	if used <= start {
		t.Errorf("50,000 requests took %v of the processor, and none %v", used, start)
	}
}

func TestBareClient(t *testing.T) {
	server := testServer(t)
	s := settings{duration: time.Second, window: 8, tool: "echo", args: `{"message":"hi"}`, server: []string{server}}
	got, err := bareClient(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got.rate <= 0 {
		t.Errorf("rate %v, want some replies", got.rate)
	}

	s.args = `{"message":5}`
	if _, err := bareClient(context.Background(), s); err == nil || !strings.Contains(err.Error(), "the tool refuses") {
		t.Errorf("wrong arguments: error %v, want the tool's refusal", err)
	}
	s.args = `{"message":"` + strings.Repeat("a", pipeSize) + `"}`
	if _, err := bareClient(context.Background(), s); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("a window over a pipe: error %v, want it refused", err)
	}
	s.server = []string{"true"}
	s.args = `{}`
	if _, err := bareClient(context.Background(), s); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a server that ends at once: error %v, want that it closed its output", err)
	}
}

func TestPeakMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	if p, ok := peakMemory(os.Getpid()); !ok || p < 1<<20 {
		t.Errorf("peakMemory = %d, %v; want at least a megabyte", p, ok)
	}
	if p, ok := peakMemory(-1); ok {
		t.Errorf("peakMemory(-1) = %d, want none", p)
	}
	const tick = 10 * time.Millisecond
	for spun := time.Now(); time.Since(spun) < 2*tick; {
	}
	if p, ok := proc.ProcessorTime(os.Getpid()); !ok || p < tick {
		t.Errorf("processorTime = %v, %v; want at least %v", p, ok, tick)
	}
	if p, ok := proc.ProcessorTime(-1); ok {
		t.Errorf("processorTime(-1) = %v, want none", p)
	}
}
