package mutate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Category is the purpose of a token.
type Category uint8

// The categories of tokens. Tokens of a file that have no category are Other.
const (
	_         Category = iota
	Field              // names of members of objects
	Injection          // text with a special meaning for a shell, a database, a template, a path, a language model
	Unicode            // characters that are hard to display, to compare or to decode
	Other
)

var categoryNames = [...]string{"invalid", "field", "injection", "unicode", "other"}

// String returns the name of the category, which may also be the prefix of the names of entries in a dictionary file.
func (c Category) String() string {
	if int(c) < len(categoryNames) {
		return categoryNames[c]
	}
	return "category(" + strconv.Itoa(int(c)) + ")"
}

// MaxToken is the length of the longest token, in bytes, as in AFL++.
const MaxToken = 128

// Dictionary is a set of tokens to insert into inputs, in the order in which they were added, so that the same generator state
// draws the same token. The zero value is empty. The methods that read it may be called concurrently, the others may not.
type Dictionary struct {
	tokens  []string
	sorted  [len(categoryNames)][]string
	present map[string]bool
}

// Add adds tokens and returns how many were new. It ignores empty tokens, tokens longer than [MaxToken], and tokens that the
// dictionary contains already, in any category.
func (d *Dictionary) Add(c Category, tokens ...string) int {
	if c == 0 || int(c) >= len(categoryNames) {
		c = Other
	}
	if d.present == nil {
		d.present = make(map[string]bool)
	}
	before := len(d.tokens)
	for _, token := range tokens {
		if token == "" || len(token) > MaxToken || d.present[token] {
			continue
		}
		d.present[token] = true
		d.tokens = append(d.tokens, token)
		d.sorted[c] = append(d.sorted[c], token)
	}
	return len(d.tokens) - before
}

// Len returns the number of tokens; 0 of nil.
func (d *Dictionary) Len() int {
	if d == nil {
		return 0
	}
	return len(d.tokens)
}

// Tokens returns the tokens of a category in the order in which they were added. The caller must not modify the slice.
func (d *Dictionary) Tokens(c Category) []string {
	if d == nil || int(c) >= len(d.sorted) {
		return nil
	}
	return d.sorted[c]
}

// Token returns a random token, "" if there is none.
func (d *Dictionary) Token(r *rand.Rand) string {
	if d.Len() == 0 {
		return ""
	}
	return d.tokens[below(r, len(d.tokens))]
}

// TokenOf returns a random token of a category, "" if there is none.
func (d *Dictionary) TokenOf(r *rand.Rand, c Category) string {
	tokens := d.Tokens(c)
	if len(tokens) == 0 {
		return ""
	}
	return tokens[below(r, len(tokens))]
}

// LoadFile loads a dictionary file, or each file of a directory as one token. As with AFL++, FILE@2 loads the entries up to level 2;
// without a level only those of level 0 are loaded.
func (d *Dictionary) LoadFile(path string) error {
	level := 0
	info, err := os.Stat(path)
	if err != nil {
		if i := strings.LastIndexByte(path, '@'); i > 0 {
			if n, bad := strconv.Atoi(path[i+1:]); bad == nil && n >= 0 {
				path, level = path[:i], n
				info, err = os.Stat(path)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("loading dictionary: %w", err)
	}
	if info.IsDir() {
		return d.loadDir(path)
	}
	if !info.Mode().IsRegular() { // opening a pipe could block for ever
		return fmt.Errorf("loading dictionary: %s: expected a file or a directory of tokens, not a %v", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("loading dictionary: %w", err)
	}
	defer f.Close()
	return d.Load(f, path, level)
}

func (d *Dictionary) loadDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("loading dictionary: %w", err)
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("loading dictionary: %w", err))
			continue
		case !info.Mode().IsRegular():
			continue
		case info.Size() == 0 || info.Size() > MaxToken:
			errs = append(errs, fmt.Errorf("%s: token of %d bytes, expected 1 to %d", path, info.Size(), MaxToken))
			continue
		}
		token, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("loading dictionary: %w", err))
			continue
		}
		d.Add(Other, string(token))
	}
	return errors.Join(errs...)
}

// Load adds the tokens of a file in the syntax of AFL++ and libFuzzer: lines of the form name@level="value", in which name and level
// are optional and value has the escapes \\, \" and \xNN. Empty lines and lines that begin with # are ignored, and so are entries above
// the given level. An entry whose name begins with the name of a category, as in unicode_bom="...", belongs to that category. The error
// for a malformed line tells its position and what was expected; all other lines are loaded nevertheless, and the errors are joined.
func (d *Dictionary) Load(r io.Reader, name string, level int) error {
	var errs []error
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, readErr := in.ReadString('\n')
		if e, err := parseEntry(line); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, number, err))
		} else if e.level <= level {
			d.Add(e.category(), e.value)
		}
		if readErr == io.EOF {
			return errors.Join(errs...)
		}
		if readErr != nil {
			return errors.Join(append(errs, fmt.Errorf("%s:%d: reading dictionary: %w", name, number, readErr))...)
		}
	}
}

// entry is one line of a dictionary file; its value is empty where the line has none.
type entry struct {
	name  string
	level int
	value string
}

func (e entry) category() Category {
	for c := Field; c < Other; c++ {
		n := len(categoryNames[c])
		if len(e.name) >= n && strings.EqualFold(e.name[:n], categoryNames[c]) {
			return c
		}
	}
	return Other
}

func parseEntry(line string) (entry, error) {
	var e entry
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return e, nil
	}
	head, quoted, ok := strings.Cut(line, `"`)
	if !ok {
		return e, errors.New(`no quoted value, expected name="value"`)
	}
	if head = strings.TrimSpace(head); head != "" {
		if head, ok = strings.CutSuffix(head, "="); !ok {
			return e, fmt.Errorf("%q before the value, expected a name and =", head)
		}
		name, level, hasLevel := strings.Cut(strings.TrimSpace(head), "@")
		if hasLevel {
			n, err := strconv.ParseUint(strings.TrimSpace(level), 10, 31)
			if err != nil {
				return e, fmt.Errorf("level %q, expected a number", level)
			}
			e.level = int(n)
		}
		e.name = strings.TrimSpace(name)
		if strings.ContainsFunc(e.name, notInName) || e.name == "" {
			return e, fmt.Errorf("name %q, expected letters, digits and _", e.name)
		}
	}
	value, err := unquoteToken(quoted)
	e.value = value
	return e, err
}

func notInName(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-.", r)
}

// unquoteToken decodes what stands after the opening quote.
func unquoteToken(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"' && i+1 < len(s):
			return "", fmt.Errorf(`%q after the closing quote, expected the end of the line; a quote in a value is \"`, s[i+1:])
		case s[i] == '"' && b.Len() == 0:
			return "", errors.New("empty value, expected at least one byte")
		case s[i] == '"' && b.Len() > MaxToken:
			return "", fmt.Errorf("value of %d bytes, expected at most %d", b.Len(), MaxToken)
		case s[i] == '"':
			return b.String(), nil
		case s[i] < ' ':
			return "", fmt.Errorf(`control byte 0x%02x, expected it as \x%02x`, s[i], s[i])
		case s[i] != '\\':
			b.WriteByte(s[i])
		case strings.HasPrefix(s[i:], `\\`), strings.HasPrefix(s[i:], `\"`):
			i++
			b.WriteByte(s[i])
		default:
			c, ok := hexEscape(s[i:])
			if !ok {
				return "", fmt.Errorf(`escape %.4q, expected \\, \" or \xNN`, s[i:])
			}
			b.WriteByte(c)
			i += 3
		}
	}
	return "", errors.New("no closing quote, expected one at the end of the line")
}

// hexEscape decodes the \xNN that s begins with.
func hexEscape(s string) (byte, bool) {
	if len(s) < 4 || s[1] != 'x' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:4], 16, 8)
	return byte(n), err == nil
}
