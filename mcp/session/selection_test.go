package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func toolNames(tools []session.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

func blockedNames(blocked []session.Blocked) (names []string) {
	for _, b := range blocked {
		names = append(names, b.Name)
	}
	return names
}

func TestSelectionOnRealServers(t *testing.T) {
	for _, test := range []struct {
		server  string
		blocked string
	}{
		{"everything", ""},
		{"filesystem", "edit_file move_file write_file"},
		{"memory", "delete_entities delete_observations delete_relations"},
		{"sequential-thinking", ""},
	} {
		s := mcptest.RecordedSession(t, test.server)
		c, err := session.Selection{}.Apply(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := blockedNames(c.Blocked); !slices.Equal(got, strings.Fields(test.blocked)) {
			t.Errorf("%s: blocked %v, want %s", test.server, got, test.blocked)
		}
		if len(c.Tools)+len(c.Blocked) != len(s.Tools) || !slices.IsSorted(toolNames(c.Tools)) {
			t.Errorf("%s: chosen %v of %d", test.server, toolNames(c.Tools), len(s.Tools))
		}
		if len(c.Excluded)+len(c.Idle) > 0 {
			t.Errorf("%s: excluded %v, idle %v", test.server, c.Excluded, c.Idle)
		}
	}
}

// The same tools without their annotations have to be judged by what they say.
func TestSelectionOnRealServersWithoutAnnotations(t *testing.T) {
	for _, test := range []struct {
		server  string
		blocked string
	}{
		{"everything", ""},
		{"filesystem", "edit_file move_file write_file"},
		{"memory", "delete_entities delete_observations delete_relations"},
	} {
		s := mcptest.RecordedSession(t, test.server)
		for i := range s.Tools {
			s.Tools[i].Annotations = nil
		}
		c, err := session.Selection{}.Apply(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := blockedNames(c.Blocked); !slices.Equal(got, strings.Fields(test.blocked)) {
			t.Errorf("%s: blocked %v, want %s", test.server, c.Blocked, test.blocked)
		}
	}
}

func TestDanger(t *testing.T) {
	for _, test := range []struct {
		name, description, annotations string
		blocked                        bool
		why                            string
	}{
		// Annotations.
		{"delete_all", "", `{"readOnlyHint":true}`, false, ""},
		{"delete_all", "", `{"readOnlyHint":true,"destructiveHint":true}`, false, ""},
		{"delete_all", "", `{"destructiveHint":false}`, false, ""},
		{"echo", "", `{"destructiveHint":true}`, true, "destructiveHint"},
		{"echo", "", `{"readOnlyHint":false}`, true, "default is true"},
		{"echo", "", `{"idempotentHint":true}`, true, "default is true"},
		{"echo", "", `{}`, true, "default is true"},
		{"echo", "", `{"destructiveHint":"no"}`, true, "default is true"},
		{"echo", "", `null`, false, ""},
		// Names.
		{"delete_user", "", "", true, `"delete"`},
		{"deleteUser", "", "", true, `"delete"`},
		{"HTTPDelete", "", "", true, `"delete"`},
		{"user.remove", "", "", true, `"remove"`},
		{"fs/write", "", "", true, `"write"`},
		{"move-file", "", "", true, `"move"`},
		{"exec", "", "", true, `"exec"`},
		{"run_command", "", "", true, `"run command"`},
		{"run_tests", "", "", false, ""},
		{"update2", "", "", true, `"update"`},
		{"read_and_clear", "", "", true, `"clear"`},
		{"send_email", "", "", true, `"send"`},
		{"post_message", "", "", true, `"post"`},
		{"get_post", "", "", false, ""},
		{"search_replace", "", "", true, `"replace"`},
		{"findReplace", "", "", true, `"replace"`},
		{"read_write_file", "", "", true, `"write"`},
		{"get_edit_history", "", "", false, ""},
		{"read_file_write_log", "", "", false, ""},
		{"prune_branches", "", "", true, `"prune"`},
		{"trash_note", "", "", true, `"trash"`},
		{"discard_draft", "", "", true, `"discard"`},
		{"cache_evict", "", "", true, `"evict"`},
		{"expunge", "", "", true, `"expunge"`},
		{"nuke_all", "", "", true, `"nuke"`},
		{"list_trash", "", "", false, ""},
		{"list_moves", "", "", false, ""},
		{"get_delete_log", "", "", false, ""},
		{"resets", "", "", false, ""},
		{"dropdown", "", "", false, ""},
		{"killer_feature", "", "", false, ""},
		{"undelete", "", "", false, ""},
		{"append", "", "", false, ""},
		{"open", "", "", false, ""},
		{"close", "", "", false, ""},
		{"create_note", "", "", false, ""},
		{"add_numbers", "", "", false, ""},
		{"", "", "", false, ""},
		// Descriptions.
		{"tidy", "Deletes every file in a folder.", "", true, `"deletes"`},
		{"tidy", "Permanently removes things", "", true, `"removes"`},
		{"tidy", "Lists files and deletes old ones.", "", true, `"deletes"`},
		{"tidy", "A tool to wipe the disk.", "", true, `"wipe"`},
		{"tidy", "Modifies a record.", "", true, `"modifies"`},
		{"tidy", "Runs a shell command.", "", true, `"runs"`},
		{"housekeeping", "This tool deletes old files.", "", true, `"deletes"`},
		{"housekeeping", "The cleanup command irrevocably removes old files.", "", true, `"removes"`},
		{"housekeeping", "Recursively deletes a folder.", "", true, `"deletes"`},
		{"housekeeping", "Prunes what is unused.", "", true, `"prunes"`},
		{"stats", "Lists weekly posts.", "", false, ""},
		{"stats", "Shows what a user of this tool likes; deletes nothing.", "", false, ""},
		{"tidy", "Runs the simulation.", "", false, ""},
		{"stats", "Counts password resets.", "", false, ""},
		{"stats", "Shows how often users delete files. Does not delete anything.", "", false, ""},
		{"stats", "Reads.\nDeletes nothing.", "", false, ""},
		{"stats", "The dropdown killer.", "", false, ""},
	} {
		text := `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{}},"tools":[{"name":` + check.Quote(test.name) + `,"description":` + check.Quote(test.description)
		if test.annotations != "" {
			text += `,"annotations":` + test.annotations
		}
		c, err := session.Selection{}.Apply(mcptest.ParseSession(t, text+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if blocked := len(c.Blocked) == 1; blocked != test.blocked {
			t.Errorf("%q, %q, annotations %s: blocked %v, want %t", test.name, test.description, test.annotations, c.Blocked, test.blocked)
		} else if blocked && !strings.Contains(c.Blocked[0].Why, test.why) {
			t.Errorf("%q: blocked because %s, want %s", test.name, c.Blocked[0].Why, test.why)
		}
	}
}

func TestSelectionGlobs(t *testing.T) {
	s := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{}},"tools":[
		{"name":"b"},{"name":"a/x"},{"name":"delete_a"},{"name":"delete_b"},{"name":"zap_b","annotations":{"destructiveHint":true}},{"name":"b"},{"name":"log_x"}]}`)
	for _, test := range []struct {
		name                             string
		selection                        session.Selection
		tools, blocked, excluded, unused string
	}{
		{"all", session.Selection{}, "a/x b log_x", "delete_a delete_b zap_b", "", ""},
		{"include", session.Selection{Include: []string{"b", "a*"}}, "a/x b", "", "delete_a delete_b log_x zap_b", ""},
		{"include what is dangerous", session.Selection{Include: []string{"delete_*"}}, "", "delete_a delete_b", "a/x b log_x zap_b", ""},
		{"exclude wins", session.Selection{Include: []string{"*"}, Exclude: []string{"?"}}, "a/x log_x", "delete_a delete_b zap_b", "b", ""},
		{"most", session.Selection{Exclude: []string{"b"}, Most: 1}, "a/x", "delete_a delete_b zap_b", "b log_x", ""},
		{"most is more", session.Selection{Most: 9}, "a/x b log_x", "delete_a delete_b zap_b", "", ""},
		{"allow", session.Selection{Allow: []string{"*_b", "nothing"}}, "a/x b delete_b log_x zap_b", "delete_a", "", "nothing"},
		{"allow does not include", session.Selection{Include: []string{"b"}, Allow: []string{"delete_a"}}, "b", "", "a/x delete_a delete_b log_x zap_b", ""},
		{"pattern", session.Selection{Patterns: []string{"^log_"}}, "a/x b", "delete_a delete_b log_x zap_b", "", ""},
		{"pattern and allow", session.Selection{Patterns: []string{"^log_"}, Allow: []string{"log_[a-z]"}}, "a/x b log_x", "delete_a delete_b zap_b", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := test.selection.Apply(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range []struct {
				what string
				got  []string
				want string
			}{{"chosen", toolNames(c.Tools), test.tools}, {"blocked", blockedNames(c.Blocked), test.blocked}, {"excluded", c.Excluded, test.excluded}, {"idle", c.Idle, test.unused}} {
				if !slices.Equal(list.got, strings.Fields(list.want)) {
					t.Errorf("%s %v, want %s", list.what, list.got, list.want)
				}
			}
			for i := range s.Tools {
				name := s.Tools[i].Name
				if (c.Blocks(name) || c.Excludes(name)) == slices.Contains(strings.Fields(test.tools), name) {
					t.Errorf("Blocks(%q) is %t, Excludes %t", name, c.Blocks(name), c.Excludes(name))
				}
				if dangerous := strings.Contains(name, "delete") || strings.Contains(name, "zap"); c.Excludes(name) && dangerous && len(test.selection.Allow) == 0 {
					t.Errorf("%q is excluded only, though it may destroy something", name)
				}
			}
		})
	}
	for _, bad := range []session.Selection{{Include: []string{"[a"}}, {Exclude: []string{"[a"}}, {Allow: []string{"[a"}}, {Patterns: []string{"("}}} {
		if _, err := bad.Apply(s); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// However often a mutator is asked, it calls no tool that it was not given.
func TestMutatorCallsOnlyChosenTools(t *testing.T) {
	s := mcptest.RecordedSession(t, "memory")
	choice, err := session.Selection{Include: []string{"read_graph", "search_nodes", "delete_*"}}.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	m := gen.NewMutator(gen.MutatorConfig{Session: s, Choice: &choice})
	check := func(in *script.Script) {
		for i := range in.Steps {
			msg := jsonrpc.Parse(in.Steps[i].Line)
			if msg.Method != "tools/call" {
				continue
			}
			if name, _ := msg.Params.Get("name").Str(); choice.Blocks(name) || choice.Excludes(name) {
				t.Fatalf("calls %s: %s", name, in.Steps[i].Line)
			}
		}
	}
	for _, seed := range m.Seeds() {
		check(&seed.Script)
	}
	r := mcptest.NewRand(4)
	var dst script.Script
	in := m.Generate(r)
	for n := range 8_000 {
		if n%20 == 0 {
			in = m.Generate(r)
		}
		dst = m.Mutate(r, dst, in)
		check(&dst)
		in, dst = dst, in
	}
}

func ExampleSelection() {
	s := &session.Session{Tools: []session.Tool{{Name: "read_note"}, {Name: "delete_note"}, {Name: "wipe"}, {Name: "admin_login"}}}
	choice, err := session.Selection{Exclude: []string{"admin_*"}, Allow: []string{"wipe"}}.Apply(s)
	if err != nil {
		fmt.Println(err)
	}
	for _, t := range choice.Tools {
		fmt.Println("fuzzed:", t.Name)
	}
	for _, b := range choice.Blocked {
		fmt.Println("blocked:", b.Name, "because", b.Why)
	}
	// Output:
	// fuzzed: read_note
	// fuzzed: wipe
	// blocked: delete_note because its name says "delete"
}
