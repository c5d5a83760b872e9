package observe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Note is what a script's answers offer for later steps: values that can be captured, and words.
type Note struct {
	Captures []Capture // by step, then in document order
	Words    []string  // that answers and error messages have in them and that were not sent, in order of arrival

	Asked []Question `json:",omitempty"` // that a client can answer otherwise
}

// Capture is a value in the answer to a step.
type Capture struct {
	Step    int
	Pointer string // as it stands in a placeholder: a JSON pointer, perhaps with #N
	Value   string // what it stood for, at most 64 bytes of it
}

// Bounds of a note.
const (
	maxCaptures   = 32 // for one step
	maxTokens     = 8  // for one text
	maxWords      = 64
	maxWord       = 64
	maxNotedSteps = 16
)

// NewNote collects what the answers of a script offer for later steps.
func NewNote(t *script.Transcript) *Note {
	n := new(Note)
	known := map[string]bool{}
	n.questions(t)
	for i := range t.Sent {
		s := &t.Sent[i]
		if s.Answer < 0 || s.Step >= maxNotedSteps || i > 0 && t.Sent[i-1].Step == s.Step {
			continue
		}
		m := &t.Received[s.Answer].Message
		if m.Result != nil {
			n.AddCaptures(s.Step, m.Result)
			n.words(t, known, m.Result)
		}
		if m.Error != nil {
			n.words(t, known, m.Error)
		}
	}
	return n
}

// AddCaptures lists what the result of a step has in it: scalar values, the tokens of texts, and what is inside texts
// that are JSON themselves.
func (n *Note) AddCaptures(step int, result *mutate.JSON) {
	first := len(n.Captures)
	add := func(pointer, value string) bool {
		if len(n.Captures)-first >= maxCaptures {
			return false
		}
		if !strings.ContainsRune(pointer, '}') {
			n.Captures = append(n.Captures, Capture{step, pointer, value[:min(len(value), maxWord)]})
		}
		return true
	}
	visitScalars("", result, func(pointer string, v *mutate.JSON) bool {
		text, ok := v.Str()
		if !ok {
			return add(pointer, v.Text)
		}
		if inner, err := mutate.ParseJSON([]byte(text)); err == nil && (inner.Kind == mutate.Object || inner.Kind == mutate.Array) {
			more := true
			visitScalars(pointer, inner, func(pointer string, v *mutate.JSON) bool {
				more = add(pointer, script.ValueText(v))
				return more
			})
			return more
		}
		if !add(pointer, text) {
			return false
		}
		if len(text) > session.MaxNotedText {
			return true
		}
		for i := range maxTokens {
			token, ok := script.NthToken(text, i)
			if !ok || token == text {
				break
			}
			if !add(pointer+"#"+strconv.Itoa(i), token) {
				return false
			}
		}
		return true
	})
}

// visitScalars visits the strings and numbers of a tree, in document order, until visit says no.
func visitScalars(pointer string, v *mutate.JSON, visit func(string, *mutate.JSON) bool) bool {
	if v == nil {
		return true
	}
	switch v.Kind {
	case mutate.String, mutate.Number:
		return visit(pointer, v)
	case mutate.Array:
		for i, item := range v.Items {
			if !visitScalars(pointer+"/"+strconv.Itoa(i), item, visit) {
				return false
			}
		}
	case mutate.Object:
		for i := range v.Members {
			if !visitScalars(pointer+"/"+PointerName.Replace(v.Members[i].Name), v.Members[i].Value, visit) {
				return false
			}
		}
	}
	return true
}

// PointerName escapes a name for a JSON pointer.
var PointerName = strings.NewReplacer("~", "~0", "/", "~1")

// words collects tokens of the strings in v that are not our own echo.
func (n *Note) words(t *script.Transcript, known map[string]bool, v *mutate.JSON) {
	visitScalars("", v, func(_ string, v *mutate.JSON) bool {
		text, ok := v.Str()
		if !ok {
			return true
		}
		text = text[:min(len(text), session.MaxNotedText)]
		for len(n.Words) < maxWords {
			var token string
			if token, text = script.NextToken(text); token == "" {
				break
			}
			if len(token) > maxWord || known[token] {
				continue
			}
			known[token] = true
			if !t.Sends(token) {
				n.Words = append(n.Words, token)
			}
		}
		return len(n.Words) < maxWords
	})
}

// NoteCodec stores notes with their testcases.
type NoteCodec struct{}

var _ teasel.NoteCodec = NoteCodec{}

// storedNote is a note on disk.
type storedNote struct {
	Version int `json:"teasel-note"`
	*Note
}

// EncodeNote implements [teasel.NoteCodec].
func (NoteCodec) EncodeNote(note any) ([]byte, error) {
	n, ok := note.(*Note)
	if !ok {
		return nil, fmt.Errorf("a note of type %T", note)
	}
	return json.Marshal(storedNote{1, n})
}

// DecodeNote implements [teasel.NoteCodec].
func (NoteCodec) DecodeNote(data []byte) (any, error) {
	s := storedNote{Note: new(Note)}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Version != 1 {
		return nil, fmt.Errorf("version %d of the format: expected 1", s.Version)
	}
	return s.Note, nil
}

// Names reports whether the value goes by the name of a property: "job_id" is that of /job_id, of /job/id and of
// /jobs/0/id, "queue" that of /queues/0/name.
func (c *Capture) Names(property string) bool {
	pointer, _ := script.CutToken(c.Pointer)
	path := strings.Split(pointer, "/")
	last := path[len(path)-1]
	if last == property {
		return true
	}
	words := session.SplitWords(property)
	switch {
	case len(words) > 1 && last == words[len(words)-1]:
	case len(words) == 1 && (last == "id" || last == "name" || last == "key"):
	default:
		return false
	}
	return slices.ContainsFunc(path[:len(path)-1], func(part string) bool { return strings.HasPrefix(strings.ToLower(part), words[0]) })
}

const MaxLearned = 8 // values of one name

// ofTheProtocol is where a result has what every result has, or a text as it stands.
var ofTheProtocol = regexp.MustCompile(`^/contents?/\d+/(text|type|mimeType|blob|data)(#\d+)?$|#\d+$`)

// ByName sorts the captures by the arguments whose names they go by.
func (n *Note) ByName(arguments map[string][]string) map[string][]string {
	learned := make(map[string][]string)
	for i := range n.Captures {
		c := &n.Captures[i]
		if c.Value == "" || len(c.Value) > session.MaxSpoken || ofTheProtocol.MatchString(c.Pointer) {
			continue
		}
		for name, called := range arguments {
			if known := learned[name]; slices.ContainsFunc(called, c.Names) && len(known) < MaxLearned && !slices.Contains(known, c.Value) {
				learned[name] = append(known, c.Value)
			}
		}
	}
	return learned
}
