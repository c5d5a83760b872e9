package model

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/teaselfuzz/teasel/internal/spelling"
)

// formatVersion is the newest version of the format that can be read.
const formatVersion = 1

// Load reads a model from a file, or the one of [Protocols] that is named. What is wrong with it is a [Problem], or several of them joined.
func Load(path string) (*Model, error) {
	if text, ok := Protocol(path); ok {
		return Parse(text, path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the model: %w", err)
	}
	return Parse(src, path)
}

// Parse reads a model; name is what problems call the file.
func Parse(src []byte, name string) (*Model, error) {
	l := &loader{m: &Model{File: name}, file: name}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, l.syntax(err)
	}
	if len(doc.Content) == 0 {
		return nil, &Problem{File: name, Offset: -1, Reason: "the file is empty", Hint: "'teasel net new NAME' writes a model to start from"}
	}
	if l.aliases(&doc) {
		l.load(doc.Content[0])
	}
	if len(l.problems) > 0 {
		return nil, errors.Join(l.problems...)
	}
	return l.m, nil
}

// loader turns the nodes of a YAML file into a model and collects what is wrong.
type loader struct {
	m        *Model
	file     string
	problems []error
	bits     bool // bit fields are read from the lowest bit
	little   bool
	scope    *Type // whose types and enums are known
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntax says where a file stops being YAML.
func (l *loader) syntax(err error) error {
	p := &Problem{File: l.file, Offset: -1, Reason: "it is not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		p.Line, _ = strconv.Atoi(found[1])
		p.Col, p.Reason = 1, "it is not valid YAML: "+found[2]
	}
	return p
}

func (l *loader) fail(n *yaml.Node, path, hint, format string, args ...any) {
	p := &Problem{File: l.file, Field: path, Offset: -1, Reason: fmt.Sprintf(format, args...), Hint: hint}
	if n != nil {
		p.Line, p.Col = n.Line, n.Column
	}
	l.problems = append(l.problems, p)
}

// entries are the keys and values of a mapping, in the order of the file.
type entries struct {
	node *yaml.Node
	keys []*yaml.Node
	vals []*yaml.Node
}

func (e *entries) get(key string) *yaml.Node {
	for i, k := range e.keys {
		if k.Value == key {
			return e.vals[i]
		}
	}
	return nil
}

// mapping reads a mapping whose keys must be known; no known keys: any will do.
func (l *loader) mapping(n *yaml.Node, path string, known ...string) (e entries, ok bool) {
	n = resolve(n)
	if n == nil || n.Kind != yaml.MappingNode {
		l.fail(n, path, "", "expected is a mapping (key: value), here stands %s", shape(n))
		return e, false
	}
	e.node = n
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if e.get(k.Value) != nil {
			l.fail(k, path, "", "the key %q stands here twice", k.Value)
			continue
		}
		if len(known) > 0 && !slices.Contains(known, k.Value) {
			hint := "known are " + strings.Join(known, ", ")
			if near := nearest(k.Value, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			l.fail(k, path, hint, "unknown key %q", k.Value)
			continue
		}
		e.keys, e.vals = append(e.keys, k), append(e.vals, resolve(n.Content[i+1]))
	}
	return e, true
}

// resolve follows aliases and puts in what a mapping takes over from others with the key <<.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return n
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return merged(n, i)
		}
	}
	return n
}

// merged returns a mapping with the keys that its i-th one takes over. Its own go first.
func merged(n *yaml.Node, i int) *yaml.Node {
	out := *n
	out.Content = slices.Concat(n.Content[:i], n.Content[i+2:])
	for _, from := range list(resolve(n.Content[i+1])) {
		for j := 0; from.Kind == yaml.MappingNode && j+1 < len(from.Content); j += 2 {
			own := slices.ContainsFunc(out.Content, func(c *yaml.Node) bool { return c.Value == from.Content[j].Value && c.Kind == yaml.ScalarNode })
			if !own {
				out.Content = append(out.Content, from.Content[j], from.Content[j+1])
			}
		}
	}
	return &out
}

func shape(n *yaml.Node) string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Value == "" {
			return "nothing"
		}
		return strconv.Quote(n.Value)
	}
	return "something else"
}

// list returns the items of a list; a single value is a list of one.
func list(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		out := make([]*yaml.Node, len(n.Content))
		for i, c := range n.Content {
			out[i] = resolve(c)
		}
		return out
	}
	return []*yaml.Node{n}
}

func (l *loader) text(n *yaml.Node, path string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		l.fail(n, path, "", "expected is a text, here stands %s", shape(n))
		return ""
	}
	return n.Value
}

func (l *loader) flag(n *yaml.Node, path string, otherwise bool) bool {
	if n == nil {
		return otherwise
	}
	switch n.Value {
	case "true":
		return true
	case "false":
		return false
	}
	l.fail(n, path, "", "expected is true or false, here stands %s", shape(n))
	return otherwise
}

func (l *loader) integer(n *yaml.Node, path string, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	v, err := number(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		l.fail(n, path, "", "expected is an integer, here stands %s", shape(n))
		return otherwise
	}
	return v
}

// number reads an integer of up to 64 bits, signed or not.
func number(s string) (int64, error) {
	s = strings.ReplaceAll(s, "_", "")
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return v, nil
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return int64(v), err
}

// choice reads one of some words.
func (l *loader) choice(n *yaml.Node, path string, words ...string) int {
	if n == nil {
		return -1
	}
	at := slices.Index(words, n.Value)
	if at < 0 || n.Kind != yaml.ScalarNode {
		l.fail(n, path, "", "expected is one of %s, here stands %s", strings.Join(words, ", "), shape(n))
		return -1
	}
	return at
}

// rawBytes reads bytes: a text as it stands, a list of numbers and texts, or one number, which is one byte.
func (l *loader) rawBytes(n *yaml.Node, path string) []byte {
	var out []byte
	for _, c := range list(n) {
		if c.Kind != yaml.ScalarNode {
			l.fail(c, path, "", "expected are bytes: a text, a number, or a list of both; here stands %s", shape(c))
			return nil
		}
		if c.Tag == "!!int" {
			v, err := number(c.Value)
			if err != nil || v < 0 || v > 255 {
				l.fail(c, path, "", "a byte is a number from 0 to 255, here stands %s", c.Value)
				return nil
			}
			out = append(out, byte(v))
			continue
		}
		out = append(out, c.Value...)
	}
	return out
}

func (l *loader) load(n *yaml.Node) {
	e, ok := l.mapping(n, "", "teasel-model", "meta", "doc", "enums", "types", "messages", "responses", "initial", "states", "seeds", "connection",
		"framing", "bootstrap", "teardown", "heartbeat")
	if !ok {
		return
	}
	switch v := e.get("teasel-model"); {
	case v == nil:
		l.fail(n, "", "write 'teasel-model: 1' into its first line", "the file does not say that it is a model")
		return
	case l.integer(v, "teasel-model", 0) < 1 || l.integer(v, "teasel-model", 0) > formatVersion:
		l.fail(v, "teasel-model", "", "version %s of the format: this teasel reads 1 to %d", v.Value, formatVersion)
		return
	}
	l.m.Doc = l.text(e.get("doc"), "doc")
	l.meta(e.get("meta"))
	root := &Type{}
	l.scope = root
	l.definitions(&e, root, "")
	l.messages(e.get("messages"), "messages", &l.m.Messages)
	l.messages(e.get("responses"), "responses", &l.m.Responses)
	l.m.Types, l.m.Enums = root.types, root.enums
	if len(l.problems) > 0 {
		return // what follows would only repeat them
	}
	l.check()
	l.connection(e.get("connection"))
	l.framing(e.get("framing"))
	l.states(e.get("states"), e.get("initial"))
	l.m.Bootstrap = l.steps(e.get("bootstrap"), "bootstrap")
	l.m.Teardown = l.steps(e.get("teardown"), "teardown")
	l.heartbeat(e.get("heartbeat"))
	if len(l.problems) == 0 {
		l.seeds(e.get("seeds"))
	}
}

func (l *loader) meta(n *yaml.Node) {
	if n == nil {
		return
	}
	e, ok := l.mapping(n, "meta", "id", "title", "endian", "bit-endian", "encoding", "license", "xref", "file-extension", "application", "tags", "ks-version", "imports")
	if !ok {
		return
	}
	l.m.ID, l.m.Title = l.text(e.get("id"), "meta.id"), l.text(e.get("title"), "meta.title")
	l.little = l.choice(e.get("endian"), "meta.endian", "be", "le") == 1
	l.bits = l.choice(e.get("bit-endian"), "meta.bit-endian", "be", "le") == 1
	if imports := e.get("imports"); imports != nil {
		l.fail(imports, "meta.imports", "put the types of the other file into this one", "models cannot import others")
	}
}

// nearest returns the word that was probably meant, "" if none is near: it has the same letters but for one or two.
func nearest(typed string, words []string) string {
	best, least := "", 3
	for _, w := range words {
		if d := spelling.Distance(typed, w); d < least && 2*d < len(typed) {
			best, least = w, d
		}
	}
	return best
}
