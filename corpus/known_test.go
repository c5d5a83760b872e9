package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// The findings of a campaign are known, those that were not reproduced for want of time too, wherever below a directory it is. The
// campaign before the last is left out.
func TestReadKnownDirectory(t *testing.T) {
	root := t.TempDir()
	found := teasel.Finding{Rule: "go/panic", Severity: teasel.High, Subject: "Parse", Message: "m", Stable: 3, Tries: 3, Input: []byte("x")}
	late := teasel.Finding{Rule: "go/hang", Severity: teasel.Medium, Subject: "Parse", Input: []byte("y")}
	for _, name := range []string{"a/FuzzA", "b/FuzzB", "b/FuzzB.previous"} {
		d, err := Create(filepath.Join(root, name), Meta{Kind: "go", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		f := found
		f.Group = name
		for _, e := range []teasel.Event{{Kind: teasel.EventFound, Finding: f}, {Kind: teasel.EventUnconfirmed, Finding: late}} {
			if err := d.Report(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	known, err := ReadKnown(root, "go")
	for _, k := range known {
		got = append(got, k.Rule)
		if k.Pending != (k.Rule == late.Rule) || k.Subject != "Parse" {
			t.Errorf("%+v", k)
		}
	}
	if want := []string{"go/panic", "go/hang", "go/panic", "go/hang"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := ReadKnown(filepath.Join(root, "a/FuzzA"), "net"); err == nil || !strings.Contains(err.Error(), "of kind go: expected one of kind net") {
		t.Errorf("another kind: %v", err)
	}
}

// A report has known findings besides its own; those that were accepted are no part of it.
func TestReadKnownReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	read := func(text string) ([]Known, error) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadKnown(file, "mcp")
	}
	known, err := read(`{"teasel":"1","kind":"mcp","later":[{}],
		"findings":[{"id":"0000000000000001","rule":"mcp/hang","severity":"high","subject":"s","message":"m","test":"p FuzzX"}],
		"unconfirmed":[{"id":"0000000000000002","rule":"mcp/hang","severity":"high"}],
		"unreproduced":[{"id":"0000000000000005","rule":"mcp/hang","severity":"high"}],
		"known":[{"id":"0000000000000003","rule":"mcp/hang","severity":"high","state":"baseline"},
			{"id":"0000000000000004","rule":"mcp/hang","severity":"high","state":"accepted","reason":"r"}]}`)
	want := []Known{{"0000000000000001", "mcp/hang", teasel.High, "s", "m", "p FuzzX", false}, {ID: "0000000000000002", Rule: "mcp/hang", Severity: teasel.High, Pending: true},
		{ID: "0000000000000005", Rule: "mcp/hang", Severity: teasel.High, Pending: true},
		{ID: "0000000000000003", Rule: "mcp/hang", Severity: teasel.High}}
	if err != nil || !slices.Equal(known, want) {
		t.Errorf("%+v, %v, want %+v", known, err, want)
	}
	for text, wrong := range map[string]string{
		"":                     `1: the file is empty: expected a report that --format json wrote`,
		"[]":                   `1: expected a report that --format json wrote`,
		"{\n\"findings\":\n7}": `3: expected a list of findings in "findings"`,
		"{\"kind\":\"mcp\",\"findings\":[\n{\"id\":7}]}":                                         `2: expected a finding`,
		"{\"kind\":\"mcp\",\"findings\":[\n{\"id\":\"0000000000000001\",\"severity\":\"odd\"}]}": `2: expected a finding`,
		"{\"teasel\":\"1\",\"kind\":\"mcp\",\"findings\":[]}\nmore":                              `2: expected nothing after the object`,
	} {
		_, err := read(text)
		var p *Problem
		if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), file+":"+wrong) {
			t.Errorf("%q: %v, want %s", text, err, wrong)
		}
	}
}
