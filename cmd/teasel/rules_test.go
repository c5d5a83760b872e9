package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/rules"
)

var update = flag.Bool("update", false, "write docs/rules.md anew")

// TestRulesPage compares docs/rules.md with the rules that there are.
func TestRulesPage(t *testing.T) {
	const page = "../../docs/rules.md"
	want := rulesPage(flags.Rules())
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/rules.md is stale at line %d; to write it anew: go test ./cmd/teasel -run TestRulesPage -update", differs(got, want))
	}
}

// TestNativePage compares the harness that docs/native.md shows with the one that scripts build.
func TestNativePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/native.md")
	if err != nil {
		t.Fatal(err)
	}
	harness, err := os.ReadFile("../../examples/native/harness.c")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, harness) {
		t.Error("docs/native.md shows another harness than examples/native/harness.c")
	}
}

// differs returns the number of the first line in which two texts differ.
func differs(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte{'\n'})
}

func rulesPage(all []teasel.Rule) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Rules

<!-- Written by: go test ./cmd/teasel -run TestRulesPage -update -->

What the detectors of teasel look for: %d rules. A rule that a specification states has a link to the sentence, and its word for
it: MUST or SHOULD; the others are our own. A rule of MCP holds in the protocol versions, and over the transport, that are named; where none is, in all of them.
Severities can be changed, and rules switched off, in the [configuration](configuration.md#severities).

| rule | severity | what | level | versions | transport | source |
|---|---|---|---|---|---|---|
`, len(all))
	for _, r := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s | %s | %s | %s |\n", r.ID, anchor(r.ID), r.Severity, cell(r.Title), r.Level, rules.Versions(&r), r.Transport, source(r.Source))
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** Severity: %s.\n\n%s\n", r.ID, r.Title, r.Severity, plainText(r.Help))
		if r.Source != "" {
			fmt.Fprintf(&b, "\nSource: %s\n", source(r.Source))
		}
		if text := rules.Holds(&r); text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	return b.Bytes()
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), "/", "") }

func cell(s string) string { return strings.ReplaceAll(plainText(s), "|", `\|`) }

// plainText keeps Markdown from reading anything into a sentence.
func plainText(s string) string {
	return strings.NewReplacer("_", `\_`, "*", `\*`, "<", "&lt;", "{", "`{", "}", "}`").Replace(s)
}

// source is a link to where a rule is written down.
func source(url string) string {
	if url == "" {
		return "our own"
	}
	name := strings.TrimPrefix(url, "https://modelcontextprotocol.io/specification/")
	if rest, ok := strings.CutPrefix(url, "https://www.jsonrpc.org/specification"); ok {
		name = "JSON-RPC 2.0" + strings.ReplaceAll(strings.Replace(rest, "#", ", ", 1), "_", " ")
	}
	return fmt.Sprintf("[%s](%s)", name, url)
}
