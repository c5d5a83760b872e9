package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	documentedLine   = regexp.MustCompile(`(?m)^ *(?:    |\$ |- run: )(?:[A-Z_]+=\S+ )*(teasel [a-z][^\n]*)$`)
	documentedInline = regexp.MustCompile("`(teasel [a-z][^`\n]*)`")
	documentedRemark = regexp.MustCompile(`\s#.*$|\s{3,}\S.*$`) // what a line says of its command
)

// Each command line of the documentation names a verb that there is, and flags that it has.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range append(pages, "../../README.md", "../../ARCHITECTURE.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\\\n", " ")
		for _, m := range slices.Concat(documentedLine.FindAllStringSubmatch(text, -1), documentedInline.FindAllStringSubmatch(text, -1)) {
			line := documentedRemark.ReplaceAllString(m[1], "")
			if why := undocumented(line); why != "" {
				t.Errorf("%s: %q: %s", filepath.Base(page), line, why)
			}
			commands++
		}
	}
	for _, line := range []string{"teasel nets --connect :1", "teasel net --modell mqtt", "teasel fleet nats://hub --duration 1s"} {
		if undocumented(line) == "" {
			t.Errorf("%q passes", line)
		}
	}
	if commands < 200 {
		t.Errorf("only %d commands were found", commands)
	}
}

// undocumented says what is wrong with a command line; "": nothing.
func undocumented(line string) string {
	args := strings.Fields(line)[1:]
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	cmd, rest, err := newRoot().Find(args)
	switch {
	case err != nil:
		return err.Error()
	case !cmd.HasParent() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return "there is no such verb"
	case cmd.DisableFlagParsing:
		return ""
	}
	for _, a := range rest {
		name, flag := strings.CutPrefix(strings.Trim(a, `'"[],.`), "--")
		if name, _, _ = strings.Cut(name, "="); flag && name != "" && name != "help" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			return "it has no flag --" + name
		}
	}
	return ""
}
