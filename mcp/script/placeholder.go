package script

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// An Expansion replaces the placeholders of one line. See [Script] for what they stand for.
type Expansion struct {
	Transcript *Transcript // what the script has said and heard so far
	Canary     *Canary     // nil: none
	Huge       bool        // HugeText is as long as it can be
	IDs        *int64      // the id that was given out last
	Unresolved bool        // a placeholder had nothing to stand for
}

const freshID = `@id"`

// Append appends the line with its placeholders replaced.
func (x *Expansion) Append(dst, line []byte) []byte {
	for {
		i := bytes.IndexByte(line, '@')
		if i < 0 {
			return append(dst, line...)
		}
		quoted := i > 0 && line[i-1] == '"'
		if quoted && bytes.HasPrefix(line[i:], []byte(freshID)) {
			*x.IDs++
			dst = append(dst, line[:i-1]...)
			dst = strconv.AppendInt(dst, *x.IDs, 10)
			line = line[i+len(freshID):]
			continue
		}
		if text, n := x.canaryAt(line[i:]); n > 0 {
			dst = append(dst, line[:i]...)
			dst = appendInside(dst, text)
			line = line[i+n:]
			continue
		}
		if bytes.HasPrefix(line[i:], []byte(HugeText)) {
			dst = append(dst, line[:i]...)
			n := fairLength
			if x.Huge {
				n = hugeLength
			}
			dst = append(dst, LongText(n)...)
			line = line[i+len(HugeText):]
			continue
		}
		ref, ok := referenceAt(line, i)
		if !ok {
			dst = append(dst, line[:i+1]...)
			line = line[i+1:]
			continue
		}
		from, to := ref.whole[0], ref.whole[1]
		if ref.id {
			dst = append(dst, line[:from]...)
			dst = x.appendID(dst, ref.step, bytes.HasSuffix(line[:to], []byte(`:s"`)))
			line = line[to:]
			continue
		}
		value := x.Capture(ref.step, line[ref.end+1:to-1])
		if value != nil && value.Kind != mutate.String && quoted && to < len(line) && line[to] == '"' {
			dst = append(dst, line[:from-1]...)
			dst = value.Append(dst)
			line = line[to+1:]
			continue
		}
		dst = append(dst, line[:from]...)
		if value != nil {
			dst = appendInside(dst, ValueText(value))
		}
		line = line[to:]
	}
}

// appendInside appends text as it stands inside a JSON string.
func appendInside(dst []byte, text string) []byte {
	at := len(dst)
	dst = mutate.NewString(text).Append(dst)
	return append(dst[:at], dst[at+1:len(dst)-1]...)
}

// ValueText returns a string as it is, and other values as JSON.
func ValueText(v *mutate.JSON) string {
	if s, ok := v.Str(); ok {
		return s
	}
	return v.String()
}

// canaryAt returns what the placeholder for the canary at the beginning of line stands for, and its length; 0: it is
// none.
func (x *Expansion) canaryAt(line []byte) (string, int) {
	if !bytes.HasPrefix(line, []byte("@{canary")) {
		return "", 0
	}
	for _, p := range []struct {
		name string
		text func(*Canary) string
	}{{CanaryPath, (*Canary).Path}, {CanaryRelative, (*Canary).Relative}, {CanaryURI, (*Canary).URI}, {CanaryDir, (*Canary).Dir},
		{CanarySibling, (*Canary).Sibling}, {CanarySibRel, (*Canary).RelativeSibling}, {CanaryLink, (*Canary).Link}} {
		if !bytes.HasPrefix(line, []byte(p.name)) {
			continue
		}
		if x.Canary == nil {
			x.Unresolved = true
			return "", len(p.name)
		}
		text := p.text(x.Canary)
		x.Unresolved = x.Unresolved || text == ""
		return text, len(p.name)
	}
	return "", 0
}

// appendID appends the id that a step was sent with, as it was or as a string. Of a step without one it is 0, which
// nobody has.
func (x *Expansion) appendID(dst []byte, step int, asString bool) []byte {
	id := "0"
	if sent := x.sent(step); sent != nil && sent.Message.ID != "" {
		id = sent.Message.ID
	} else {
		x.Unresolved = true
	}
	if asString && id[0] != '"' {
		return mutate.NewString(id).Append(dst)
	}
	return append(dst, id...)
}

// sent returns the last line that was sent for a step.
func (x *Expansion) sent(step int) *Sent {
	t := x.Transcript
	for i := len(t.Sent) - 1; i >= 0; i-- {
		if t.Sent[i].Step == step {
			return &t.Sent[i]
		}
	}
	return nil
}

// Capture returns the value a capture stands for; nil: there is none.
func (x *Expansion) Capture(step int, pointer []byte) *mutate.JSON {
	var v *mutate.JSON
	if sent := x.sent(step); sent != nil && sent.Answer >= 0 {
		v = x.Transcript.Received[sent.Answer].Message.Result
	}
	path, token := CutToken(unquote(pointer))
	if v = descend(v, path); v != nil && token >= 0 {
		text, ok := NthToken(ValueText(v), token)
		if v = nil; ok {
			v = mutate.NewString(text)
		}
	}
	x.Unresolved = x.Unresolved || v == nil
	return v
}

// unquote undoes the escapes of a part of a JSON string.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') >= 0 {
		v, err := mutate.ParseJSON(append(append([]byte{'"'}, b...), '"'))
		if s, ok := v.Str(); err == nil && ok {
			return s
		}
	}
	return string(b)
}

// CutToken cuts "#N" off the end of a pointer; -1: there is none.
func CutToken(pointer string) (path string, token int) {
	i := strings.LastIndexByte(pointer, '#')
	if i < 0 {
		return pointer, -1
	}
	n, err := strconv.ParseUint(pointer[i+1:], 10, 16)
	if err != nil {
		return pointer, -1
	}
	return pointer[:i], int(n)
}

// Unpoint takes back the escapes of a JSON pointer.
var Unpoint = strings.NewReplacer("~1", "/", "~0", "~")

// descend follows a JSON pointer. A text that is JSON itself is gone into as if it stood there as such.
func descend(v *mutate.JSON, pointer string) *mutate.JSON {
	for pointer != "" && v != nil {
		if text, ok := v.Str(); ok {
			inner, err := mutate.ParseJSON([]byte(text))
			if err != nil {
				return nil
			}
			v = inner
			continue
		}
		if pointer[0] != '/' {
			return nil
		}
		name := pointer[1:]
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name = name[:i]
		}
		pointer = pointer[1+len(name):]
		switch v.Kind {
		case mutate.Object:
			v = v.Get(Unpoint.Replace(name))
		case mutate.Array:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(v.Items) {
				return nil
			}
			v = v.Items[n]
		default:
			return nil
		}
	}
	return v
}

// NthToken returns the n-th token of a text: a run of letters, digits and _ . : - that has a digit in it or is longer
// than two. Full stops and colons at its end are the sentence's.
func NthToken(text string, n int) (string, bool) {
	for text != "" {
		var token string
		token, text = NextToken(text)
		if token == "" {
			break
		}
		if n == 0 {
			return token, true
		}
		n--
	}
	return "", false
}

// NextToken returns the first token of a text and what follows it.
func NextToken(text string) (token, rest string) {
	for text != "" {
		start := strings.IndexFunc(text, isTokenRune)
		if start < 0 {
			return "", ""
		}
		text = text[start:]
		end := strings.IndexFunc(text, func(r rune) bool { return !isTokenRune(r) })
		if end < 0 {
			end = len(text)
		}
		token, text = strings.TrimRight(text[:end], ".:"), text[end:]
		if len(token) > 2 || strings.ContainsAny(token, "0123456789") {
			return token, text
		}
	}
	return "", ""
}

func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == ':' || r == '-'
}
