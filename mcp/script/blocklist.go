package script

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// A Blocklist is the last check before a line is sent. It knows two sorts of tools. One that may change something lasting
// must not be called by accident: a line that mentions its name anywhere is withheld, however the name got there. One that
// the user only does not want fuzzed is withheld where a call names it.
type Blocklist struct {
	dangerous []string        // names in lower case, sorted
	Excluded  map[string]bool // names as they are
	Buf       []byte
}

// NewBlocklist returns the blocklist of a session. The functions say which tools may change something lasting, and which the user
// does not want called.
func NewBlocklist(s *session.Session, dangerous, excluded func(string) bool) Blocklist {
	b := Blocklist{Excluded: make(map[string]bool)}
	for i := range s.Tools {
		switch name := s.Tools[i].Name; {
		case name == "":
		case dangerous != nil && dangerous(name):
			b.dangerous = append(b.dangerous, strings.ToLower(name))
		case excluded != nil && excluded(name):
			b.Excluded[name] = true
		}
	}
	slices.Sort(b.dangerous)
	b.dangerous = slices.Compact(b.dangerous)
	return b
}

// unescapeRounds is how deep strings of JSON within strings of JSON are looked into.
const unescapeRounds = 3

// Calls returns the excluded tool that a message calls, or that one of a batch does; "": none.
func (b *Blocklist) Calls(m *jsonrpc.Message) string {
	switch {
	case len(b.Excluded) == 0:
	case m.Class == jsonrpc.ClassBatch:
		for _, item := range m.Root.Items {
			if inner := jsonrpc.FromTree(item); inner.Class != jsonrpc.ClassBatch {
				if name := b.Calls(&inner); name != "" {
					return name
				}
			}
		}
	case m.Method == "tools/call":
		if name := session.CalledName(m); b.Excluded[name] {
			return name
		}
	}
	return ""
}

// Mentions returns the dangerous tool that a line names, "": none. The name may be in any case, behind escapes, or with
// characters in between that a lax reader drops. line may be the end of one that was begun without a newline, which is in
// before.
func (b *Blocklist) Mentions(before, line []byte) string {
	if len(b.dangerous) == 0 {
		return ""
	}
	text := appendLower(append(b.Buf[:0], before...), line)
	lowerASCII(text[:len(before)])
	found := b.contained(text)
	for range unescapeRounds {
		if found != "" || bytes.IndexByte(text, '\\') < 0 {
			break
		}
		text = unescapeInPlace(text)
		found = b.contained(text)
	}
	if found == "" && !isPrintable(text) {
		text = dropStrange(text)
		found = b.contained(text)
	}
	if b.Buf = text; cap(text) > 1<<20 {
		b.Buf = nil
	}
	return found
}

// contained returns the name that stands in text and is not only a part of a longer one, "": none does.
func (b *Blocklist) contained(text []byte) string {
	for _, name := range b.dangerous {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(name))
			if i < 0 {
				break
			}
			i += from
			end := i + len(name)
			if (i == 0 || !isNameByte(text[i-1])) && (end == len(text) || !isNameByte(text[end])) && !inMethod(text, i) {
				return name
			}
			from = i + 1
		}
	}
	return ""
}

// inMethod reports whether an offset lies in the value of "method", and that is one of the protocol's own: tools/list calls
// no tool, even where there is one of the name list.
func inMethod(text []byte, at int) bool {
	start := bytes.LastIndexByte(text[:at], '"') + 1
	end := bytes.IndexByte(text[at:], '"')
	if start == 0 || end < 0 || !bytes.HasSuffix(bytes.TrimRight(text[:start-1], " :"), []byte(`"method"`)) {
		return false
	}
	value := string(text[start : at+end])
	return slices.ContainsFunc(session.Methods, func(m string) bool { return strings.EqualFold(m, value) }) ||
		slices.ContainsFunc(session.Notifications, func(m string) bool { return strings.EqualFold(m, value) })
}

// Withheld counts the lines that were not sent because of the tools they name. The zero value is ready. Its methods may be
// called at once.
type Withheld struct {
	mu    sync.Mutex
	lines map[string]uint64 // by tool
}

// Add counts a line that was withheld because of a tool. A nil Withheld counts nothing.
func (w *Withheld) Add(tool string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lines == nil {
		w.lines = make(map[string]uint64)
	}
	w.lines[tool]++
}

// Lines returns for each tool, in lower case if the tool may change something lasting, how many lines were not sent.
func (w *Withheld) Lines() map[string]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.lines)
}

// isNameByte reports whether the byte can be a part of a tool's name. A full stop and a hyphen can, too, but a sentence
// has them elsewhere.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func appendLower(dst, src []byte) []byte {
	at := len(dst)
	dst = append(dst, src...)
	if isPrintable(src) {
		lowerASCII(dst[at:])
		return dst
	}
	return append(dst[:at], bytes.ToLower(src)...)
}

func lowerASCII(b []byte) {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
}

// isPrintable reports whether there is nothing but printable ASCII.
func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// unescapeInPlace undoes the escapes of JSON strings wherever they stand, and lowers what comes out.
func unescapeInPlace(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'b', 'f', 'n', 'r', 't':
			out = append(out, ' ')
		case 'u':
			r, ok := hexRune(b[i+1:])
			if !ok {
				out = append(out, '\\', 'u')
				continue
			}
			i += 4
			// Never longer than the six bytes it stood in.
			out = append(out, strings.ToLower(string(r))...)
		default:
			out = append(out, b[i])
		}
	}
	return out
}

func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// dropStrange drops control characters, spaces of all kinds and bytes that are not UTF-8. What is left of a character
// beyond ASCII is a mark, so that a word does not grow together with the next.
func dropStrange(b []byte) []byte {
	out := b[:0]
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n <= 1, r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0, r == 0xad,
			r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == utf8.RuneError:
		case r < 0x80:
			out = append(out, byte(r))
		default:
			out = append(out, '?')
		}
		b = b[n:]
	}
	return out
}
