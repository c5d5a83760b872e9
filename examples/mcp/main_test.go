package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/demo"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// serve makes this test's own program the server that teasel demo fuzzes.
const serve = "TEASEL_EXAMPLE_SERVER=1"

func TestMain(m *testing.M) {
	if os.Getenv("TEASEL_EXAMPLE_SERVER") != "" {
		if err := demo.Serve(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func target(t *testing.T) run.Target {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return run.Target{Command: server.Command{Args: []string{self}, Env: []string{serve}}}
}

func TestFuzz(t *testing.T) {
	var out bytes.Buffer
	if err := fuzz(t.Context(), target(t), 4000, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"6 tools to fuzz, 0 blocked\n",
		"\ncritical  mcp/server-crash  tools/call write_page\n", // the seeds use what was closed
		"\nmedium  mcp/wrong-code  tools/call\n",
		`{"teasel-script":1,"start":"shared","steps":[`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
}

func TestFuzzTellsWhatDoesNotStart(t *testing.T) {
	err := fuzz(t.Context(), run.Target{Command: server.Command{Args: []string{"no-such-server"}}}, 1, new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "no-such-server") {
		t.Errorf("the error is %v", err)
	}
}

// The script that docs/mcp.md shows is read as it is there, and crashes the server.
func TestReplay(t *testing.T) {
	for _, test := range []struct {
		name, file string
		rules      []string
	}{
		{"use after close", "testdata/use-after-close.json", []string{judge.RuleCrash}},
		{"use before close", "testdata/use-before-close.json", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			script, err := os.ReadFile(test.file)
			if err != nil {
				t.Fatal(err)
			}
			s := target(t)
			findings, err := replay(t.Context(), &s, script)
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range findings {
				rules = append(rules, f.Rule)
			}
			if fmt.Sprint(rules) != fmt.Sprint(test.rules) {
				t.Errorf("broken rules: %v, want %v", rules, test.rules)
			}
		})
	}
}

func TestDocumentedScript(t *testing.T) {
	script, err := os.ReadFile("testdata/use-after-close.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, script) {
		t.Error("docs/mcp.md shows another script than testdata/use-after-close.json")
	}
}
