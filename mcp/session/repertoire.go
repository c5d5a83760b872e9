package session

import (
	"context"
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// Skip is something that is not fuzzed as it should be, and why.
type Skip struct {
	Subject string // "tools/call divide"
	Reason  string
}

// Catalog is what can be said to one server: its session, made ready. It does not change once it is made and is
// shared by all workers.
type Catalog struct {
	Session     *Session
	Tools       []*Operation // that may be called, by name
	FormatTexts []string     // texts that a format string fills in, which depend on the tools
	Skipped     []Skip
	Words       []string // of the session: names, enum values, URIs
	Observed    Vocabulary
	Dictionary  *mutate.Dictionary
	Methods     []string // requests that the server ought to know
}

// Operation is a tool with what calling it takes.
type Operation struct {
	*Tool
	Traits
	Schema *schema.Schema // nil: it cannot be met
	Plain  *mutate.JSON   // conform arguments, few and small
	Full   *mutate.JSON   // conform arguments, most properties present
	Texts  []string       // pointers into full of strings that may be anything
	Broken []*mutate.JSON // arguments that break the schema, one for each way that was found
}

// NewCatalog prepares a session. The dictionary may be nil. The error is the context's.
func NewCatalog(ctx context.Context, s *Session, choice *Choice, dict *mutate.Dictionary) (*Catalog, error) {
	b := &Catalog{Session: s, Dictionary: dict}
	for i := range choice.Tools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := b.Prepare(&choice.Tools[i])
		c.inform(s.Learned)
		c.breakSchema()
		b.Tools = append(b.Tools, c)
	}
	b.Methods = declaredMethods(s)
	b.Words = sessionWords(s)
	b.Observed = ReadVocabulary(s)
	b.FormatTexts = formatTexts(b.Tools)
	return b, nil
}

// FixedRand is a generator for what is drawn once and for all.
func FixedRand(stream uint64) *teasel.Rand { return rand.New(rand.NewPCG(0x7ea5e1, stream)) }

// Prepare compiles the schema of a tool and draws its examples. What is wrong with the schema is noted in Skipped.
func (b *Catalog) Prepare(t *Tool) *Operation {
	c := &Operation{Tool: t, Traits: TraitsOf(t)}
	text := []byte(`{"type":"object"}`)
	if t.InputSchema != nil {
		text = t.InputSchema.Append(nil)
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		b.Skipped = append(b.Skipped, Skip{Subject: "tools/call " + t.Name, Reason: err.Error()})
		c.Plain, c.Full = mutate.NewObject(), guessArguments(t.InputSchema)
		c.Texts = StringLeaves(c.Full)
		return c
	}
	for _, part := range compiled.Unmet() {
		b.Skipped = append(b.Skipped, Skip{Subject: "tools/call " + t.Name, Reason: part.Error()})
	}
	c.Schema = compiled
	c.exemplify()
	return c
}

// ExampleCount is how many conform values are drawn to find a small and a full one.
const ExampleCount = 24

func (c *Operation) exemplify() {
	r := FixedRand(1)
	drawn := make(map[string][]string) // by pointer, the distinct texts
	for range ExampleCount {
		v, _ := c.Schema.Generate(r, schema.Conform)
		if v.Kind != mutate.Object {
			continue
		}
		c.DropExtras(v)
		if c.Plain == nil || weight(v) < weight(c.Plain) {
			c.Plain = v
		}
		if n := v.Len(); c.Full == nil || n > c.Full.Len() && n <= 64 {
			c.Full = v
		}
		v.Walk(func(pointer string, leaf *mutate.JSON) bool {
			if leaf.Kind == mutate.String && !slices.Contains(drawn[pointer], leaf.Text) {
				drawn[pointer] = append(drawn[pointer], leaf.Text)
			}
			return true
		})
	}
	if c.Plain == nil {
		c.Plain, c.Full = mutate.NewObject(), mutate.NewObject()
	}
	c.findTexts(drawn)
}

// maxTextNodes bounds what findTexts validates, in nodes: each string is tried in arguments that are validated as a whole,
// which would take a schema of thousands of strings minutes.
const maxTextNodes = 1 << 18

// findTexts notes the strings that may be anything, of arguments with very many strings those among the first ones.
func (c *Operation) findTexts(drawn map[string][]string) {
	size := nodes(c.Full)
	left := maxTextNodes
	for _, pointer := range StringLeaves(c.Full) {
		if left -= size; left < 0 {
			return
		}
		if c.takesAnyText(pointer) || len(drawn[pointer]) >= 8 {
			c.Texts = append(c.Texts, pointer)
		}
	}
}

// nodes returns how many values there are in one, itself included.
func nodes(v *mutate.JSON) (n int) {
	v.Walk(func(string, *mutate.JSON) bool { n++; return true })
	return n
}

// DropExtras takes out the members that the schema does not name, if that leaves the arguments conform.
func (c *Operation) DropExtras(v *mutate.JSON) {
	properties := c.InputSchema.Get("properties")
	had := v.Members
	v.Members = slices.DeleteFunc(slices.Clone(had), func(m mutate.Member) bool { return properties.Get(m.Name) == nil })
	if len(v.Members) < len(had) && c.Schema.Validate(v) != nil {
		v.Members = had
	}
}

// How many ways to break a schema are kept, and of how many values they consist together, about: drawing them costs more
// than sending them.
const (
	maxBroken      = 512
	maxBrokenNodes = 1 << 16
)

// breakSchema draws arguments that break the schema, if there is one.
func (c *Operation) breakSchema() {
	if c.Schema == nil {
		return
	}
	r := FixedRand(2)
	violations := c.Schema.Violations()
	most := min(maxBroken, 1+maxBrokenNodes/nodes(c.Full))
	for _, v := range violations[:min(most, len(violations))] {
		c.Broken = append(c.Broken, c.Schema.Break(r, v))
	}
}

func weight(v *mutate.JSON) int { return 16*v.Len() + len(v.Append(nil)) }

// takesAnyText reports whether the schema lets a string be what it likes, apart from its form.
func (c *Operation) takesAnyText(pointer string) bool {
	v := c.Full.Clone()
	leaf := v.At(pointer)
	for _, text := range []string{"teasel", "file:///teasel", "teasel@localhost", "2020-02-02", "127.0.0.1"} {
		leaf.Text = text
		if c.Schema.Validate(v) == nil {
			return true
		}
	}
	return false
}

// With returns the full arguments with one string replaced.
func (c *Operation) With(pointer, text string) *mutate.JSON { return WithText(c.Full, pointer, text) }

// WithText returns a copy of arguments with a text in one place.
func WithText(arguments *mutate.JSON, pointer, text string) *mutate.JSON {
	v := arguments.Clone()
	if leaf := v.At(pointer); leaf != nil {
		*leaf = *mutate.NewString(text)
	}
	return v
}

// StringLeaves returns JSON pointers to all strings in a value.
func StringLeaves(v *mutate.JSON) (pointers []string) {
	v.Walk(func(pointer string, leaf *mutate.JSON) bool {
		if leaf.Kind == mutate.String {
			pointers = append(pointers, pointer)
		}
		return true
	})
	return pointers
}

// maxLength is what numbers without a maximum are made in [Operation.Lengthy].
const maxLength = 100

// Lengthy returns conform arguments that keep the tool busy for longer than others: all that there are, with numbers as
// large as they may be.
func (c *Operation) Lengthy() *mutate.JSON {
	v := c.Full.Clone()
	properties := c.InputSchema.Get("properties")
	for i := range v.Members {
		m := &v.Members[i]
		if m.Value == nil || m.Value.Kind != mutate.Number {
			continue
		}
		was, most := m.Value, properties.Get(m.Name).Get("maximum")
		if most == nil || most.Kind != mutate.Number || len(most.Text) > len("10000") {
			most = mutate.NewInt(maxLength)
		}
		if m.Value = most.Clone(); c.Schema != nil && c.Schema.Validate(v) != nil {
			m.Value = was
		}
	}
	return v
}

// guessArguments makes arguments for a schema that cannot be compiled: each property by its type.
func guessArguments(s *mutate.JSON) *mutate.JSON {
	v := mutate.NewObject()
	properties := s.Get("properties")
	if properties == nil {
		return v
	}
	for _, m := range properties.Members {
		value := mutate.NewString("a")
		switch kind, _ := m.Value.Get("type").Str(); kind {
		case "integer", "number":
			value = mutate.NewInt(1)
		case "boolean":
			value = mutate.NewBool(true)
		case "array":
			value = mutate.NewArray()
		case "object":
			value = mutate.NewObject()
		}
		v.Set(m.Name, value)
	}
	return v
}

// Find returns the callable tool of that name, nil if there is none.
func (b *Catalog) Find(name string) *Operation {
	i, ok := slices.BinarySearchFunc(b.Tools, name, func(c *Operation, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil
	}
	return b.Tools[i]
}

// CapabilityOf names what a server has to declare for a method; "": nothing.
func CapabilityOf(method string) string {
	switch group, _, _ := strings.Cut(method, "/"); group {
	case "tools", "resources", "prompts", "logging", "tasks":
		return group
	case "completion":
		return "completions"
	}
	return ""
}

func declaredMethods(s *Session) (declared []string) {
	for _, m := range Methods {
		if m == "initialize" {
			continue
		}
		if c := CapabilityOf(m); c == "" || s.Has(c) {
			declared = append(declared, m)
		}
	}
	return declared
}

// sessionWords collects what the server's own lists contain and might be wanted as an argument.
func sessionWords(s *Session) (words []string) {
	seen := make(map[string]bool)
	add := func(w string) {
		if w != "" && len(w) <= 200 && !seen[w] && len(words) < 512 {
			seen[w] = true
			words = append(words, w)
		}
	}
	for i := range s.Tools {
		enumWords(s.Tools[i].InputSchema, add)
	}
	for _, list := range [][]Resource{s.Resources, s.Templates} {
		for i := range list {
			add(list[i].URI)
			add(list[i].Name)
		}
	}
	for i := range s.Prompts {
		add(s.Prompts[i].Name)
		for _, a := range s.Prompts[i].Arguments {
			add(a.Name)
		}
	}
	return words
}

// enumWords passes on the strings that a schema holds as values and the names of its properties.
func enumWords(s *mutate.JSON, add func(string)) {
	s.Walk(func(_ string, v *mutate.JSON) bool {
		for _, m := range v.Members {
			switch m.Name {
			case "properties":
				if m.Value != nil {
					for _, p := range m.Value.Members {
						add(p.Name)
					}
				}
			case "enum", "examples":
				if m.Value != nil {
					for _, item := range m.Value.Items {
						if text, ok := item.Str(); ok {
							add(text)
						}
					}
				}
			case "const", "default":
				if text, ok := m.Value.Str(); ok {
					add(text)
				}
			}
		}
		return true
	})
}

// Base64 is text in base64, as servers like to make cursors.
func Base64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// Call returns a request with the plain arguments.
func (c *Operation) Call() []byte { return CallLine(c.Name, c.Plain) }

// CallWith returns a request with the given arguments.
func (c *Operation) CallWith(arguments *mutate.JSON) []byte { return CallLine(c.Name, arguments) }

// Version is what a handshake of ours asks for.
func (b *Catalog) Version() string {
	if b.Session.Version != "" {
		return b.Session.Version
	}
	return Versions[len(Versions)-1]
}
