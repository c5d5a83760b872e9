package mcp

import (
	"slices"
	"strings"
	"unicode"
)

// Words that say of a tool without annotations that it may destroy something, wherever they stand in its name. The
// forms count, not what begins with them: "reset" is one, "resets" in a name, "dropdown" and "killer" are not.
var destructiveWords = []string{
	"ban", "chmod", "chown", "clear", "deactivate", "del", "delete", "deploy", "destroy", "disable", "discard", "drop",
	"edit", "erase", "eval", "evict", "exec", "execute", "expunge", "flush", "kill", "modify", "mv", "nuke", "overwrite",
	"prune", "publish", "purge", "reboot", "remove", "rename", "replace", "reset", "restart", "revert", "revoke", "rm",
	"rmdir", "rollback", "send", "shell", "shutdown", "spawn", "sudo", "terminate", "trash", "truncate", "uninstall",
	"unlink", "update", "upload", "wipe", "write",
}

// Words that are things as often as deeds: they count as the first word only, or right after another verb.
var destructiveVerbs = []string{
	"archive", "buy", "commit", "merge", "move", "pay", "patch", "post", "purchase", "push", "transfer",
}

// What makes "run" dangerous.
var runnable = []string{
	"bash", "cmd", "code", "command", "commands", "powershell", "process", "program", "python", "query", "script",
	"shell", "sql", "terminal",
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

func dangerousName(name string) string {
	words := splitWords(name)
	reading := len(words) > 1 && slices.Contains(readingVerbs, words[0])
	for i, w := range words {
		joined := i > 0 && slices.Contains(joining, words[i-1])
		changes := i == 1 && slices.Contains(lookingVerbs, words[0]) && slices.Contains(changingVerbs, w)
		if reading && !joined && !changes {
			continue
		}
		if slices.Contains(destructiveWords, w) {
			return w
		}
		if (i == 0 || joined) && slices.Contains(destructiveVerbs, w) {
			return w
		}
		if w == "run" && i+1 < len(words) && slices.Contains(runnable, words[i+1]) {
			return w + " " + words[i+1]
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

// dangerousSentence looks for verbs where a sentence has them.
func dangerousSentence(description string) string {
	words := splitWords(firstSentence(description))
	for i, w := range words {
		if !isVerbAt(words, i) {
			continue
		}
		base := baseForm(w)
		if slices.Contains(destructiveWords, base) || slices.Contains(destructiveVerbs, base) {
			return w
		}
		if base == "run" && i+1 < len(words) && slices.ContainsFunc(words[i+1:min(i+5, len(words))], isRunnable) {
			return w
		}
	}
	return ""
}

func isRunnable(w string) bool { return slices.Contains(runnable, w) }

// baseForm takes the ending of the third person off: deletes, pushes, modifies.
func baseForm(w string) string {
	known := func(s string) bool {
		return slices.Contains(destructiveWords, s) || slices.Contains(destructiveVerbs, s) || s == "run"
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

// splitWords cuts a name at everything that is no letter and where small letters become capitals, and lowers it:
// "HTTPDeleteAll_v2" is http, delete, all, v.
func splitWords(name string) (words []string) {
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
