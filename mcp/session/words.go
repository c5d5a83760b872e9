package session

import (
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Vocabulary is what a server lets be known of values that its arguments may have: by the name of the argument, since
// what one tool calls "sku" is what another one, or a prompt, calls so.
type Vocabulary map[string][]string

// Bounds of what is remembered of one name, and of a value's length.
const (
	maxVocabulary = 48
	MaxMentioned  = 16
	MaxSpoken     = 64
)

// Likely returns a value of an argument that the server ought to take: the first that it mentions.
func (b *Catalog) Likely(name string) string { return b.LikelyOr(name, "a") }

// LikelyOr is [Catalog.Likely] with what it returns for a name of which nothing is known.
func (b *Catalog) LikelyOr(name, unknown string) string {
	if known := b.Observed[name]; len(known) > 0 {
		return known[0]
	}
	return unknown
}

func (v Vocabulary) add(name string, words ...string) {
	for _, w := range words {
		if w != "" && len(w) <= MaxSpoken && len(v[name]) < maxVocabulary && !slices.Contains(v[name], w) {
			v[name] = append(v[name], w)
		}
	}
}

// ReadVocabulary collects what read-only calls have shown, what completions offered, what schemas list, and what descriptions mention.
func ReadVocabulary(s *Session) Vocabulary {
	v := make(Vocabulary)
	for name, values := range s.Learned {
		v.add(name, values...)
	}
	for name, values := range s.Completions {
		v.add(name, values...)
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		v.readSchema(t.InputSchema, mentioned(t.Description))
	}
	for i := range s.Prompts {
		p := &s.Prompts[i]
		of := mentioned(p.Description)
		for _, a := range p.Arguments {
			v.add(a.Name, mentioned(a.Description)...)
			v.add(a.Name, of...)
		}
	}
	for i := range s.Templates {
		description, _ := s.Templates[i].Root.Get("description").Str()
		for _, name := range TemplateVariables(s.Templates[i].URI) {
			v.add(name, mentioned(description)...)
		}
	}
	return v
}

// readSchema collects the strings that a schema lists for its properties, at any depth; of is what was said of all.
func (v Vocabulary) readSchema(s *mutate.JSON, of []string) {
	s.Walk(func(_ string, at *mutate.JSON) bool {
		properties := at.Get("properties")
		if properties == nil || properties.Kind != mutate.Object {
			return true
		}
		for _, p := range properties.Members {
			for _, keyword := range []string{"enum", "examples", "const", "default"} {
				listed := p.Value.Get(keyword)
				if text, ok := listed.Str(); ok {
					v.add(p.Name, text)
				} else if listed != nil {
					for _, item := range listed.Items {
						text, _ := item.Str()
						v.add(p.Name, text)
					}
				}
			}
			for _, keyword := range []string{"description", "title"} {
				text, _ := p.Value.Get(keyword).Str()
				v.add(p.Name, mentioned(text)...)
			}
			v.add(p.Name, of...)
		}
		return true
	})
}

// quotes are what stands around a value that a description mentions.
var quotes = []struct{ open, end string }{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"‘", "’"}, {"'", "'"}, {"«", "»"}}

// mentioned returns what a description has in it that looks like a value: what is quoted, what is written unlike a word of
// a sentence (XXX, -1, bolt-m4, a_b), what is listed in brackets.
func mentioned(text string) (words []string) {
	add := func(w string) {
		w = strings.Trim(w, " .,:;!?")
		if w != "" && len(w) <= MaxSpoken && len(words) < MaxMentioned && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	text = text[:min(len(text), MaxNotedText)]
	for _, q := range quotes {
		rest := text
		for {
			_, after, found := strings.Cut(rest, q.open)
			inside, next, closed := strings.Cut(after, q.end)
			if !found || !closed {
				break
			}
			add(inside)
			rest = next
		}
	}
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "(")
		inside, next, closed := strings.Cut(after, ")")
		if !found || !closed {
			break
		}
		inside = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(inside, "one of"), "e.g."), " or ", ",")
		for _, item := range strings.FieldsFunc(inside, func(r rune) bool { return r == ',' || r == '|' || r == '/' || r == ';' }) {
			if item = strings.TrimSpace(item); !strings.Contains(item, " ") {
				add(item)
			}
		}
		rest = next
	}
	for _, field := range strings.Fields(text) {
		if field = strings.Trim(field, `.,:;!?()[]{}"'`+"`"); unlikeWord(field) {
			add(field)
		}
	}
	return words
}

// unlikeWord reports whether something between spaces is no word of a sentence.
func unlikeWord(w string) bool {
	if strings.ContainsAny(w, "0123456789_/.@:=*{}#$%\\+") {
		return true
	}
	inner := strings.Trim(w, "-")
	if strings.Contains(inner, "-") {
		return true
	}
	return len(w) > 1 && w == strings.ToUpper(w) && w != strings.ToLower(w)
}

// Numbers returns those of the words that are numbers as JSON writes them.
func Numbers(words []string) (found []*mutate.JSON) {
	for _, w := range words {
		if v, err := mutate.ParseJSON([]byte(w)); err == nil && v.Kind == mutate.Number {
			found = append(found, v)
		}
	}
	return found
}

// maxPlaceholders bounds the names of what format strings may reach.
const maxPlaceholders = 6

var inBraces = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]{0,30})[^{}"]{0,30}\}`)

// formatTexts are texts that have the type of something in them where a format string of Python is made of them: of what
// has a number, and of what the tools' descriptions have in braces.
func formatTexts(tools []*Operation) (texts []string) {
	names := []string{"0"}
	for _, t := range tools {
		for _, found := range inBraces.FindAllStringSubmatch(t.Description+t.InputSchema.String(), maxPlaceholders) {
			if len(names) < maxPlaceholders && !slices.Contains(names, found[1]) {
				names = append(names, found[1])
			}
		}
	}
	for _, name := range names {
		texts = append(texts, "tzl{"+name+".__class__}")
	}
	return texts
}

// MaxNotedText is how much of one text is searched for words, in bytes.
const MaxNotedText = 4 << 10
