package script

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// An Expansion replaces the placeholders of one line. See [Script] for what they stand for.
type Expansion struct {
	Transcript *Transcript // what the script has said and heard so far
	Canary     *Canary     // nil: none
	Huge       bool        // HugeText is as long as it can be
	IDs        *int64      // the id that was given out last
	Asked      *Question   // what the line answers; nil: what the server has asked last
	Began      time.Time   // when the script did, for what is unique to this execution
	Unresolved bool        // a placeholder had nothing to stand for
}

const freshID = `@id"`

// The placeholders for what the server has asked: `"@asked"`, quotes included, is the id of its request, "@{asked:/pointer}" a part of
// what it wants to know, "@{altered:/pointer}" a text there with another letter or digit in it, and "@{fill:VALUE}" its form with that value,
// as JSON, in each field.
const (
	askedID      = `@asked"`
	askedPart    = "@{asked:"
	askedAltered = "@{altered:"
	askedForm    = "@{fill:"
)

// A Question is what a server asks of a client.
type Question struct {
	ID   string       // as JSON; "": it asks in the result of a request
	Body *mutate.JSON // the parameters of its request, or that result
}

// Append appends the line with its placeholders replaced.
func (x *Expansion) Append(dst, line []byte) []byte {
	for {
		i := bytes.IndexByte(line, '@')
		if i < 0 {
			return append(dst, line...)
		}
		if out, rest, ok := x.appendAsked(dst, line, i); ok {
			dst, line = out, rest
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
		if bytes.HasPrefix(line[i:], []byte(Unique)) {
			dst = strconv.AppendInt(append(dst, line[:i]...), x.Began.UnixNano(), 36)
			line = line[i+len(Unique):]
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
		dst, line = appendValue(dst, line, from, to, value)
	}
}

// appendAsked appends the line as far as a placeholder at i for an id, or for what the server has asked, and what stands for that. ok is false if
// there is none.
func (x *Expansion) appendAsked(dst, line []byte, i int) (out, rest []byte, ok bool) {
	if quoted := i > 0 && line[i-1] == '"'; quoted && bytes.HasPrefix(line[i:], []byte(freshID)) {
		*x.IDs++
		return strconv.AppendInt(append(dst, line[:i-1]...), *x.IDs, 10), line[i+len(freshID):], true
	} else if quoted && bytes.HasPrefix(line[i:], []byte(askedID)) {
		return append(append(dst, line[:i-1]...), x.question().ID...), line[i+len(askedID):], true
	}
	end := i + bytes.IndexByte(line[i:], '}')
	switch {
	case end <= i:
		return dst, line, false
	case bytes.HasPrefix(line[i:], []byte(askedPart)):
		dst, line = appendValue(dst, line, i, end+1, x.part(x.question().Body, line[i+len(askedPart):end]))
	case bytes.HasPrefix(line[i:], []byte(askedAltered)):
		v := x.part(x.question().Body, line[i+len(askedAltered):end])
		if v != nil {
			v = mutate.NewString(altered(ValueText(v)))
		}
		dst, line = appendValue(dst, line, i, end+1, v)
	case bytes.HasPrefix(line[i:], []byte(askedForm)):
		dst, line = appendValue(dst, line, i, end+1, x.filled(unquote(line[i+len(askedForm):end])))
	default:
		return dst, line, false
	}
	return dst, line, true
}

// appendValue appends a line up to the placeholder in it, and a value in its place: without the quotes around the placeholder if it is
// no text. It returns what is left of the line.
func appendValue(dst, line []byte, from, to int, value *mutate.JSON) (out, rest []byte) {
	if value != nil && value.Kind != mutate.String && from > 0 && line[from-1] == '"' && to < len(line) && line[to] == '"' {
		return value.Append(append(dst, line[:from-1]...)), line[to+1:]
	}
	dst = append(dst, line[:from]...)
	if value != nil {
		dst = appendInside(dst, ValueText(value))
	}
	return dst, line[to:]
}

// question returns what the line answers. Where nothing was asked its id is 0, which nobody has.
func (x *Expansion) question() *Question {
	if x.Asked != nil {
		return x.Asked
	}
	t := x.Transcript
	for i := len(t.Received) - 1; i >= 0; i-- {
		if m := &t.Received[i].Message; m.Class == jsonrpc.ClassRequest {
			return &Question{ID: m.ID, Body: m.Params}
		}
	}
	x.Unresolved = true
	return &Question{ID: "0"}
}

// Head returns a step's head with its references replaced.
func (x *Expansion) Head(head string) string {
	ref, ok := NextReference([]byte(head), 0)
	if !ok {
		return head
	}
	var out []byte
	done := 0
	for line := []byte(head); ok; ref, ok = NextReference(line, done) {
		out = append(out, head[done:ref.whole[0]]...)
		if ref.id {
			out = x.appendID(out, ref.step, false)
		} else if v := x.Capture(ref.step, line[ref.end+1:ref.whole[1]-1]); v != nil {
			out = append(out, ValueText(v)...)
		}
		done = ref.whole[1]
	}
	return string(append(out, head[done:]...))
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
		{CanarySibling, (*Canary).Sibling}, {CanarySibRel, (*Canary).RelativeSibling}, {CanaryLink, (*Canary).Link},
		{CanaryBeside, (*Canary).Beside}, {CanaryRoot, (*Canary).Root}} {
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
	sent := x.sent(step)
	if path, _ := CutToken(unquote(pointer)); path != "" && path[0] != '/' {
		if v = headOf(sent, path); v == nil {
			x.Unresolved = true
		}
		return v
	}
	if sent != nil && sent.Answer >= 0 {
		v = x.Transcript.Received[sent.Answer].Message.Result
	}
	return x.part(v, pointer)
}

// filled returns the form that the server has asked for, with a value in each field; nil: there is none.
func (x *Expansion) filled(value string) *mutate.JSON {
	v, err := mutate.ParseJSON([]byte(value))
	fields := x.question().Body.Get("requestedSchema").Get("properties")
	if err != nil || fields == nil {
		x.Unresolved = true
		return nil
	}
	form := mutate.NewObject()
	for i := range fields.Members {
		form.Set(fields.Members[i].Name, v)
	}
	return form
}

// part returns what stands in a value at a pointer; nil: nothing does.
func (x *Expansion) part(v *mutate.JSON, pointer []byte) *mutate.JSON {
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

// lastEventID is the head by which a client asks for the rest of a stream.
const lastEventID = "Last-Event-ID"

// headOf returns what the head of the response to a line has under a name; nil: nothing. [lastEventID] is what a
// request has there that wants the stream from its first event on.
func headOf(sent *Sent, name string) *mutate.JSON {
	text := ""
	switch {
	case sent == nil:
	case strings.EqualFold(name, lastEventID):
		text = sent.EventID
	default:
		text = sent.Header.Get(name)
	}
	if text == "" {
		return nil
	}
	return mutate.NewString(text)
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
