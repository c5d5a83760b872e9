package session_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestChangesByName: of tools without annotations whose names say that they change something lasting, none is called.
func TestChangesByName(t *testing.T) {
	for _, name := range strings.Fields(`cancel_order refund_payment charge_card stop_instance close_account format_disk migrate_database terraform_apply kubectl
		start_process query set_password insert_rows install_package apply_migration email_customer send_email tweet notify_all approve_invoice place_order book_flight
		invite_user create_payment execute_sql run_query run_sql navigate click git_reset git_checkout shell_run write_file save_file upload_file
		unshare detach_disk block_user suspend_user lock_account rotate_keys forget undo sql slack_post_message github_merge_pull_request`) {
		if traits := session.TraitsOf(&session.Tool{Name: name}); traits.Changes == "" {
			t.Errorf("%s is called", name)
		}
	}
	for _, name := range strings.Fields(`get_order list_payments search query_docs search_query read_query merge_objects patch_json append open close close_notebook open_notebook
		create_note create_entities add_numbers format_text cancel_search start_timer stop_timer set_title lock put set get store release_handle docker_list_containers
		validate_email calculate_charge sort_rows list_files set_value configure`) {
		if traits := session.TraitsOf(&session.Tool{Name: name}); traits.Changes != "" {
			t.Errorf("%s is not called: %s", name, traits.Changes)
		}
	}
}

func traitsOf(t *testing.T, tool string) (session.Tool, session.Traits) {
	t.Helper()
	s := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{}},"tools":[`+tool+`]}`)
	return s.Tools[0], session.TraitsOf(&s.Tools[0])
}

// TestChangesBySchema: what a tool takes says what it does.
func TestChangesBySchema(t *testing.T) {
	for _, tt := range []struct {
		tool, want string // a part of the reason
	}{
		{`{"name":"notes","inputSchema":{"type":"object","properties":{"action":{"type":"string","enum":["list","delete"]}}}}`, `"action" may be "delete"`},
		{`{"name":"api","inputSchema":{"type":"object","properties":{"method":{"type":"string","enum":["GET","DELETE"]}}}}`, `"method" may be "DELETE"`},
		{`{"name":"notes","inputSchema":{"type":"object","properties":{"action":{"type":"string","enum":["list","count"]}}}}`, ""},
		{`{"name":"tidy","inputSchema":{"type":"object","properties":{"dry_run":{"type":"boolean"}}}}`, "dry_run"},
		{`{"name":"inspect","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}`, "queries"},
		{`{"name":"inspect","description":"Runs a read-only query.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}`, "runs"},
		{`{"name":"read_query","description":"Execute a SELECT query on the SQLite database","inputSchema":{"type":"object","properties":{"query":{"type":"string"}}}}`, ""},
		{`{"name":"merge","description":"Merges two objects.","inputSchema":{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"object"}}}}`, ""},
	} {
		_, traits := traitsOf(t, tt.tool)
		if (traits.Changes == "") != (tt.want == "") || !strings.Contains(traits.Changes, tt.want) {
			t.Errorf("%s: %q, want %q", tt.tool, traits.Changes, tt.want)
		}
	}
}

func TestPurposes(t *testing.T) {
	for _, tt := range []struct {
		tool, argument string
		want           session.Purpose
	}{
		{mcptest.TextTool("run_code", "Runs code.", "", "language", "code"), "code", session.RunsProgram},
		{mcptest.TextTool("run_code", "Runs code.", "", "language", "code"), "language", 0},
		{mcptest.TextTool("find_product", "Finds a product by its code.", "", "code"), "code", 0},
		{mcptest.TextTool("sandbox", "Executes Python code.", "", "text"), "text", session.RunsProgram},
		{mcptest.TextTool("run", "", "", "command"), "command", session.RunsProgram},
		{mcptest.TextTool("read_query", "Execute a SELECT query on the SQLite database", "", "query"), "query", session.RunsQuery},
		{mcptest.TextTool("search", "Searches the documents.", "", "query"), "query", 0},
		{mcptest.TextTool("render_template", "", "", "template"), "template", session.Renders},
		{mcptest.TextTool("render_message", "Renders a message.", "", "text"), "text", 0},
		{mcptest.TextTool("render_message", "Fills the name into a template where it says {{name}}.", "", "template", "name"), "template", 0},
		{mcptest.TextTool("render", "Renders with Handlebars.", "", "template"), "template", session.Renders},
		{mcptest.TextTool("convert", "Converts what an http: or file: URI names.", "", "uri"), "uri", session.ReadsAnywhere},
		{mcptest.TextTool("read_file", "Reads a file, by its absolute path. Only works within allowed directories.", "", "path"), "path", 0},
		{mcptest.TextTool("read_file", "Reads a file.", "", "path"), "path", 0},
		{mcptest.TextTool("job", "", "", "timeout_ms"), "timeout_ms", session.TakesTime},
	} {
		tool, traits := traitsOf(t, tt.tool)
		if got := traits.Arguments[tt.argument]; got != tt.want {
			t.Errorf("%s %s: %b, want %b", tool.Name, tt.argument, got, tt.want)
		}
	}
}

// TestTraitsByAnnotations: the defaults are those of the specification.
func TestTraitsByAnnotations(t *testing.T) {
	for _, tt := range []struct {
		annotations               string
		harmless, changes, strict bool
		open                      bool
	}{
		{`null`, false, false, true, true},
		{`{}`, false, true, true, true},
		{`{"readOnlyHint":true}`, true, false, false, true},
		{`{"readOnlyHint":true,"openWorldHint":false}`, true, false, false, false},
		{`{"destructiveHint":false}`, true, false, false, true},
		{`{"destructiveHint":true}`, false, true, true, true},
		{`{"idempotentHint":true}`, false, true, true, true},
	} {
		tool, traits := traitsOf(t, `{"name":"a","annotations":`+tt.annotations+`}`)
		if traits.Harmless != tt.harmless || (traits.Changes != "") != tt.changes || traits.OpenWorld != tt.open {
			t.Errorf("%s: %+v", tt.annotations, traits)
		}
		if why := (session.Selection{Strict: true}).Refuses(&tool, nil); (why != "") != tt.strict {
			t.Errorf("%s with Strict: refused because %q, want %t", tt.annotations, why, tt.strict)
		}
	}
}
