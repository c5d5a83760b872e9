package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
)

var texts = []string{"", "plain", `C:\xff`, "bad \xff", "bad \xfe", "\\\xc3", "\xed\xa0\x80\\x", "é\ufffd\xf0\x9f", "\xff\\xff\\\\"}

// Texts that are not UTF-8 come back byte by byte, so that a finding keeps its id.
func TestFindingTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.json")
	for _, s := range texts {
		want := FindingFile{Kind: "mcp", Finding: teasel.Finding{Rule: "r" + s, Severity: teasel.Low, Subject: s, Fault: s, Group: s, Place: s,
			Message: s, Detail: s, Alone: true, Uncertain: true, Static: true, Input: []byte("{}")}}
		if err := WriteFinding(path, &want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFinding(path)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v\n got %+v\nwant %+v", s, err, got, want)
		}
		text, err := os.ReadFile(path)
		if err != nil || !json.Valid(text) || !utf8.Valid(text) {
			t.Errorf("%q: %v, want JSON\n%s", s, err, text)
		}
		if escaped := bytes.Contains(text, []byte(`"escaped": ["rule","`)); escaped == utf8.ValidString(s) {
			t.Errorf("%q: escapes %v in\n%s", s, escaped, text)
		}
	}
}

// Two findings that differ in invalid bytes only are still two after a new start, under their names, and none is new.
func TestFindingTextsResume(t *testing.T) {
	d := create(t)
	ids := map[string]bool{}
	for _, group := range []string{"bad \xff", "bad \xfe"} {
		e := found("mcp/server-crash", "a", "{}")
		e.Finding.Group = group
		ids[e.Finding.ID()] = true
		report(t, d, e)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, problems := snapshot(t, d)
	got := map[string]bool{}
	for i := range s.Findings {
		got[s.Findings[i].ID()] = true
	}
	if !reflect.DeepEqual(got, ids) || len(problems) != 0 {
		t.Errorf("findings %v and problems %v, want %v and none", got, problems, ids)
	}
}

// Whatever a text is, unescape undoes escape, and the escaped text is UTF-8.
func FuzzEscape(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := escape(s)
		if got, err := unescape(e); err != nil || got != s || !utf8.ValidString(e) {
			t.Errorf("%q was escaped as %q, which gives %q, %v", s, e, got, err)
		}
	})
}
