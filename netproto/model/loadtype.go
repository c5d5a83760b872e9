package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (l *loader) name(n *yaml.Node, path string) string {
	if !identifier.MatchString(n.Value) {
		l.fail(n, path, "", "%q is not a valid name: lower-case letters, digits and underscores, a letter first", n.Value)
	}
	return n.Value
}

// definitions reads the enums and types of the file or of a type: their names first, so that order does not matter.
func (l *loader) definitions(e *entries, in *Type, path string) {
	if n := e.get("enums"); n != nil {
		if all, ok := l.mapping(n, path+"enums"); ok {
			for i, k := range all.keys {
				in.enums = append(in.enums, l.enum(all.vals[i], l.name(k, path+"enums"), path+"enums."+k.Value))
			}
		}
	}
	n := e.get("types")
	if n == nil {
		return
	}
	all, ok := l.mapping(n, path+"types")
	if !ok {
		return
	}
	for _, k := range all.keys {
		in.types = append(in.types, &Type{Name: l.name(k, path+"types"), parent: in, line: k.Line})
	}
	for i, t := range in.types {
		l.typ(all.vals[i], t, path+"types."+t.Name)
	}
}

func (l *loader) enum(n *yaml.Node, name, path string) *Enum {
	e := &Enum{Name: name}
	all, ok := l.mapping(n, path)
	if !ok {
		return e
	}
	for i, k := range all.keys {
		v := EnumValue{Value: l.integer(k, path, 0)}
		at := all.vals[i]
		if at.Kind == yaml.MappingNode {
			if m, ok := l.mapping(at, path, "id", "doc", "-orig-id"); ok && m.get("id") != nil {
				v.Name = l.name(m.get("id"), path)
			}
		} else {
			v.Name = l.name(at, path)
		}
		e.Values = append(e.Values, v)
	}
	return e
}

var typeKeys = []string{"doc", "seq", "types", "enums", "instances", "meta", "doc-ref"}

// typ fills in a type.
func (l *loader) typ(n *yaml.Node, t *Type, path string) {
	e, ok := l.mapping(n, path, typeKeys...)
	if !ok {
		return
	}
	l.body(&e, t, path)
}

func (l *loader) body(e *entries, t *Type, path string) {
	outer := l.scope
	l.scope = t
	defer func() { l.scope = outer }()
	t.Doc = l.text(e.get("doc"), path+".doc")
	l.definitions(e, t, path+".")
	l.instances(e.get("instances"), t, path+".instances")
	seq := e.get("seq")
	if seq == nil {
		l.fail(e.node, path, "", "it has no seq: the list of its fields")
		return
	}
	if seq.Kind != yaml.SequenceNode {
		l.fail(seq, path+".seq", "", "expected is a list of fields, here stands %s", shape(seq))
		return
	}
	for i, item := range list(seq) {
		l.sequence(item, t, path+"."+strconv.Itoa(i))
	}
}

// instances reads values that are computed from fields.
func (l *loader) instances(n *yaml.Node, t *Type, path string) {
	if n == nil {
		return
	}
	all, ok := l.mapping(n, path)
	if !ok {
		return
	}
	for i, k := range all.keys {
		e, ok := l.mapping(all.vals[i], path+"."+k.Value, "value", "doc", "enum")
		if !ok {
			continue
		}
		if e.get("value") == nil {
			l.fail(k, path+"."+k.Value, "what has bytes of its own is a field of the seq", "an instance is a value: it has no bytes of its own")
			continue
		}
		if x := l.expr(e.get("value"), path+"."+k.Value); x != nil {
			t.instances = append(t.instances, instance{l.name(k, path), x, k.Line, k.Column})
		}
	}
	for i := range t.instances {
		if in := &t.instances[i]; t.circular(in.expr, map[string]bool{in.name: true}) {
			l.fail(n, path+"."+in.name, "", "a cycle: the instance is computed from itself")
			return
		}
	}
}

// circular reports whether an expression leads back to an instance that is above it.
func (t *Type) circular(e *Expr, above map[string]bool) (found bool) {
	e.references(func(r *reference) {
		if r.up > 0 || r.root || r.item || len(r.path) != 1 {
			return
		}
		name := r.path[0]
		next := t.instance(name)
		if next == nil {
			return
		}
		if above[name] {
			found = true
			return
		}
		above[name] = true
		found = found || t.circular(next, above)
		delete(above, name)
	})
	return found
}

func (l *loader) findType(name string) *Type {
	for t := l.scope; t != nil; t = t.parent {
		for _, x := range t.types {
			if x.Name == name {
				return x
			}
		}
	}
	return nil
}

func (l *loader) findEnum(name string) *Enum {
	for t := l.scope; t != nil; t = t.parent {
		for _, x := range t.enums {
			if x.Name == name {
				return x
			}
		}
	}
	return nil
}

func (l *loader) enumValue(enum, name string) (int64, bool) {
	e := l.findEnum(enum)
	if e == nil {
		return 0, false
	}
	return e.Value(name)
}

func (l *loader) expr(n *yaml.Node, path string) *Expr {
	if n == nil {
		return nil
	}
	e, err := parseExpr(l.text(n, path), l.enumValue)
	if err != nil {
		l.fail(n, path, "docs/model.md, Expressions, has what can be written", "%v", err)
		return nil
	}
	return e
}

var fieldKeys = []string{"id", "doc", "doc-ref", "type", "size", "size-eos", "terminator", "include", "consume", "eos-error", "contents", "repeat", "repeat-expr",
	"repeat-until", "repeat-before", "if", "enum", "valid", "value", "mutable", "derive", "pad", "encoding", "endian"}

// sequence reads one entry of a seq. A terminator becomes a field of its own behind it.
func (l *loader) sequence(n *yaml.Node, t *Type, path string) {
	e, ok := l.mapping(n, path, fieldKeys...)
	if !ok {
		return
	}
	f := &Field{line: n.Line, col: n.Column, Doc: l.text(e.get("doc"), path)}
	if id := e.get("id"); id != nil {
		f.ID = l.name(id, path)
		path = path[:strings.LastIndexByte(path, '.')+1] + f.ID
		if t.Field(f.ID) != nil {
			l.fail(id, path, "", "the type has two fields of this id")
		}
	} else if e.get("contents") == nil {
		l.fail(n, path, "only contents may be without one", "the field has no id")
	}
	l.form(&e, f, path)
	l.extent(&e, f, path)
	l.repetition(&e, f, path)
	f.If = l.expr(e.get("if"), path+".if")
	l.values(&e, f, path)
	if d := e.get("derive"); d != nil {
		f.Derive = l.derive(d, f, path+".derive")
	}
	f.Mutable = l.flag(e.get("mutable"), path+".mutable", true)
	l.place(f, t)
}

// place puts a field into its type, with its terminator.
func (l *loader) place(f *Field, t *Type) {
	if f.stop == nil || f.included {
		t.Fields = append(t.Fields, f)
		return
	}
	stop := &Field{Kind: Literal, Contents: f.stop, Mutable: f.Mutable, optional: f.optional, line: f.line, col: f.col}
	if f.Repeat == Once {
		stop.If = f.If
		t.Fields = append(t.Fields, f, stop)
		return
	}
	// Each item of a repeated field has its own terminator, so that an item is a structure of both.
	item := *f
	item.Repeat, item.Times, item.Before, item.If, item.counting = Once, nil, nil, nil, nil
	f.Kind, f.Type, f.stop, f.Valid, f.Enum, f.Derive, f.sizing, f.Size = Struct, &Type{Name: f.ID + "_item", Fields: []*Field{&item, stop}}, nil, nil, nil, nil, nil, nil
	t.Fields = append(t.Fields, f)
}

var varints = map[string]VarintForm{"leb128": LEB128, "sleb128": SLEB128, "zigzag": ZigZag, "mqttint": MQTTInt, "vlq": VLQ, "quicint": QUICInt, "asn1len": ASN1Len}

var bases = map[string]int{"dec": 10, "hex": 16, "oct": 8}

var plainType = regexp.MustCompile(`^(?:([us])([1-8])(be|le)?|(f)([48])(be|le)?|(b)([1-9][0-9]?)(be|le)?)$`)

// form reads what the bytes of a field mean.
func (l *loader) form(e *entries, f *Field, path string) {
	n := e.get("type")
	if c := e.get("contents"); c != nil {
		f.Kind, f.Contents = Literal, l.rawBytes(c, path+".contents")
		if n != nil {
			l.fail(n, path, "", "contents have no type")
		}
		if len(f.Contents) == 0 {
			l.fail(c, path, "", "the contents are empty")
		}
		return
	}
	switch {
	case n == nil:
		f.Kind = Bytes
	case n.Kind == yaml.MappingNode:
		f.Kind, f.Switch = Struct, l.switchOn(n, path+".type")
	default:
		l.named(n, f, path)
	}
}

func (l *loader) named(n *yaml.Node, f *Field, path string) {
	name := l.text(n, path+".type")
	if form, ok := varints[name]; ok {
		f.Kind, f.Varint = Varint, form
		return
	}
	if base, ok := bases[name]; ok {
		f.Kind, f.Base = Digits, base
		return
	}
	switch name {
	case "str":
		f.Kind = Text
		return
	case "strz":
		f.Kind, f.stop = Text, []byte{0}
		return
	case "bytes":
		f.Kind = Bytes
		return
	}
	if g := plainType.FindStringSubmatch(name); g != nil {
		l.plain(n, f, path, g)
		return
	}
	f.Kind, f.Type, f.typeName = Struct, l.findType(name), name
	if f.Type == nil {
		var known []string
		for t := l.scope; t != nil; t = t.parent {
			for _, x := range t.types {
				known = append(known, x.Name)
			}
		}
		hint := "built in are u1 to u8, s1 to s8, f4, f8, b1 to b64, str, strz, bytes, dec, hex, oct, leb128, sleb128, zigzag, mqttint, vlq, quicint, asn1len"
		if near := nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		l.fail(n, path, hint, "there is no type %q", name)
	}
}

func (l *loader) plain(n *yaml.Node, f *Field, path string, g []string) {
	size := func(s string) int { v, _ := strconv.Atoi(s); return v }
	order := g[3] + g[6] + g[9]
	f.Little = l.little
	switch {
	case g[1] != "":
		f.Kind, f.Width = Unsigned, 8*size(g[2])
		if g[1] == "s" {
			f.Kind = Signed
		}
	case g[4] != "":
		f.Kind, f.Width = Float, 8*size(g[5])
	default:
		f.Kind, f.Width, f.Little = Bits, size(g[8]), l.bits
		if f.Width > 64 {
			l.fail(n, path, "", "a bit field has at most 64 bits")
		}
	}
	if order != "" {
		f.Little = order == "le"
	}
}

func (l *loader) switchOn(n *yaml.Node, path string) *Switch {
	e, ok := l.mapping(n, path, "switch-on", "cases")
	if !ok {
		return nil
	}
	s := &Switch{On: l.expr(e.get("switch-on"), path)}
	if e.get("switch-on") == nil {
		l.fail(n, path, "", "the switch has no switch-on")
	}
	if e.get("cases") == nil {
		l.fail(n, path, "", "the switch has no cases")
		return s
	}
	all, ok := l.mapping(e.get("cases"), path+".cases")
	if !ok {
		return s
	}
	seen := map[string]string{}
	for i, k := range all.keys {
		t := l.caseType(all.vals[i], path)
		if k.Value == "_" {
			s.Else = t
			continue
		}
		source := k.Value
		if k.Tag == "!!str" && k.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && !strings.HasPrefix(source, `"`) && !enumReference.MatchString(source) {
			source = strconv.Quote(source)
		}
		on, err := parseExpr(source, l.enumValue)
		if err != nil {
			l.fail(k, path, "", "%v", err)
			continue
		}
		if v, err := on.node.eval(&scope{tree: &Tree{}, at: -1, item: -1}); err == nil {
			id := fmt.Sprint(v.text, v.String())
			if other, ok := seen[id]; ok {
				l.fail(k, path, "", "the switch is ambiguous: %s and %s are the same value", other, k.Value)
			}
			seen[id] = k.Value
		}
		s.Cases = append(s.Cases, Case{On: on, Type: t})
	}
	return s
}

// enumReference is a value of an enum, which stands for itself even where YAML wants quotes around it.
var enumReference = regexp.MustCompile(`^[a-z0-9_]+::[a-z0-9_]+$`)

// caseType reads the type of a case; nil is bytes.
func (l *loader) caseType(n *yaml.Node, path string) *Type {
	name := l.text(n, path)
	if name == "bytes" {
		return nil
	}
	t := l.findType(name)
	if t == nil {
		l.fail(n, path, "a case names a type of the model, or bytes", "there is no type %q", name)
	}
	return t
}
