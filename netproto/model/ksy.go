package model

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ImportKSY makes a model of a Kaitai Struct description (.ksy): one message of the root type. Whatever cannot be written as
// well as read, or is not supported, becomes bytes, up to its size if that is known and to the end of its structure
// otherwise; report says for each what and why, with the line of the description. name is what problems call the file.
func ImportKSY(src []byte, name string) (out []byte, report []string, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, nil, (&loader{file: name}).syntax(err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode || keyOf(doc.Content[0], "seq") == nil {
		return nil, nil, &Problem{File: name, Offset: -1, Reason: "it is not a Kaitai Struct description: it has no seq"}
	}
	k := &ksy{file: name}
	root := k.convert(doc.Content[0])
	if err := k.settle(root); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Imported from %s. Responses, states and seeds are still to be written: docs/model.md.\n", name)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(root), enc.Close()); err != nil {
		return nil, nil, fmt.Errorf("writing the model: %w", err)
	}
	return b.Bytes(), k.report, nil
}

// ksy is one import.
type ksy struct {
	file   string
	report []string
	fields []*yaml.Node // of all sequences
	seqs   []*yaml.Node // the sequence that each of them stands in
	extra  map[string]*yaml.Node
}

func (k *ksy) say(n *yaml.Node, format string, args ...any) {
	k.report = append(k.report, fmt.Sprintf("%s:%d: ", k.file, n.Line)+fmt.Sprintf(format, args...))
}

func keyOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalar(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func put(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, scalar(key), value)
}

// keep removes the keys that are not named, and reports those that mean something.
func (k *ksy) keep(n *yaml.Node, what string, keys []string) {
	for i := 0; i+1 < len(n.Content); {
		key := n.Content[i].Value
		if slices.Contains(keys, key) {
			i += 2
			continue
		}
		if !strings.HasPrefix(key, "-") && key != "to-string" {
			k.say(n.Content[i], "%s%s is left out", what, key)
		}
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}

// convert makes the nodes of a model of those of a description, which it changes.
func (k *ksy) convert(n *yaml.Node) *yaml.Node {
	k.extra = map[string]*yaml.Node{}
	root := &yaml.Node{Kind: yaml.MappingNode}
	put(root, "teasel-model", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"})
	id := "message"
	if meta := keyOf(n, "meta"); meta != nil {
		if x := keyOf(meta, "id"); x != nil && identifier.MatchString(x.Value) {
			id = x.Value
		}
		if x := keyOf(meta, "endian"); x != nil && x.Kind != yaml.ScalarNode {
			k.say(x, "the byte order depends on a value: big endian is taken")
			*x = *scalar("be")
		}
		k.keep(meta, "meta: ", []string{"id", "title", "endian", "bit-endian", "license"})
		put(root, "meta", meta)
	}
	if d := keyOf(n, "doc"); d != nil {
		put(root, "doc", d)
	}
	types := keyOf(n, "types")
	k.body(n)
	if enums := keyOf(n, "enums"); enums != nil {
		put(root, "enums", enums)
	}
	if types == nil {
		types = &yaml.Node{Kind: yaml.MappingNode}
	}
	for _, name := range sortedKeys(k.extra) {
		put(types, name, k.extra[name])
	}
	if len(types.Content) > 0 {
		put(root, "types", types)
	}
	message := &yaml.Node{Kind: yaml.MappingNode}
	if in := keyOf(n, "instances"); in != nil && len(in.Content) > 0 {
		put(message, "instances", in)
	}
	put(message, "seq", keyOf(n, "seq"))
	messages := &yaml.Node{Kind: yaml.MappingNode}
	put(messages, id, message)
	put(root, "messages", messages)
	return root
}

func sortedKeys(m map[string]*yaml.Node) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// body converts a type, and the types in it.
func (k *ksy) body(n *yaml.Node) {
	k.keep(n, "", []string{"meta", "doc", "seq", "types", "enums", "instances", "doc-ref"})
	k.instances(n)
	if keyOf(n, "seq") == nil {
		put(n, "seq", &yaml.Node{Kind: yaml.SequenceNode})
	}
	seq := keyOf(n, "seq")
	for i, f := range seq.Content {
		k.field(f, i)
		k.fields, k.seqs = append(k.fields, f), append(k.seqs, seq)
	}
	if types := keyOf(n, "types"); types != nil {
		for i := 1; i < len(types.Content); i += 2 {
			k.body(types.Content[i])
		}
	}
}

// instances keeps those that are computed from fields.
func (k *ksy) instances(n *yaml.Node) {
	all := keyOf(n, "instances")
	if all == nil {
		return
	}
	for i := 0; i+1 < len(all.Content); {
		name, in := all.Content[i], all.Content[i+1]
		x := keyOf(in, "value")
		if x != nil {
			if _, err := parseExpr(x.Value, func(string, string) (int64, bool) { return 0, true }); err == nil {
				k.keep(in, name.Value+": ", []string{"value", "doc", "enum"})
				i += 2
				continue
			}
		}
		k.say(name, "instance %s is left out: it has bytes of its own, or an expression that is not supported", name.Value)
		all.Content = slices.Delete(all.Content, i, i+2)
	}
}

func (k *ksy) field(f *yaml.Node, i int) {
	if f.Kind != yaml.MappingNode {
		return // the loader says so
	}
	if keyOf(f, "process") != nil {
		k.opaque(f, "what it holds is encoded: process")
	}
	if keyOf(f, "size") != nil && keyOf(f, "terminator") != nil {
		k.say(f, "%s: the terminator within a size is left out", fieldName(f))
		k.keep(f, "", slices.DeleteFunc(slices.Clone(fieldKeys), func(key string) bool { return key == "terminator" }))
	}
	k.keep(f, fieldName(f)+": ", fieldKeys)
	if keyOf(f, "id") == nil && keyOf(f, "contents") == nil {
		put(f, "id", scalar(fmt.Sprintf("unnamed_%d", i)))
	}
	if v := keyOf(f, "valid"); v != nil && v.Kind == yaml.MappingNode && (keyOf(v, "expr") != nil || keyOf(v, "in-enum") != nil) {
		k.say(v, "%s: valid by an expression is left out", fieldName(f))
		k.keep(f, "", slices.DeleteFunc(slices.Clone(fieldKeys), func(key string) bool { return key == "valid" }))
	}
	if t := keyOf(f, "type"); t != nil && t.Kind == yaml.MappingNode {
		k.cases(t)
	}
}

func fieldName(f *yaml.Node) string {
	if id := keyOf(f, "id"); id != nil {
		return id.Value
	}
	return "a field"
}

// cases gives built-in types in the cases of a switch a type of their own.
func (k *ksy) cases(t *yaml.Node) {
	cases := keyOf(t, "cases")
	if cases == nil {
		return
	}
	for i := 1; i < len(cases.Content); i += 2 {
		c := cases.Content[i]
		if name := c.Value; plainType.MatchString(name) || name == "strz" {
			f := &yaml.Node{Kind: yaml.MappingNode}
			put(f, "id", scalar("value"))
			put(f, "type", scalar(name))
			typ := &yaml.Node{Kind: yaml.MappingNode}
			put(typ, "seq", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{f}})
			k.extra["value_"+name] = typ
			c.Value = "value_" + name
		}
	}
}

// opaque makes bytes of a field. If its size is not known, they reach to the end, and nothing can follow.
func (k *ksy) opaque(f *yaml.Node, why string) {
	k.say(f, "%s becomes bytes: %s", fieldName(f), why)
	id, size, cond := keyOf(f, "id"), keyOf(f, "size"), keyOf(f, "if")
	f.Content = nil
	if id == nil {
		id = scalar("opaque")
	}
	put(f, "id", id)
	if size != nil {
		put(f, "size", size)
	} else {
		put(f, "size-eos", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
	if cond != nil && size != nil {
		put(f, "if", cond)
	}
}

// settle makes bytes of whatever the loader complains about, until it accepts the model.
func (k *ksy) settle(root *yaml.Node) error {
	tried := map[*yaml.Node]int{}
	for {
		l := &loader{m: &Model{File: k.file}, file: k.file}
		l.load(root)
		if len(l.problems) == 0 {
			return nil
		}
		p, _ := l.problems[0].(*Problem)
		at := k.fieldAt(p.Line)
		if at < 0 || tried[k.fields[at]] > 3 {
			return errors.Join(l.problems...)
		}
		f := k.fields[at]
		tried[f]++
		switch {
		case tried[f] == 1 && strings.Contains(p.Reason, "cannot be inverted"):
			k.say(f, "%s keeps its length: %s", fieldName(f), p.Reason)
			put(f, "mutable", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
		case tried[f] <= 2 && keyOf(f, "size") != nil:
			k.opaque(f, p.Reason)
		default:
			k.drop(at, p.Reason)
		}
	}
}

// drop makes bytes up to the end of a field and of all that follow it.
func (k *ksy) drop(at int, why string) {
	f, seq := k.fields[at], k.seqs[at]
	if i := slices.Index(seq.Content, f); i >= 0 && i+1 < len(seq.Content) {
		why += "; the fields behind it go into it"
		seq.Content = seq.Content[:i+1]
	}
	if size := keyOf(f, "size"); size != nil { // which is what is wrong
		k.keep(f, "", []string{"id"})
	}
	k.opaque(f, why)
}

// fieldAt returns the field that a line belongs to, -1 if there is none.
func (k *ksy) fieldAt(line int) int {
	best := -1
	for i, f := range k.fields {
		if f.Line <= line && f.Line > 0 && (best < 0 || f.Line > k.fields[best].Line) && slices.Contains(k.seqs[i].Content, f) {
			best = i
		}
	}
	return best
}
