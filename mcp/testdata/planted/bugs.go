package main

import (
	"fmt"
	"io"
	"strings"
)

// bug is one planted bug. Its code is in a function of its own in one of the bug_*.go files.
type bug struct {
	name    string
	class   string // the rule that it breaks
	about   string
	trigger string
}

// bugs are the bugs that are switched on, by name.
type bugs map[string]bool

var bugTable = []bug{
	// Deaths.
	{"crash-at-int32-max", "server-crash", "an int32 overflows and a slice gets a negative length", "reserve_stock with quantity 2147483647, its maximum"},
	{"crash-at-length-256", "server-crash", "a frame of 256 bytes has no room for the closing zero", "set_title with a title of 256 bytes or more"},
	{"crash-after-reply", "server-crash", "the reply is sent, then a division by zero kills the server", "record_rating with weight 0"},
	{"silent-exit", "server-crash", "the server exits with status 1 and says nothing", "import_items with format legacy and no items"},
	{"crash-by-assertion", "server-crash", "an assertion fails on stderr, death by SIGABRT", "insert_at with index -1"},
	{"crash-by-signal", "server-crash", "death by SIGSEGV without a word", "render_thumbnail with width 4096, its maximum"},
	{"out-of-memory", "out-of-memory", "the runtime runs out of memory, exit status 2", "allocate_grid with rows 1000000, its maximum"},
	{"deep-condition", "server-crash", "a write into a nil map behind four conditions", "configure with mode advanced, options.cache.level 4 to 6 and three tags"},
	{"use-after-close", "server-crash", "a closed document's buffer is nil", "open_document, close_document, append_document with its handle"},
	{"double-close", "server-crash", "a channel is closed twice", "open_document, then close_document twice with its handle"},
	{"exit-on-odd-id", "server-crash", "the server ends with status 0 on an id that it cannot decode", "a request whose id is an object or an array"},

	// Time and memory.
	{"hang-one-call", "hang", "a call is never answered, other requests are", "find_route from depot to depot"},
	{"endless-loop", "hang", "a loop that does not advance; nothing is answered any more", "sample_series with step 0 and end above start"},
	{"deaf-long-line", "deaf", "the server stops reading, like a scanner with a limit", "a line longer than 512 KiB"},
	{"quadratic-time", "slow-growth", "a backtracking matcher for .*.*=.*", "check_filter with a long text without ="},
	{"exponential-time", "slow-growth", "a backtracking matcher for ([a-z]+)*[0-9]", "check_code with 26 letters and no digit"},
	{"memory-leak", "memory-growth", "each call keeps 256 KiB, up to 192 MiB", "define_word, some hundred times"},

	// JSON-RPC and the wire.
	{"id-as-string", "id-changed", "a numeric id comes back as a string", "run_report with a number as the request's id"},
	{"id-rounded", "id-changed", "an id beyond 2^53 comes back rounded", "ping with id 9007199254740993"},
	{"null-id", "invalid-id", "a request with the id null is executed", "ping with id null"},
	{"reply-twice", "duplicate-reply", "a request is answered twice", "prompts/get daily_digest with style brief"},
	{"reply-to-notification", "reply-to-notification", "an unknown notification is answered", "notifications/roots/list_changed, or any unknown notification"},
	{"dropped-falsy-id", "no-reply", "a request with a falsy id is not answered", "any request but initialize with id 0 or \"\""},
	{"stdout-noise", "stdout-noise", "a debug print on stdout", "search_items with limit 0"},
	{"invalid-utf8", "stdout-noise", "a character is cut in half on stdout", "truncate_text with text beyond ASCII and a max inside of it"},
	{"batch-accepted", "batch", "an array of messages is executed in a version without batches", "an array with a ping, in any version but 2025-03-26"},
	{"case-insensitive-keys", "key-variant", "METHOD counts as method", "a request with a member name in capitals"},
	{"state-after-garbage", "state-after-garbage", "after a line that does not parse prompts/list has one prompt less", "a line {bad, then prompts/list page by page"},
	{"error-without-message", "malformed-reply", "an error without a message", "tools/call with a name that is no string"},
	{"error-code-string", "malformed-reply", "an error code that is a string", "prompts/get with an unknown name"},
	{"result-and-error", "malformed-reply", "a reply with both a result and an error", "completion/complete with an unknown type of ref"},
	{"unknown-method-success", "unknown-method", "unknown methods of a known family succeed", "a request resources/nothing"},
	{"internal-error-for-params", "wrong-code", "bad params are answered with -32603", "resources/read without a uri, or with one that is no string"},

	// Lifecycle.
	{"tools-before-initialize", "before-initialize", "tools/list is served before initialize", "tools/list as the first message"},
	{"second-initialize", "second-initialize", "a second initialize is accepted", "initialize twice"},
	{"version-echoed", "version", "an unsupported version is echoed", "initialize with protocolVersion 1.0.0"},
	{"undeclared-subscribe", "capability", "subscriptions work without their capability", "resources/subscribe"},
	{"undeclared-notification", "capability", "list_changed is sent without its capability", "toggle_feature with enabled true"},
	{"cancelled-answered", "cancelled-reply", "a cancelled request is answered", "run_report with delay_ms 50, then notifications/cancelled"},
	{"progress-after-reply", "progress", "progress goes on after the reply", "run_report with a progressToken"},

	// Tools, prompts, resources and the rest.
	{"output-schema", "output-schema", "structured content breaks the output schema", "stock_level of discontinued"},
	{"structured-missing", "structured-missing", "a tool with an output schema answers without structured content", "convert_units from a unit to itself"},
	{"input-not-validated", "input-not-validated", "arguments that break the input schema are accepted", "add_tag with a priority that is no number, or without a tag"},
	{"bad-base64", "content", "an image that is not base64", "make_avatar with shape circle"},
	{"read-only-lie", "read-only", "a read-only tool changes what another shows", "show_counter, peek_counter, show_counter"},
	{"inherited-name", "unknown-name", "names that every object inherits fail in another way than unknown ones", "tools/call constructor or __proto__"},
	{"inherited-key", "unknown-name", "a lot whose id every object inherits exists", "pick_lot constructor or __proto__"},
	{"exception-in-error", "unhandled-exception", "an index out of range is answered in the runtime's words", "name_shelf 3 or more"},
	{"wrong-resource-uri", "resource-uri", "the contents have another URI than asked for", "resources/read app://settings"},
	{"missing-prompt-argument", "prompt-arguments", "a missing required argument is accepted", "prompts/get write_offer without arguments"},
	{"invalid-role", "content", "a prompt's message has the role system", "prompts/get review_stock"},
	{"completion-too-long", "completion-size", "more than 100 values", "completion/complete of plan_delivery's city with an empty value"},
	{"log-level-unchecked", "log-level", "an unknown log level is accepted", "logging/setLevel verbose"},
	{"cursor-accepted", "cursor", "an invalid cursor is accepted", "prompts/list with cursor x"},
	{"page-repeats", "page-repeats", "a page begins with the last entry of the page before", "resources/list page by page"},

	// Security.
	{"path-traversal", "path-traversal", "files outside of the root are read", "read_file with a path of ../ to the file system's root and down again"},
	{"encoded-traversal", "path-traversal", "the check for .. comes before the percent-decoding", "resources/read file:///%2e%2e/... up and down again"},
	{"appended-traversal", "path-traversal", "files outside of the root are read whose names end in .md", "read_guide with a path of ../ to the file system's root and down again"},
	{"listing-traversal", "path-traversal", "folders outside of the root are listed", "list_folder with a path of ../ to the file system's root and down again"},
	{"shell-injection", "shell-injection", "the label is given to sh -c", "label_report with ;echo MARK or $(echo MARK)"},
	{"sql-injection", "sql-injection", "the name is pasted into a query", "find_supplier with a name that has one quote"},
	{"template-injection", "template-injection", "{{a*b}} is evaluated", "render_message with {{7*7}}"},
	{"secret-leak", "secret-leak", "an error shows secrets of the environment", "quote_price with currency XXX"},
	{"stack-trace-in-error", "stack-trace", "an error shows a stack trace", "parse_date with fewer than 10 bytes"},
}

// choose reads a -bugs flag: all, none, or names with commas between.
func choose(list string) (bugs, error) {
	on := bugs{}
	if list == "none" {
		return on, nil
	}
	known := map[string]bool{}
	for _, b := range bugTable {
		known[b.name] = true
	}
	if list == "all" {
		return known, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !known[name] {
			return nil, fmt.Errorf("no bug is called %q; -list names them", name)
		}
		on[name] = true
	}
	return on, nil
}

// list prints each bug on a line: name, class, what it is and what triggers it, with tabs between.
func list(w io.Writer) error {
	for _, b := range bugTable {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", b.name, b.class, b.about, b.trigger); err != nil {
			return err
		}
	}
	return nil
}
