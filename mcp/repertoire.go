package mcp

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

// repertoire is what can be said to one server: its session, made ready. It does not change once it is made and is
// shared by all workers.
type repertoire struct {
	session      *Session
	tools        []*callable // that may be called, by name
	placeholders []string    // texts that a format string fills in, which depend on the tools
	skipped      []Skip
	words        []string // of the session: names, enum values, URIs
	spoken       vocabulary
	dict         *mutate.Dictionary
	methods      []string // requests that the server ought to know
}

// callable is a tool with what calling it takes.
type callable struct {
	*Tool
	Traits
	schema *schema.Schema // nil: it cannot be met
	plain  *mutate.JSON   // conform arguments, few and small
	full   *mutate.JSON   // conform arguments, most properties present
	texts  []string       // pointers into full of strings that may be anything
	broken []*mutate.JSON // arguments that break the schema, one for each way that was found
}

// readSession prepares a session. The dictionary may be nil. The error is the context's.
func readSession(ctx context.Context, s *Session, choice *Choice, dict *mutate.Dictionary) (*repertoire, error) {
	b := &repertoire{session: s, dict: dict}
	for i := range choice.Tools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := b.prepare(&choice.Tools[i])
		c.inform(s.Learned)
		c.breakSchema()
		b.tools = append(b.tools, c)
	}
	b.methods = declaredMethods(s)
	b.words = sessionWords(s)
	b.spoken = readVocabulary(s)
	b.placeholders = placeholders(b.tools)
	return b, nil
}

// fixedRand is a generator for what is drawn once and for all.
func fixedRand(stream uint64) *teasel.Rand { return rand.New(rand.NewPCG(0x7ea5e1, stream)) }

func (b *repertoire) prepare(t *Tool) *callable {
	c := &callable{Tool: t, Traits: TraitsOf(t)}
	text := []byte(`{"type":"object"}`)
	if t.InputSchema != nil {
		text = t.InputSchema.Append(nil)
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		b.skipped = append(b.skipped, Skip{Subject: "tools/call " + t.Name, Reason: err.Error()})
		c.plain, c.full = mutate.NewObject(), guessArguments(t.InputSchema)
		c.texts = stringLeaves(c.full)
		return c
	}
	for _, part := range compiled.Unmet() {
		b.skipped = append(b.skipped, Skip{Subject: "tools/call " + t.Name, Reason: part.Error()})
	}
	c.schema = compiled
	c.exemplify()
	return c
}

// examples is how many conform values are drawn to find a small and a full one.
const examples = 24

func (c *callable) exemplify() {
	r := fixedRand(1)
	drawn := make(map[string][]string) // by pointer, the distinct texts
	for range examples {
		v, _ := c.schema.Generate(r, schema.Conform)
		if v.Kind != mutate.Object {
			continue
		}
		c.dropExtras(v)
		if c.plain == nil || weight(v) < weight(c.plain) {
			c.plain = v
		}
		if n := v.Len(); c.full == nil || n > c.full.Len() && n <= 64 {
			c.full = v
		}
		v.Walk(func(pointer string, leaf *mutate.JSON) bool {
			if leaf.Kind == mutate.String && !slices.Contains(drawn[pointer], leaf.Text) {
				drawn[pointer] = append(drawn[pointer], leaf.Text)
			}
			return true
		})
	}
	if c.plain == nil {
		c.plain, c.full = mutate.NewObject(), mutate.NewObject()
	}
	c.findTexts(drawn)
}

// maxTextNodes bounds what findTexts validates, in nodes: each string is tried in arguments that are validated as a whole,
// which would take a schema of thousands of strings minutes.
const maxTextNodes = 1 << 18

// findTexts notes the strings that may be anything, of arguments with very many strings those among the first ones.
func (c *callable) findTexts(drawn map[string][]string) {
	size := nodes(c.full)
	left := maxTextNodes
	for _, pointer := range stringLeaves(c.full) {
		if left -= size; left < 0 {
			return
		}
		if c.takesAnyText(pointer) || len(drawn[pointer]) >= 8 {
			c.texts = append(c.texts, pointer)
		}
	}
}

// nodes returns how many values there are in one, itself included.
func nodes(v *mutate.JSON) (n int) {
	v.Walk(func(string, *mutate.JSON) bool { n++; return true })
	return n
}

// dropExtras takes out the members that the schema does not name, if that leaves the arguments conform.
func (c *callable) dropExtras(v *mutate.JSON) {
	properties := c.InputSchema.Get("properties")
	had := v.Members
	v.Members = slices.DeleteFunc(slices.Clone(had), func(m mutate.Member) bool { return properties.Get(m.Name) == nil })
	if len(v.Members) < len(had) && c.schema.Validate(v) != nil {
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
func (c *callable) breakSchema() {
	if c.schema == nil {
		return
	}
	r := fixedRand(2)
	violations := c.schema.Violations()
	most := min(maxBroken, 1+maxBrokenNodes/nodes(c.full))
	for _, v := range violations[:min(most, len(violations))] {
		c.broken = append(c.broken, c.schema.Break(r, v))
	}
}

func weight(v *mutate.JSON) int { return 16*v.Len() + len(v.Append(nil)) }

// takesAnyText reports whether the schema lets a string be what it likes, apart from its form.
func (c *callable) takesAnyText(pointer string) bool {
	v := c.full.Clone()
	leaf := v.At(pointer)
	for _, text := range []string{"teasel", "file:///teasel", "teasel@localhost", "2020-02-02", "127.0.0.1"} {
		leaf.Text = text
		if c.schema.Validate(v) == nil {
			return true
		}
	}
	return false
}

// with returns the full arguments with one string replaced.
func (c *callable) with(pointer, text string) *mutate.JSON { return withText(c.full, pointer, text) }

// withText returns a copy of arguments with a text in one place.
func withText(arguments *mutate.JSON, pointer, text string) *mutate.JSON {
	v := arguments.Clone()
	if leaf := v.At(pointer); leaf != nil {
		*leaf = *mutate.NewString(text)
	}
	return v
}

func stringLeaves(v *mutate.JSON) (pointers []string) {
	v.Walk(func(pointer string, leaf *mutate.JSON) bool {
		if leaf.Kind == mutate.String {
			pointers = append(pointers, pointer)
		}
		return true
	})
	return pointers
}

// maxLength is what numbers without a maximum are made in [callable.lengthy].
const maxLength = 100

// lengthy returns conform arguments that keep the tool busy for longer than others: all that there are, with numbers as
// large as they may be.
func (c *callable) lengthy() *mutate.JSON {
	v := c.full.Clone()
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
		if m.Value = most.Clone(); c.schema != nil && c.schema.Validate(v) != nil {
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

// find returns the callable tool of that name, nil if there is none.
func (b *repertoire) find(name string) *callable {
	i, ok := slices.BinarySearchFunc(b.tools, name, func(c *callable, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil
	}
	return b.tools[i]
}

// capabilityOf names what a server has to declare for a method; "": nothing.
func capabilityOf(method string) string {
	switch group, _, _ := strings.Cut(method, "/"); group {
	case "tools", "resources", "prompts", "logging", "tasks":
		return group
	case "completion":
		return "completions"
	}
	return ""
}

func declaredMethods(s *Session) (declared []string) {
	for _, m := range methods {
		if m == "initialize" {
			continue
		}
		if c := capabilityOf(m); c == "" || s.Has(c) {
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

// encoded is text in base64, as servers like to make cursors.
func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func (c *callable) call() []byte { return callLine(c.Name, c.plain) }

func (c *callable) callWith(arguments *mutate.JSON) []byte { return callLine(c.Name, arguments) }

// version is what a handshake of ours asks for.
func (b *repertoire) version() string {
	if b.session.Version != "" {
		return b.session.Version
	}
	return Versions[len(Versions)-1]
}
