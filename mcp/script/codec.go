package script

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Codec writes scripts as JSON that a person can read and edit, one step a line:
//
//	{"teasel-script":1,"start":"shared","steps":[
//	{"send":{"jsonrpc":"2.0","id":"@id","method":"ping"}},
//	{"text":"{bad","nowait":true},
//	{"base64":"/w=="}]}
//
// "send" holds a line that is compact JSON which every reader takes, as it stands; "text" any other UTF-8, "base64" the rest. A step may also
// have "nowait", "nonewline", "close" (all booleans), "head" (over HTTP, changes to the head of its request, a line each),
// "asked" (the method of the server's request that it answers) and "times" (an integer); a script may have "check". A file that
// was indented anew means the same.
type Codec struct{}

var _ teasel.Codec[Script] = Codec{}

const codecVersion = 1

// Bounds of a line that stands in a file as it is: many readers, such as Python's, take no value that is nested deeper than their stack,
// and no number that is longer.
const (
	maxSendDepth  = 200
	maxSendDigits = 300
)

var startNames = [...]string{StartInvalid: "", Shared: "shared", Fresh: "fresh"}

// Encode writes a script. It is an error when Start is invalid.
func (Codec) Encode(in Script) ([]byte, error) {
	if in.Start != Shared && in.Start != Fresh {
		return nil, fmt.Errorf("encoding a script: start %d is neither shared nor fresh", in.Start)
	}
	size := 64
	for i := range in.Steps {
		size += len(in.Steps[i].Line) + 32
	}
	b := make([]byte, 0, size)
	b = append(b, `{"teasel-script":1,"start":"`...)
	b = append(b, startNames[in.Start]...)
	b = append(b, '"')
	if in.Check != "" {
		b = append(b, `,"check":`...)
		b = mutate.NewString(in.Check).Append(b)
	}
	b = append(b, `,"steps":[`...)
	for i := range in.Steps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		b = in.Steps[i].appendTo(b)
	}
	return append(b, "]}"...), nil
}

func (s *Step) appendTo(b []byte) []byte {
	switch {
	case isCompact(s.Line):
		b = append(b, `{"send":`...)
		b = append(b, s.Line...)
	case utf8.Valid(s.Line):
		b = append(b, `{"text":`...)
		b = mutate.NewString(string(s.Line)).Append(b)
	default:
		b = append(b, `{"base64":"`...)
		b = base64.StdEncoding.AppendEncode(b, s.Line)
		b = append(b, '"')
	}
	if s.NoWait {
		b = append(b, `,"nowait":true`...)
	}
	if s.NoNewline {
		b = append(b, `,"nonewline":true`...)
	}
	if s.Close {
		b = append(b, `,"close":true`...)
	}
	if s.Head != "" {
		b = append(b, `,"head":`...)
		b = mutate.NewString(s.Head).Append(b)
	}
	if s.Asked != "" {
		b = append(b, `,"asked":`...)
		b = mutate.NewString(s.Asked).Append(b)
	}
	if s.Times != 0 {
		b = append(b, `,"times":`...)
		b = strconv.AppendInt(b, int64(s.Times), 10)
	}
	return append(b, '}')
}

// isCompact reports whether decoding a file that has the line in it gives the line back.
func isCompact(line []byte) bool {
	if len(line) == 0 || !utf8.Valid(line) || isExtreme(line) {
		return false
	}
	var b bytes.Buffer
	b.Grow(len(line))
	return json.Compact(&b, line) == nil && bytes.Equal(b.Bytes(), line)
}

// isExtreme reports whether JSON is nested deeper, or has a longer number, than some readers take.
func isExtreme(line []byte) bool {
	depth, digits := 0, 0
	quoted, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
		case c == ']', c == '}':
			depth--
		case c >= '0' && c <= '9':
			if digits++; digits > maxSendDigits {
				return true
			}
			continue
		}
		digits = 0
		if depth > maxSendDepth {
			return true
		}
	}
	return false
}

// Decode reads what Encode wrote, or what somebody wrote by hand. An error says where it is, what stands there and what
// was expected.
func (Codec) Decode(data []byte) (Script, error) {
	root, err := mutate.ParseJSON(data)
	if err != nil {
		return Script{}, fmt.Errorf("reading a script: %w", locate(data, err))
	}
	in, err := decodeScript(root)
	if err != nil {
		return Script{}, fmt.Errorf("reading a script: %w", err)
	}
	return in, nil
}

// locate says in which line the text stops being JSON.
func locate(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		return err
	}
	before := data[:min(int(syntax.Offset), len(data))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, column %d: expected JSON: %w", line, max(column, 1), syntax)
}

func decodeScript(root *mutate.JSON) (in Script, err error) {
	in.Start = Shared
	if root.Kind != mutate.Object {
		return in, fmt.Errorf("found %s, expected an object with the key \"teasel-script\"", describe(root))
	}
	if root.Get("teasel-script") == nil {
		return in, errors.New(`the key "teasel-script" is missing, expected "teasel-script":1`)
	}
	steps := root.Get("steps")
	if steps == nil {
		return in, errors.New(`the key "steps" is missing, expected an array of steps`)
	}
	for _, m := range root.Members {
		switch m.Name {
		case "teasel-script":
			if n, ok := m.Value.Int(); !ok || n != codecVersion {
				return in, fmt.Errorf("teasel-script is %s, expected %d", describe(m.Value), codecVersion)
			}
		case "start":
			if in.Start, err = decodeStart(m.Value); err != nil {
				return in, err
			}
		case "check":
			var ok bool
			if in.Check, ok = m.Value.Str(); !ok {
				return in, fmt.Errorf("check is %s, expected a string", describe(m.Value))
			}
		case "steps":
			if m.Value.Kind != mutate.Array {
				return in, fmt.Errorf("steps is %s, expected an array", describe(m.Value))
			}
		default:
			return in, fmt.Errorf("unknown key %q, expected teasel-script, start, check or steps", m.Name)
		}
	}
	in.Steps = make([]Step, len(steps.Items))
	for i, item := range steps.Items {
		if err := in.Steps[i].decode(item); err != nil {
			return in, fmt.Errorf("step %d: %w", i, err)
		}
		if in.Steps[i].Close && in.Start != Fresh {
			return in, fmt.Errorf(`step %d: close is true, expected that only with "start":"fresh"`, i)
		}
	}
	return in, nil
}

func decodeStart(v *mutate.JSON) (Start, error) {
	switch s, _ := v.Str(); s {
	case "shared":
		return Shared, nil
	case "fresh":
		return Fresh, nil
	}
	return StartInvalid, fmt.Errorf(`start is %s, expected "shared" or "fresh"`, describe(v))
}

func (s *Step) decode(v *mutate.JSON) (err error) {
	if v.Kind != mutate.Object {
		return fmt.Errorf("found %s, expected an object", describe(v))
	}
	lines := 0
	for _, m := range v.Members {
		switch m.Name {
		case "send", "text", "base64":
			lines++
			s.Line, err = decodeLine(m.Name, m.Value)
		case "nowait":
			s.NoWait, err = decodeFlag(m)
		case "nonewline":
			s.NoNewline, err = decodeFlag(m)
		case "close":
			s.Close, err = decodeFlag(m)
		case "head":
			s.Head, err = decodeText(m)
		case "asked":
			if s.Asked, err = decodeText(m); err == nil && s.Asked == "" {
				err = errors.New("asked is empty, expected the method of a server's request, such as \"sampling/createMessage\"")
			}
		case "times":
			n, ok := m.Value.Int()
			if !ok || n < 0 || n > MaxTimes {
				return fmt.Errorf("times is %s, expected an integer from 0 to %d", describe(m.Value), MaxTimes)
			}
			s.Times = int(n)
		default:
			return fmt.Errorf("unknown key %q, expected send, text, base64, nowait, nonewline, close, head, asked or times", m.Name)
		}
		if err != nil {
			return err
		}
	}
	if lines != 1 {
		return fmt.Errorf("has %d of the keys send, text and base64, expected one", lines)
	}
	return nil
}

// MaxTimes bounds what a file may ask of a server.
const MaxTimes = 1_000_000

func decodeLine(key string, v *mutate.JSON) ([]byte, error) {
	if key == "send" {
		return v.Append(nil), nil
	}
	s, ok := v.Str()
	if !ok {
		return nil, fmt.Errorf("%s is %s, expected a string", key, describe(v))
	}
	if key == "text" {
		return []byte(s), nil
	}
	line, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("base64 is %s, expected standard base64: %w", describe(v), err)
	}
	return line, nil
}

func decodeText(m mutate.Member) (string, error) {
	s, ok := m.Value.Str()
	if !ok {
		return "", fmt.Errorf("%s is %s, expected a string", m.Name, describe(m.Value))
	}
	return s, nil
}

func decodeFlag(m mutate.Member) (bool, error) {
	if m.Value == nil || m.Value.Kind != mutate.Bool {
		return false, fmt.Errorf("%s is %s, expected true or false", m.Name, describe(m.Value))
	}
	return m.Value.Text == "true", nil
}

// describe shows a value in an error, shortened.
func describe(v *mutate.JSON) string {
	text := v.String()
	if len(text) > 40 {
		text = text[:40] + "..."
	}
	return text
}
