package session

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/teaselfuzz/teasel/mutate"
)

// changes says why a tool may change something that outlives the server; "": nothing suggests that it does. Annotations
// decide if there are any: readOnlyHint wins, then destructiveHint, and where that is missing the specification's default
// holds, which is true. Other tools are judged by their schema, their name and the first sentence of their description.
func changes(t *Tool, traits *Traits) string {
	switch {
	case traits.Harmless:
		return ""
	case t.hint("destructiveHint") == "true":
		return "its annotations say destructiveHint"
	case traits.Annotated:
		return "its annotations leave out destructiveHint, whose default is true"
	}
	name := serviceless(SplitWords(t.Name))
	if w := changingName(name); w != "" {
		return fmt.Sprintf("its name says %q", w)
	}
	if w := changingSchema(t); w != "" {
		return "its argument " + w
	}
	if w := changingSentence(t.Description, isReading(name)); w != "" {
		return fmt.Sprintf("its description says %q", w)
	}
	if traits.Takes(RunsQuery) && !isReading(name) && !saysReadOnly(t.Description) {
		return "it takes queries for a database"
	}
	return ""
}

// Words that say of a tool without annotations that it may destroy something, wherever they stand in its name. The
// forms count, not what begins with them: "reset" is one, "resets" in a name, "dropdown" and "killer" are not.
var destructiveWords = []string{
	"approve", "ban", "chargeback", "chmod", "chown", "cleanup", "clear", "cordon", "deactivate", "decommission", "del", "delete", "demote", "deploy",
	"destroy", "detach", "disable", "discard", "donate", "downgrade", "drain", "drop", "edit", "erase", "eval", "evict", "exec", "execute", "expunge",
	"failover", "flush", "forget", "grant", "import", "install", "invite", "kill", "migrate", "mkdir", "modify", "mv", "notify", "nuke", "obliterate",
	"overwrite", "poweroff", "promote", "provision", "prune", "publish", "purge", "reboot", "redeploy", "refund", "remove", "rename", "replace", "reset",
	"restart", "restore", "revert", "revoke", "rm", "rmdir", "rollback", "rollout", "rotate", "send", "shell", "shred", "shutdown", "spawn", "sudo", "suspend",
	"takedown", "teardown", "terminate", "trash", "truncate", "tweet", "unban", "undeploy", "uninstall", "unlink", "unmount", "unpublish", "unshare",
	"unsubscribe", "update", "upgrade", "upload", "upsert", "wipe", "withdraw", "write",
}

// Words that are things as often as deeds: they count as the first word only, or right after another verb.
var destructiveVerbs = []string{
	"archive", "buy", "checkout", "click", "commit", "email", "mail", "move", "navigate", "pay", "post", "purchase", "push", "sell", "ship", "transfer", "undo",
}

// Of these and those below, some are hardly ever things: they also count as the last word, and behind what they are about.
var (
	lastVerbs   = []string{"buy", "click", "navigate", "pay", "push", "sell", "undo"}
	behindVerbs = []string{
		"accept", "apply", "assign", "attach", "cancel", "capture", "close", "complete", "configure", "create", "decline", "enable", "halt", "insert", "lock", "merge", "register",
		"reject", "release", "save", "scale", "start", "stop", "submit", "sync", "trigger", "unlock",
	}
)

// Verbs of two words, such as scale down and power off.
var (
	beginnings = []string{"bring", "clean", "power", "roll", "scale", "shut", "spin", "switch", "take", "tear", "turn"}
	directions = []string{"back", "down", "in", "off", "on", "out", "up"}
)

// Verbs that change something lasting if that is what they are about: cancel_order does, cancel_search does not.
var (
	endingVerbs = []string{
		"accept", "alter", "apply", "assign", "attach", "block", "book", "cancel", "capture", "change", "charge", "clean", "close", "complete", "configure",
		"copy", "decline", "empty", "enable", "encrypt", "expire", "format", "grant", "halt", "insert", "lock", "merge", "order", "patch", "place", "put",
		"reject", "release", "rent", "save", "scale", "set", "sign", "start", "stop", "store", "submit", "sync", "trigger", "unlock", "void",
	}
	lastingNouns = []string{
		"access", "account", "accounts", "branch", "bucket", "card", "cards", "changes", "configuration", "container", "containers", "credential", "credentials", "database", "databases", "db", "deployment",
		"disk", "disks", "dns", "domain", "drive", "file", "files", "firewall", "issue", "license", "machine", "manifest", "manifests", "migration", "migrations", "node", "nodes", "package",
		"packages", "partition", "password", "permission", "permissions", "pipeline", "plan", "pod", "pods", "policy", "pr", "process", "pull", "release", "repo", "repository",
		"row", "rows", "secret", "secrets", "server", "servers", "service", "services", "subscription", "subscriptions", "system", "table", "tables", "ticket", "tickets",
		"user", "users", "webhook", "webhooks", "workflow",
	}
	creatingVerbs = []string{"add", "create", "launch", "make", "open", "provision", "register", "request", "schedule"}
	costlyNouns   = []string{
		"appointment", "booking", "bookings", "cluster", "contract", "customer", "customers", "flight", "hotel", "instance", "instances", "invoice", "invoices", "meeting",
		"order", "orders", "payment", "payments", "purchase", "reservation", "subscription", "transaction", "transactions", "trade", "user", "users", "vm", "vms", "volume", "volumes",
	}
)

// Programs and services whose names begin those of tools that run whatever they are given.
var (
	programs = []string{"ansible", "aws", "az", "brew", "docker", "gcloud", "helm", "kubectl", "mysql", "npm", "pip", "podman", "psql", "scp", "ssh", "systemctl", "terraform"}
	services = []string{
		"browser", "calendar", "discord", "git", "github", "gitlab", "gmail", "google", "jira", "linear", "notion", "playwright", "puppeteer", "shopify", "slack", "stripe",
		"twitter",
	}
)

// What makes "run" dangerous.
var runnable = []string{
	"backup", "bash", "cmd", "code", "command", "commands", "deployment", "job", "jobs", "migration", "migrations", "pipeline", "playbook", "powershell", "process", "program",
	"python", "query", "script", "shell", "sql", "terminal",
}

// Words that say that the rest of a name is what is looked at: get_delete_log.
var readingVerbs = []string{
	"count", "describe", "download", "explain", "fetch", "find", "get", "has", "is", "list", "lookup", "peek", "preview",
	"read", "search", "show", "view",
}

// Of these, some go on to change what they have found, in names without a word between: read_write_file, find_replace.
var (
	lookingVerbs  = []string{"fetch", "find", "lookup", "read", "search", "view"}
	changingVerbs = []string{"edit", "replace", "write"}
)

// Words after which another verb may follow.
var joining = []string{"and", "or", "then", "to", "can", "will", "may", "permanently", "irreversibly", "completely"}

// isReading reports whether the words of a name begin with a verb that only looks.
func isReading(name []string) bool { return len(name) > 0 && slices.Contains(readingVerbs, name[0]) }

// serviceless takes the name of a service off the front of a name, so that its verb comes first: slack_post_message.
func serviceless(name []string) []string {
	if len(name) > 1 && slices.Contains(services, name[0]) {
		return name[1:]
	}
	return name
}

// changingName returns the words of a name that say that something lasting is changed, "" if there are none.
func changingName(words []string) string {
	if len(words) == 1 && (words[0] == "query" || words[0] == "sql") {
		return words[0]
	}
	reading := len(words) > 1 && isReading(words)
	for i, w := range words {
		joined := i > 0 && slices.Contains(joining, words[i-1])
		alters := i == 1 && slices.Contains(lookingVerbs, words[0]) && slices.Contains(changingVerbs, w)
		if reading && !joined && !alters {
			continue
		}
		if slices.Contains(destructiveWords, w) {
			return w
		}
		if i == 0 && slices.Contains(programs, w) && !containsAny(words, readingVerbs) {
			return w
		}
		if (i == 0 || joined) && slices.Contains(destructiveVerbs, w) {
			return w
		}
		if with := about(words, i); with != "" && (i == 0 || joined) {
			return w + " " + with
		}
		if i > 0 && i == len(words)-1 && slices.Contains(lastVerbs, w) {
			return w
		}
		if i > 0 && slices.Contains(behindVerbs, w) && (slices.Contains(lastingNouns, words[i-1]) || slices.Contains(costlyNouns, words[i-1])) {
			return words[i-1] + " " + w
		}
		if i+1 < len(words) && slices.Contains(beginnings, w) && slices.Contains(directions, words[i+1]) {
			return w + " " + words[i+1]
		}
		if w == "run" && i+1 < len(words) && slices.Contains(runnable, words[i+1]) {
			return w + " " + words[i+1]
		}
	}
	return ""
}

// about returns the lasting thing that the verb at i is about, "" if there is none. It stands close behind the verb.
func about(words []string, i int) string {
	verb, rest := words[i], words[i+1:min(i+4, len(words))]
	for _, noun := range rest {
		if slices.Contains(endingVerbs, verb) && (slices.Contains(lastingNouns, noun) || slices.Contains(costlyNouns, noun)) ||
			slices.Contains(creatingVerbs, verb) && slices.Contains(costlyNouns, noun) {
			return noun
		}
	}
	return ""
}

// Arguments that choose what a tool does, and arguments that only a tool has which changes something.
var (
	choosingNames = []string{"action", "command", "method", "operation", "op", "verb"}
	warningNames  = []string{"dry_run", "dryRun", "overwrite"}
)

// changingSchema returns the argument that says that something lasting is changed, and how, "" if there is none.
func changingSchema(t *Tool) string {
	for _, m := range t.Properties() {
		if slices.Contains(warningNames, m.Name) {
			return fmt.Sprintf("%q is one of tools that change something", m.Name)
		}
		choice := m.Value.Get("enum")
		if choice == nil || choice.Kind != mutate.Array || !containsAny(SplitWords(m.Name), choosingNames) {
			continue
		}
		for _, item := range choice.Items {
			if text, ok := item.Str(); ok {
				if w := changingName(SplitWords(strings.ToLower(text))); w != "" {
					return fmt.Sprintf("%q may be %q", m.Name, text)
				}
			}
		}
	}
	return ""
}

// What a description calls the tool itself: this tool deletes.
var toolWords = []string{"command", "function", "tool"}

// isVerbAt reports whether an English sentence about a tool has a verb at i: as its first word, and near its beginning after
// a word that joins, after "to", "can" and the like, and after the tool. An adverb may stand before it.
func isVerbAt(words []string, i int) bool {
	if i == 0 {
		return true
	}
	before := words[i-1]
	return i <= 6 && (slices.Contains(joining, before) || slices.Contains(toolWords, before) || strings.HasSuffix(before, "ly") && isVerbAt(words, i-1))
}

// runningVerbs say little of a tool whose name says that it reads: reading a database is executing a query.
var runningVerbs = []string{"eval", "exec", "execute", "run", "shell"}

// changingSentence looks for verbs where a description's first sentence has them.
func changingSentence(description string, reading bool) string {
	words := SplitWords(firstSentence(description))
	for i, w := range words {
		if !isVerbAt(words, i) {
			continue
		}
		base := baseForm(w)
		if reading && slices.Contains(runningVerbs, base) {
			continue
		}
		if slices.Contains(destructiveWords, base) || slices.Contains(destructiveVerbs, base) {
			return w
		}
		plain := slices.Clone(words)
		plain[i] = base
		if noun := about(plain, i); noun != "" {
			return w + " " + noun
		}
		if base == "run" && i+1 < len(words) && containsAny(words[i+1:min(i+5, len(words))], runnable) {
			return w
		}
	}
	return ""
}

// saysReadOnly reports whether a description says that nothing is changed.
func saysReadOnly(description string) bool {
	description = strings.ToLower(description)
	return strings.Contains(description, "read-only") || strings.Contains(description, "read only") || strings.Contains(description, "select ")
}

// baseForm takes the ending of the third person off: deletes, pushes, modifies.
func baseForm(w string) string {
	known := func(s string) bool {
		for _, list := range [][]string{destructiveWords, destructiveVerbs, endingVerbs, creatingVerbs} {
			if slices.Contains(list, s) {
				return true
			}
		}
		return s == "run"
	}
	for _, cut := range []struct{ end, by string }{{"ies", "y"}, {"es", ""}, {"s", ""}} {
		if base, ok := strings.CutSuffix(w, cut.end); ok && known(base+cut.by) {
			return base + cut.by
		}
	}
	return w
}
func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	for i, r := range text {
		if r == '\n' || r == ';' || (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i]
		}
	}
	return text
}

// SplitWords cuts a name at everything that is no letter and where small letters become capitals, and lowers it:
// "HTTPDeleteAll_v2" is http, delete, all, v.
func SplitWords(name string) (words []string) {
	runes := []rune(name)
	start := -1
	end := func(i int) {
		if start >= 0 && i > start {
			words = append(words, strings.ToLower(string(runes[start:i])))
		}
		start = -1
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			continue
		case start < 0:
		case unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(runes))
	return words
}

// HandleWords are words of properties that hold what a server gave out.
var HandleWords = []string{
	"channel", "conn", "connection", "cursor", "descriptor", "fd", "guid", "handle", "hash", "id", "identifier", "index", "job", "key", "lease", "lock", "nonce", "number",
	"pid", "ref", "reference", "session", "sku", "slot", "slug", "stream", "ticket", "token", "transaction", "tx", "txn", "uid", "uuid", "version",
}

// HasWord reports whether a word of a name is in a list.
func HasWord(name string, list []string) bool {
	return slices.ContainsFunc(SplitWords(name), func(w string) bool { return slices.Contains(list, w) })
}
