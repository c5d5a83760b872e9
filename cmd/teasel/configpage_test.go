package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

// TestConfigurationPage compares the tables of docs/configuration.md with the flags that there are.
func TestConfigurationPage(t *testing.T) {
	const page = "../../docs/configuration.md"
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := got
	shared := flags.Settable(flags.Shared())
	want = replaceTable(t, want, "key", shared)
	for _, kind := range flags.Kinds() {
		cmd, _, err := newRoot().Find([]string{kind})
		if err != nil {
			t.Fatal(err)
		}
		own := flags.Settable(cmd.Flags())
		maps.DeleteFunc(own, func(name string, _ *pflag.Flag) bool { return shared[name] != nil })
		want = replaceTable(t, want, "key of `["+kind+"]`", own)
	}
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(got, want) {
		t.Errorf("docs/configuration.md is stale at line %d; to write its tables anew: go test ./cmd/teasel -run TestConfigurationPage -update", differs(got, want))
	}
}

// replaceTable writes the table of a page whose first column has a title anew.
func replaceTable(t *testing.T, page []byte, title string, fs map[string]*pflag.Flag) []byte {
	t.Helper()
	old := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(title) + ` \|(.*\n\|)+.*\n`).FindIndex(page)
	if old == nil {
		t.Fatalf("docs/configuration.md has no table whose first column is %q", title)
	}
	var b bytes.Buffer
	b.Write(page[:old[0]])
	fmt.Fprintf(&b, "| %s | value | default | meaning |\n|---|---|---|---|\n", title)
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		meaning, standard := meaningOf(fs[name])
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, valueInFile(fs[name].Value.Type()), cell(standard), cell(meaning))
	}
	b.Write(page[old[1]:])
	return b.Bytes()
}

// valueInFile says what the file has for a flag of a type.
func valueInFile(flagType string) string {
	switch flagType {
	case "bool":
		return "true or false"
	case "int", "uint64":
		return "whole number"
	case "float64":
		return "number"
	case "duration":
		return `text such as "30s"`
	case "size":
		return `text such as "2GiB"`
	case "string":
		return "text"
	case "stringArray", "stringSlice", "FORMAT=FILE":
		return "list of texts"
	case "intSlice":
		return "list of whole numbers"
	case "stringToInt":
		return "table of whole numbers"
	}
	return strings.ReplaceAll(flagType, "|", ", ") // one of a fixed set
}

// The help of each verb fits a screen, or its flags are in groups that do.
func TestHelpFitsOrIsGrouped(t *testing.T) {
	const screen = 40
	for _, c := range newRoot().Commands() {
		if c.DisableFlagParsing { // the help is that of a compiler
			continue
		}
		var out bytes.Buffer
		if status := run(context.Background(), []string{c.Name(), "--help"}, nil, &out, &out); status != 0 {
			t.Errorf("teasel %s --help: status %d", c.Name(), status)
		}
		if bytes.Count(out.Bytes(), []byte{'\n'}) <= screen {
			continue
		}
		for _, g := range flags.Groups(c) {
			n := 0
			g.Flags.VisitAll(func(*pflag.Flag) { n++ })
			if n > screen/2 {
				t.Errorf("the help of teasel %s has %d flags under %q", c.Name(), n, g.Title)
			}
		}
	}
}

// meaningOf returns what a flag does, and its default; "": that is nothing, 0 or false.
func meaningOf(f *pflag.Flag) (meaning, standard string) {
	meaning, standard = f.Usage, f.DefValue
	if at := strings.LastIndex(meaning, " (default"); at >= 0 && strings.HasSuffix(meaning, ")") {
		standard = strings.Trim(meaning[at+len(" (default"):len(meaning)-1], ": ")
		meaning = meaning[:at]
	}
	if slices.Contains([]string{"0", "0s", "false", "[]"}, standard) {
		standard = ""
	}
	return meaning, standard
}
