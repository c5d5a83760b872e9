package model

import (
	"encoding/hex"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var deriveKinds = []string{"length", "count", "offset", "checksum", "copy", "from", "counter", "now", "random"}

var deriveOptions = []string{"unit", "add", "self", "over", "key", "transform", "clock"}

// derive reads how a field follows from others.
func (l *loader) derive(n *yaml.Node, f *Field, path string) *Derive {
	e, ok := l.mapping(n, path, slices.Concat(deriveOptions, deriveKinds)...)
	if !ok {
		return nil
	}
	d := &Derive{Unit: 8, Add: l.integer(e.get("add"), path+".add", 0)}
	var kind string
	for i, k := range deriveKinds {
		if e.get(k) == nil {
			continue
		}
		if kind != "" {
			l.fail(n, path, "", "a field is derived in one way: here are %s and %s", kind, k)
			return d
		}
		kind, d.Kind = k, Length+DeriveKind(i)
	}
	if kind == "" {
		l.fail(n, path, "it has one of "+strings.Join(deriveKinds, ", "), "nothing says what the field is derived from")
		return d
	}
	l.deriveFrom(&e, e.get(kind), d, path+"."+kind)
	l.deriveOptions(&e, d, path)
	if f.Kind == Struct || f.Kind == Literal || f.Kind == Float {
		l.fail(n, path, "", "a %s cannot be derived", f.Kind)
	}
	if (d.Kind <= Offset || d.Kind == Counter || d.Kind == Now) && !f.Kind.Number() {
		l.fail(n, path, "dec, hex and oct are numbers in text", "%s is a number, the field is %s", kind, f.Kind)
	}
	return d
}

func (l *loader) deriveFrom(e *entries, n *yaml.Node, d *Derive, path string) {
	switch d.Kind {
	case Length, Count, Offset, Same:
		d.Targets = l.targets(n, path)
		l.suitable(n, d, path)
	case Check:
		d.Checksum = l.checksum(n, e.get("key"), path)
		d.Targets = l.targets(e.get("over"), path+".over")
		if e.get("over") == nil {
			l.fail(n, path, "over: [_root] is the whole message", "a checksum wants over: the fields that it is computed from")
		}
	case FromDialogue:
		d.Var = l.text(n, path)
	case Counter:
		d.Step = 1
		if n.Kind == yaml.MappingNode {
			if m, ok := l.mapping(n, path, "start", "step", "wrap"); ok {
				d.Start, d.Step, d.Wrap = l.integer(m.get("start"), path, 0), l.integer(m.get("step"), path, 1), l.integer(m.get("wrap"), path, 0)
			}
		} else {
			d.Start = l.integer(n, path, 0)
		}
	case Now:
		if at := l.choice(n, path, "unix", "unix-ms", "ntp"); at >= 0 {
			d.Clock = n.Value
		}
	case Random:
		if !l.flag(n, path, true) {
			l.fail(n, path, "", "random: false derives nothing")
		}
	}
}

func (l *loader) deriveOptions(e *entries, d *Derive, path string) {
	if n := e.get("unit"); n != nil {
		switch n.Value {
		case "bits":
			d.Unit = 1
		case "bytes":
		default:
			d.Unit = 8 * l.integer(n, path+".unit", 1)
		}
		if d.Unit < 1 || d.Kind != Length && d.Kind != Offset {
			l.fail(n, path, "", "unit is bits, bytes or a number of bytes, of a length or an offset")
			d.Unit = 8
		}
	}
	if n := e.get("clock"); n != nil {
		d.Real = l.choice(n, path+".clock", "seed", "real") == 1
		if d.Kind != Now {
			l.fail(n, path, "", "only now has a clock")
		}
	}
	if n := e.get("self"); n != nil {
		switch d.Kind {
		case Length:
			d.Self = l.flag(n, path+".self", false)
		case Check:
			d.SkipSelf = l.choice(n, path+".self", "zero", "skip") == 1
		default:
			l.fail(n, path, "", "only a length and a checksum have self")
		}
	}
	if n := e.get("transform"); n != nil {
		d.Transforms = l.transforms(n, path+".transform")
		if d.Kind != FromDialogue && d.Kind != Same {
			l.fail(n, path, "", "only from and copy have a transform")
		}
	}
}

// suitable makes sure that a rule can look at its targets.
func (l *loader) suitable(n *yaml.Node, d *Derive, path string) {
	if len(d.Targets) == 0 {
		l.fail(n, path, "", "it names no field")
	}
	if len(d.Targets) > 1 && d.Kind != Length && d.Kind != Count {
		l.fail(n, path, "", "it names %d fields, expected is one", len(d.Targets))
	}
	for _, g := range d.Targets {
		switch {
		case g.bytes != nil:
			l.fail(n, path, "add: 2 adds the size of two bytes to a length", "only a checksum takes {hex: DIGITS}: expected is the name of a field")
		case g.ref != nil && d.Kind == Same && len(g.ref.path) == 0:
			l.fail(n, path, "", "a cycle: the field cannot hold a copy of what it is a part of")
		case g.after && (d.Kind == Same || d.Kind == Count):
			l.fail(n, path, "", "_after is no field: expected is the name of one")
		}
	}
}

// targets reads names of fields, _root, _after, and bytes.
func (l *loader) targets(n *yaml.Node, path string) (all []Target) {
	for _, c := range list(n) {
		if c.Kind == yaml.MappingNode {
			if m, ok := l.mapping(c, path, "hex"); ok && m.get("hex") == nil {
				l.fail(c, path, "", "expected is {hex: DIGITS}, here stands an empty mapping")
			} else if ok {
				b, err := hex.DecodeString(strings.Join(strings.Fields(m.get("hex").Value), ""))
				if err != nil {
					l.fail(c, path, "", "%q are no hexadecimal digits", m.get("hex").Value)
				}
				all = append(all, Target{bytes: b})
			}
			continue
		}
		if c.Value == "_after" {
			all = append(all, Target{after: true})
			continue
		}
		e := l.expr(c, path)
		if e == nil {
			continue
		}
		r, ok := e.node.(*reference)
		if !ok {
			l.fail(c, path, "", "expected is the name of a field, here stands %s", shape(c))
			continue
		}
		all = append(all, Target{ref: r})
	}
	return all
}

func (l *loader) checksum(n, key *yaml.Node, path string) *Checksum {
	if n.Kind == yaml.MappingNode {
		return l.crc(n, path)
	}
	name := l.text(n, path)
	c := &Checksum{Name: name}
	if crc, ok := crcs[name]; ok {
		crc.prepare()
		c.crc = &crc
		return c
	}
	if sum, ok := sums[name]; ok {
		c.sum = sum
		return c
	}
	plain, mac := strings.CutPrefix(name, "hmac-")
	h, ok := hashes[plain]
	if !ok {
		l.fail(n, path, "known are "+strings.Join(checksumNames(), ", ")+", and {width, poly, init, refin, refout, xorout}", "there is no checksum %q", name)
		return c
	}
	c.hash, c.mac = h, mac
	if mac {
		if key == nil {
			l.fail(n, path, "", "%s wants a key", name)
		}
		c.key = l.rawBytes(key, path+".key")
	}
	return c
}

func (l *loader) crc(n *yaml.Node, path string) *Checksum {
	c := &CRC{}
	e, ok := l.mapping(n, path, "width", "poly", "init", "refin", "refout", "xorout")
	if !ok {
		return &Checksum{crc: c}
	}
	c.Width = int(l.integer(e.get("width"), path+".width", 0))
	if c.Width < 8 || c.Width > 64 {
		l.fail(n, path, "", "a CRC has a width of 8 to 64 bits")
		c.Width = 64
	}
	c.Poly, c.Init = uint64(l.integer(e.get("poly"), path+".poly", 0)), uint64(l.integer(e.get("init"), path+".init", 0))
	c.XorOut = uint64(l.integer(e.get("xorout"), path+".xorout", 0))
	c.RefIn, c.RefOut = l.flag(e.get("refin"), path+".refin", false), l.flag(e.get("refout"), path+".refout", false)
	c.prepare()
	return &Checksum{Name: "crc", crc: c}
}

// transforms reads a list such as [add 1, slice 2 6, base64].
func (l *loader) transforms(n *yaml.Node, path string) (all []Transform) {
	for _, c := range list(n) {
		words := strings.Fields(l.text(c, path))
		if len(words) == 0 {
			l.fail(c, path, "", "a transform is empty")
			continue
		}
		operand, ok := transformNames[words[0]]
		t := Transform{Name: words[0]}
		rest := strings.TrimPrefix(strings.TrimLeft(c.Value, " "), words[0]+" ")
		switch {
		case !ok:
			l.fail(c, path, "docs/model.md, Captures, has the list", "there is no transform %q", words[0])
		case operand == textOperand:
			t.Text = []byte(rest)
		case operand == numberOperand && len(words) == 2:
			t.Number = l.operand(c, words[1], path)
			l.bitsOf(c, &t, path)
		case operand == rangeOperand && (len(words) == 2 || len(words) == 3):
			t.From = int(l.operand(c, words[1], path))
			if len(words) == 3 {
				t.To = int(l.operand(c, words[2], path))
			}
		case operand == noOperand && len(words) == 1:
		default:
			l.fail(c, path, "as in [add 1, slice 2 6, base64]", "the transform %q has too few or too many operands", c.Value)
		}
		all = append(all, t)
	}
	return all
}

// bitsOf makes sure that a transform of bits stays within the 64 that a number has.
func (l *loader) bitsOf(n *yaml.Node, t *Transform, path string) {
	switch {
	case t.Name == "not" && (t.Number < 1 || t.Number > 64):
		l.fail(n, path, "", "not inverts 1 to 64 bits, here stands %d", t.Number)
	case (t.Name == "shl" || t.Name == "shr") && (t.Number < 0 || t.Number > 63):
		l.fail(n, path, "", "%s moves a number by 0 to 63 bits, here stands %d", t.Name, t.Number)
	}
}

func (l *loader) operand(n *yaml.Node, word, path string) int64 {
	v, err := number(word)
	if err != nil {
		l.fail(n, path, "", "%q is not a number", word)
	}
	return v
}
