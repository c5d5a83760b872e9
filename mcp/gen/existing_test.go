package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// notes is a server whose tools take the keys of notes under several names.
const notes = `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[
{"name":"get_note","inputSchema":{"type":"object","properties":{"note_id":{"type":"integer"}},"required":["note_id"]}},
{"name":"delete_note","inputSchema":{"type":"object","properties":{"note_id":{"type":"integer"}},"required":["note_id"]}},
{"name":"merge_notes","inputSchema":{"type":"object","properties":{"source_id":{"type":"integer"},"target_id":{"type":"integer"}},"required":["source_id","target_id"]}},
{"name":"set_parent","inputSchema":{"type":"object","properties":{"note_id":{"type":"integer"},"parent_id":{"type":"integer"}},"required":["note_id","parent_id"]}},
{"name":"tag","inputSchema":{"type":"object","properties":{"label":{"type":"string","pattern":"^[a-z]{3,9}$"}},"required":["label"]}}]}`

// TestKnown: what answers call the id of a note goes where a note is wanted, whatever that is called there, and there are
// scripts in which one thing is done to a note and then all others, in which a note meets itself, and in which two meet
// both ways round. The tool that deletes takes another note than the others.
func TestKnown(t *testing.T) {
	sess := mcptest.ParseSession(t, notes)
	choice, err := session.Selection{Allow: []string{"*"}}.Apply(sess)
	if err != nil {
		t.Fatal(err)
	}
	shown := observe.Note{Captures: []observe.Capture{
		{Pointer: "/structuredContent/notes/0/id", Value: "1"}, {Pointer: "/structuredContent/notes/1/id", Value: "2"}, {Pointer: "/structuredContent/notes/2/id", Value: "3"},
	}}
	sess.Learned = shown.ByName(session.ArgumentNames(sess, &choice))
	for _, name := range []string{"note_id", "source_id", "target_id", "parent_id"} {
		if got := sess.Learned[name]; !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("learned %s %q", name, got)
		}
	}
	if got := sess.Learned["label"]; got != nil {
		t.Errorf("learned label %q", got)
	}
	b := NewMutator(MutatorConfig{Session: sess, Choice: &choice}).e.b
	all := findExisting(b.Tools, sess.Learned)
	if len(all) != 1 || len(all[0].consumers) != 4 {
		t.Fatalf("%d sorts of things are known, want one that four tools take", len(all))
	}
	got := make(map[string]string)
	all[0].scripts(func(name string, in script.Script) {
		var calls []string
		for _, s := range in.Steps {
			_, rest, _ := strings.Cut(string(s.Line), `"name":`)
			calls = append(calls, strings.NewReplacer(`"arguments":`, "", `"`, "", "}}}", "", "{", "", ",", " ").Replace(rest))
		}
		got[name] = strings.Join(calls, "; ")
	})
	for name, want := range map[string]string{
		"get_note of note_id 0":    "get_note note_id:1; merge_notes source_id:1 target_id:1; set_parent note_id:1 parent_id:1; get_note note_id:1",
		"delete_note of note_id 0": "delete_note note_id:3; get_note note_id:3; merge_notes source_id:3 target_id:3; set_parent note_id:3 parent_id:3; delete_note note_id:3",
		"merge_notes of note_id 0": "merge_notes source_id:1 target_id:1; get_note note_id:1; set_parent note_id:1 parent_id:1; merge_notes source_id:1 target_id:1",
		"set_parent both ways 0": "set_parent note_id:1 parent_id:2; set_parent note_id:2 parent_id:1; get_note note_id:1; " +
			"merge_notes source_id:1 target_id:1; set_parent note_id:1 parent_id:2",
	} {
		if got[name] != want {
			t.Errorf("%s: %s\nwant %s", name, got[name], want)
		}
	}
	if v := b.Find("merge_notes").Plain.String(); v != `{"source_id":1,"target_id":2}` {
		t.Errorf("an example is %s", v)
	}
}

// TestEchoes: a text of one place stands in another where the schema allows it.
func TestEchoes(t *testing.T) {
	sess := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[
{"name":"plan","inputSchema":{"type":"object","properties":{"name":{"type":"string","minLength":3},"after":{"type":"string","minLength":3},"kind":{"enum":["a","b"]}},"required":["name","after","kind"]}}]}`)
	choice, err := session.Selection{}.Apply(sess)
	if err != nil {
		t.Fatal(err)
	}
	echoes := correlatedArguments(NewMutator(MutatorConfig{Session: sess, Choice: &choice}).e.b.Find("plan"))
	if len(echoes) != 1 || echoes[0].Get("name").Text != echoes[0].Get("after").Text {
		t.Errorf("%d calls: %v", len(echoes), echoes)
	}
}
