package mcp

import (
	"strings"
	"testing"
)

func TestBlocklist(t *testing.T) {
	s := &Session{Tools: []Tool{{Name: "delete_all"}, {Name: "add"}, {Name: "Löschen"}, {Name: "safe"}}}
	b := newBlocklist(s, func(name string) bool { return name != "safe" })
	for _, tt := range []struct {
		before, line string
		want         bool
	}{
		{"", `{"name":"safe"}`, false},
		{"", `{"name":"delete_all"}`, true},
		{"", `{"name":"Delete_ALL"}`, true},
		{"", `{"name":"\u0064elete_all"}`, true},
		{"", `{"name":"\u0044\u0045lete\u005fall"}`, true},
		{"", `{"text":"{\"name\":\"\\u0064elete_all\"}"}`, true},
		{"", `{"text":"{\"name\":\"\\\\u0064elete_all\"}"}`, true},
		{"", "{\"name\":\"dele\xffte_all\"}", true},
		{"", "{\"name\":\"dele\x00te_all\"}", true},
		{"", "{\"name\":\"delete\u200b_all\"}", true},
		{"", `{"name":"delete\u0000_all"}`, true},
		{"", `{"name":"delete_all "}`, true},
		{"", "[{\"x\":1},{\"name\":\"delete_all\"", true},
		{`{"name":"dele`, `te_all"}`, true},
		{"", `{"name":"löschen"}`, true},
		{"", `{"name":"L\u00d6SCHEN"}`, true},
		{"", `{"name":"L\u00f6schen"}`, true},
		{"", `{"name":"undelete_all"}`, false},
		{"", `{"name":"delete_all_now"}`, false},
		{"", `{"text":"my address"}`, false},
		{"", `{"text":"add 1"}`, true},
		{"", `delete\`, false},
		{"", `\u00`, false},
		{"", ``, false},
	} {
		if got := b.matches([]byte(tt.before), []byte(tt.line)); got != tt.want {
			t.Errorf("%q after %q: %v", tt.line, tt.before, got)
		}
	}
	none := newBlocklist(s, nil)
	if none.matches(nil, []byte("delete_all")) {
		t.Error("something is blocked though nothing is to be")
	}
	// What was handed in stays as it was.
	line := []byte(`{"name":"DELETE\u005FALL"}`)
	if b.matches(nil, line); string(line) != `{"name":"DELETE\u005FALL"}` {
		t.Errorf("the line became %s", line)
	}
	if b.matches(nil, []byte(strings.Repeat("x", 2<<20))); cap(b.buf) > 1<<20 {
		t.Error("a huge buffer is kept")
	}
}
