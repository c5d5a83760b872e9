package plantedtest

import (
	"slices"
	"strings"
)

// Bug is one planted bug of the server.
type Bug struct {
	Name    string   // as the server's flag -bugs takes it
	Rules   []string // the ids of the rules under which a fuzzer may report it; one of them is enough
	Subject string   // part of the subject of its findings; "": any subject
	About   string   // one line
}

// Bugs are all bugs of the planted server, in the order of its flag -list. It must not be modified.
var Bugs = []Bug{
	{"crash-at-int32-max", []string{"mcp/server-crash"}, "reserve_stock", "an int32 overflows and a slice gets a negative length"},
	{"crash-at-length-256", []string{"mcp/server-crash"}, "set_title", "a frame of 256 bytes has no room for the closing zero"},
	{"crash-after-reply", []string{"mcp/server-crash"}, "record_rating", "the reply is sent, then a division by zero kills the server"},
	{"silent-exit", []string{"mcp/server-crash", "mcp/server-exit"}, "import_items", "the server exits with status 1 and says nothing"},
	{"crash-by-assertion", []string{"mcp/server-crash"}, "insert_at", "an assertion fails on stderr, death by SIGABRT"},
	{"crash-by-signal", []string{"mcp/server-crash"}, "render_thumbnail", "death by SIGSEGV without a word"},
	{"out-of-memory", []string{"mcp/out-of-memory", "mcp/server-crash"}, "allocate_grid", "the runtime runs out of memory, exit status 2"},
	{"deep-condition", []string{"mcp/server-crash"}, "configure", "a write into a nil map behind four conditions"},
	{"use-after-close", []string{"mcp/server-crash"}, "append_document", "a closed document's buffer is nil"},
	{"double-close", []string{"mcp/server-crash"}, "close_document", "a channel is closed twice"},
	{"exit-on-odd-id", []string{"mcp/server-crash", "mcp/server-exit", "mcp/connection-dropped"}, "", "the server ends with status 0 on an id that it cannot decode"},
	{"hang-one-call", []string{"mcp/hang", "mcp/no-reply", "mcp/deaf"}, "find_route", "a call is never answered, other requests are"},
	{"endless-loop", []string{"mcp/hang", "mcp/no-reply", "mcp/deaf"}, "sample_series", "a loop that does not advance; nothing is answered any more"},
	{"deaf-long-line", []string{"mcp/deaf", "mcp/hang", "mcp/no-reply"}, "", "the server stops reading, like a scanner with a limit"},
	{"quadratic-time", []string{"mcp/slow-growth", "mcp/hang", "mcp/deaf"}, "check_filter", "a backtracking matcher for .*.*=.*"},
	{"exponential-time", []string{"mcp/slow-growth", "mcp/hang", "mcp/deaf"}, "check_code", "a backtracking matcher for ([a-z]+)*[0-9]"},
	{"memory-leak", []string{"mcp/memory-growth"}, "define_word", "each call keeps 256 KiB, up to 192 MiB"},
	{"id-as-string", []string{"mcp/id-changed"}, "run_report", "a numeric id comes back as a string"},
	{"id-rounded", []string{"mcp/id-changed"}, "", "an id beyond 2^53 comes back rounded"},
	{"null-id", []string{"mcp/invalid-id"}, "", "a request with the id null is executed"},
	{"reply-twice", []string{"mcp/duplicate-reply"}, "daily_digest", "a request is answered twice"},
	{"reply-to-notification", []string{"mcp/reply-to-notification"}, "", "an unknown notification is answered"},
	{"dropped-falsy-id", []string{"mcp/no-reply", "mcp/hang"}, "", "a request with a falsy id is not answered"},
	{"stdout-noise", []string{"mcp/stdout-noise"}, "search_items", "a debug print on stdout"},
	{"invalid-utf8", []string{"mcp/invalid-utf8", "mcp/malformed-reply", "mcp/stdout-noise"}, "truncate_text", "a character is cut in half on stdout"},
	{"batch-accepted", []string{"mcp/batch"}, "", "an array of messages is executed in a version without batches"},
	{"case-insensitive-keys", []string{"mcp/key-variant"}, "", "METHOD counts as method"},
	{"state-after-garbage", []string{"mcp/state-after-garbage"}, "", "after a line that does not parse prompts/list has one prompt less"},
	{"error-without-message", []string{"mcp/malformed-reply"}, "", "an error without a message"},
	{"error-code-string", []string{"mcp/malformed-reply"}, "prompts/get", "an error code that is a string"},
	{"result-and-error", []string{"mcp/malformed-reply"}, "completion/complete", "a reply with both a result and an error"},
	{"unknown-method-success", []string{"mcp/unknown-method"}, "", "unknown methods of a known family succeed"},
	{"internal-error-for-params", []string{"mcp/wrong-code"}, "", "bad params are answered with -32603"},
	{"tools-before-initialize", []string{"mcp/before-initialize"}, "", "tools/list is served before initialize"},
	{"second-initialize", []string{"mcp/second-initialize"}, "", "a second initialize is accepted"},
	{"version-echoed", []string{"mcp/version"}, "", "an unsupported version is echoed"},
	{"undeclared-subscribe", []string{"mcp/capability"}, "subscribe", "subscriptions work without their capability"},
	{"undeclared-notification", []string{"mcp/capability"}, "", "list_changed is sent without its capability"},
	{"cancelled-answered", []string{"mcp/cancelled-reply"}, "", "a cancelled request is answered"},
	{"progress-after-reply", []string{"mcp/progress"}, "run_report", "progress goes on after the reply"},
	{"output-schema", []string{"mcp/output-schema"}, "stock_level", "structured content breaks the output schema"},
	{"structured-missing", []string{"mcp/structured-missing", "mcp/output-schema"}, "convert_units", "a tool with an output schema answers without structured content"},
	{"input-not-validated", []string{"mcp/input-not-validated"}, "add_tag", "arguments that break the input schema are accepted"},
	{"bad-base64", []string{"mcp/content"}, "make_avatar", "an image that is not base64"},
	{"read-only-lie", []string{"mcp/read-only"}, "", "a read-only tool changes what another shows"},
	{"inherited-name", []string{"mcp/unknown-name"}, "", "names that every object inherits fail in another way than unknown ones"},
	{"inherited-key", []string{"mcp/unknown-name"}, "pick_lot", "a lot whose id every object inherits exists"},
	{"exception-in-error", []string{"mcp/unhandled-exception"}, "name_shelf", "an index out of range is answered in the runtime's words"},
	{"wrong-resource-uri", []string{"mcp/resource-uri"}, "", "the contents have another URI than asked for"},
	{"missing-prompt-argument", []string{"mcp/prompt-arguments"}, "write_offer", "a missing required argument is accepted"},
	{"invalid-role", []string{"mcp/content", "mcp/prompt-content"}, "review_stock", "a prompt's message has the role system"},
	{"completion-too-long", []string{"mcp/completion-size"}, "", "more than 100 values"},
	{"log-level-unchecked", []string{"mcp/log-level"}, "logging/setLevel", "an unknown log level is accepted"},
	{"cursor-accepted", []string{"mcp/cursor"}, "prompts/list", "an invalid cursor is accepted"},
	{"page-repeats", []string{"mcp/page-repeats", "mcp/cursor"}, "resources/list", "a page begins with the last entry of the page before"},
	{"path-traversal", []string{"mcp/path-traversal"}, "read_file", "files outside of the root are read"},
	{"encoded-traversal", []string{"mcp/path-traversal"}, "resources/read", "the check for .. comes before the percent-decoding"},
	{"appended-traversal", []string{"mcp/path-traversal"}, "read_guide", "files outside of the root are read whose names end in .md"},
	{"listing-traversal", []string{"mcp/path-traversal"}, "list_folder", "folders outside of the root are listed"},
	{"shell-injection", []string{"mcp/shell-injection"}, "label_report", "the label is given to sh -c"},
	{"sql-injection", []string{"mcp/sql-injection"}, "find_supplier", "the name is pasted into a query"},
	{"template-injection", []string{"mcp/template-injection"}, "render_message", "{{a*b}} is evaluated"},
	{"secret-leak", []string{"mcp/secret-leak"}, "quote_price", "an error shows secrets of the environment"},
	{"stack-trace-in-error", []string{"mcp/stack-trace"}, "parse_date", "an error shows a stack trace"},
}

// Shows reports whether a finding with a rule and a subject may be this bug.
func (b *Bug) Shows(rule, subject string) bool {
	return slices.Contains(b.Rules, rule) && strings.Contains(subject, b.Subject)
}
