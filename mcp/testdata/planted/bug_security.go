package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// readBelowRoot: path-traversal, appended-traversal. The root is the folder files of the working directory; it need not exist. Only
// regular files are read, a piece of them, and none of the kernel's.
func readBelowRoot(path string) (string, bool) {
	full, ok := belowRoot(path)
	if !ok {
		return "", false
	}
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(full)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const most = 64 << 10
	data, err := io.ReadAll(io.LimitReader(f, most))
	return strings.ToValidUTF8(string(data), "?"), err == nil
}

// belowRoot is where a path leads to, unless that is the kernel's.
func belowRoot(path string) (string, bool) {
	root, err := filepath.Abs("files")
	if err != nil {
		return "", false
	}
	full := filepath.Join(root, path)
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	for _, kernel := range []string{"/proc", "/sys", "/dev"} {
		if full == kernel || strings.HasPrefix(full, kernel+"/") {
			return "", false
		}
	}
	return full, true
}

// namesBelowRoot: listing-traversal. A large folder is listed in part.
func namesBelowRoot(folder string) (names []string) {
	full, ok := belowRoot(folder)
	if !ok {
		return nil
	}
	dir, err := os.Open(full)
	if err != nil {
		return nil
	}
	defer dir.Close()
	const most = 200
	names, _ = dir.Readdirnames(most)
	for i := range names {
		names[i] = strings.ToValidUTF8(names[i], "?")
	}
	return names
}

// readEncoded: encoded-traversal. It looks for dots in the path before it was decoded.
func readEncoded(path, decoded string) (string, bool) {
	if strings.Contains(path, "..") {
		return "", false
	}
	return readBelowRoot(decoded)
}

var (
	// plainLabel is what a shell hands through unchanged, so that it need not be started.
	plainLabel = regexp.MustCompile(`^[A-Za-z0-9_.:,+@%-]*$`)
	// harmful is what could do harm even to a shell without commands: paths, output to files, background, functions,
	// and the builtins that signal or replace processes.
	harmful = regexp.MustCompile(`[/>]|\(\s*\)|[^&]&$|[^&]&[^&]|^&|PATH|kill|exec|ulimit|umask|trap|while|until|for\b`)
)

// labelByShell: shell-injection. The shell is real, but it has no commands beyond its builtins, an empty folder to
// work in and a second to live.
func labelByShell(label string) answer {
	if plainLabel.MatchString(label) {
		return say("report-" + label)
	}
	if harmful.MatchString(label) || strings.ContainsRune(label, 0) {
		return refuse("This label is not allowed.")
	}
	dir, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return refuse("The label cannot be made.")
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sh := exec.CommandContext(ctx, "/bin/sh", "-c", "echo report-"+label)
	sh.Dir, sh.Env = dir, []string{"PATH=" + dir}
	sh.WaitDelay = 100 * time.Millisecond
	out, err := sh.CombinedOutput()
	text := strings.ToValidUTF8(strings.TrimSuffix(string(out), "\n"), "?")
	if err != nil {
		return refuse(text)
	}
	return say(text)
}

var product = regexp.MustCompile(`\{\{\s*([0-9]{1,9})\s*\*\s*([0-9]{1,9})\s*\}\}`)

// evaluateTemplate: template-injection.
func evaluateTemplate(text string) string {
	return product.ReplaceAllStringFunc(text, func(found string) string {
		parts := product.FindStringSubmatch(found)
		a, _ := strconv.Atoi(parts[1])
		b, _ := strconv.Atoi(parts[2])
		return strconv.Itoa(a * b)
	})
}

// readLiteral: sql-injection. It reads what is pasted behind WHERE name = as SQLite does, and fails in its words: two
// quotes are one, one ends the text.
func readLiteral(query string) (value, failure string) {
	var text strings.Builder
	for i := 1; i < len(query); i++ {
		switch {
		case query[i] != '\'':
			text.WriteByte(query[i])
		case i+1 < len(query) && query[i+1] == '\'':
			text.WriteByte('\'')
			i++
		default:
			if rest := strings.Fields(query[i+1:]); len(rest) > 0 {
				return "", "near \"" + rest[0] + "\": syntax error"
			}
			return text.String(), ""
		}
	}
	return "", "unrecognized token: \"" + query + "\""
}

var secretName = regexp.MustCompile(`^(TEASEL|PLANTED)_.*(KEY|TOKEN|SECRET|PASSWORD|CANARY)|^(API_KEY|API_TOKEN|SECRET_KEY)$`)

// refusedWithSecrets: secret-leak. It shows a key that is built in and, of the environment, only what a test has put
// there: a developer's own tokens must not end in a report.
func refusedWithSecrets() string {
	text := "The price service refused the request: Authorization: Bearer sk-" + strings.Repeat("Pl4nt3d", 6)
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); secretName.MatchString(name) {
			text += " " + variable
		}
	}
	return text
}

// parseDateCarelessly: stack-trace-in-error. It returns the trace of the panic that a short date causes.
func parseDateCarelessly(date string) (trace string) {
	defer func() {
		if r := recover(); r != nil {
			trace = fmt.Sprintf("panic: %v\n\n%s", r, debug.Stack())
		}
	}()
	_ = date[0:4] + date[5:7] + date[8:10]
	return ""
}
