package session_test

import (
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// The names of tools without annotations or descriptions, as servers have them in the wild: with the verb first, last and between, in all
// spellings.
var (
	destructiveNames = []string{
		"run_migration", "scale_down", "scaleUpDeployment", "db_migrate", "database_reset", "cluster-drain-node", "vm.stop", "stopInstance", "k8s_rollout_restart",
		"applyManifest", "terraform_apply", "git_push", "repo_force_push", "branch_merge", "merge_pull_request", "close_issue", "issue_close", "userDeactivate",
		"payment_capture", "chargeCard", "order_cancel", "cancelSubscription", "send_email", "messageSend", "post_message", "publishRelease", "package_unpublish",
		"file_overwrite", "writeFile", "move_file", "truncate_table", "tableDrop", "execute_sql", "runCommand", "shell_exec", "wipeDisk", "format_drive",
		"rotate_api_key", "grantAccess", "revoke-token", "firewall_disable", "factoryReset", "bulkImport", "import_data", "restore_backup", "sync_repository",
		"promote_replica", "failover_cluster", "redeploy", "evictPod", "transferFunds",
		"cleanup_old_backups", "cleanUpImages", "teardown_env", "cluster_poweroff", "takedown_site", "shred_file", "unsubscribe_user", "unmount_volume", "void_invoice",
		"alterTable", "upsert_row", "mkdir", "copy_file", "encryptFiles", "clean_database",
	}
	harmlessNames = []string{
		"get_user", "listUsers", "search_issues", "read_file", "file_read", "describeTable", "count_rows", "add_numbers", "calculateSum", "convert_currency",
		"translate_text", "echo", "ping", "get_weather", "weather_forecast", "find_symbol", "lookup_word", "parse_json", "format_date", "formatJson", "validate_schema",
		"preview_email", "get_delete_log", "list_migrations", "show_deployments", "migration_status", "scale_image", "resize_image", "summarize_page", "explain_query",
		"random_number", "hash_text", "encode_base64", "compare_files", "diff_branches", "is_running", "health_check", "checkStatus", "render_chart", "sort_list",
		"filter_rows", "merge_arrays", "reverse_string", "tokenize", "suggest_names", "estimate_cost", "getRestartCount", "view_rollout", "fetch_page", "time_now",
		"clean_text", "copy_sign", "is_empty", "avoid_words", "expire_time",
	}
)

// TestDangerByName: of tools of which only the name is known, none that changes something lasting is called, and all others are.
func TestDangerByName(t *testing.T) {
	called := func(name string) bool {
		s := new(session.Session)
		tool, err := mutate.ParseJSON(fmt.Appendf(nil, `{"name":%q,"inputSchema":{"type":"object"}}`, name))
		if err != nil {
			t.Fatal(err)
		}
		if trouble := s.AddTool(tool); trouble != "" {
			t.Fatal(trouble)
		}
		c, err := (session.Selection{}).Apply(s)
		if err != nil {
			t.Fatal(err)
		}
		return len(c.Tools) == 1
	}
	for _, name := range destructiveNames {
		if called(name) {
			t.Errorf("%s is called", name)
		}
	}
	for _, name := range harmlessNames {
		if !called(name) {
			t.Errorf("%s is not called", name)
		}
	}
}
