package model

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// DeriveKind says what a derived field is computed from.
type DeriveKind uint8

// The kinds of derived fields. The last four are known only when a message is sent.
const (
	DeriveInvalid DeriveKind = iota
	Length                   // of other fields
	Count                    // items of a repeated field
	Offset                   // where another field begins
	Check                    // a checksum or a digest of other fields
	Same                     // the value of another field
	FromDialogue             // a value that a response brought
	Counter                  // counts the messages of a connection
	Now                      // the time
	Random                   // drawn bytes
)

// A Derive is a rule that computes the value of a field. It is applied again after every change of a message, unless the
// field is [Broken].
type Derive struct {
	Kind    DeriveKind
	Targets []Target
	Unit    int64 // bits that a length counts; 8: bytes
	Add     int64 // is added to a length, a count or an offset
	Self    bool  // a length includes the field itself

	Checksum *Checksum
	SkipSelf bool // a checksum leaves its own field out; otherwise it reads it as zeros

	Var        string // of FromDialogue: the name of the captured value
	Transforms []Transform

	Start, Step, Wrap int64  // of a counter
	Clock             string // unix, unix-ms or ntp
	Real              bool   // the time is that of sending, and not the seed's
}

// Late reports whether the value is known only when the message is sent.
func (d *Derive) Late() bool { return d != nil && d.Kind >= FromDialogue }

// A Target is what a rule looks at: a field, or bytes that are no part of the message, such as those of a pseudo header.
type Target struct {
	ref   *reference
	after bool // all that stands behind the derived field in its structure
	bytes []byte
}

// Late is what becomes known while a dialogue runs. The zero value is ready.
type Late struct {
	Now      time.Time // of all fields that hold the time; zero: of those with a real clock it is the present, others keep their value
	captured map[string]value
	counters map[*Field]int64
}

// Forget forgets all values, as on a new connection.
func (l *Late) Forget() {
	clear(l.captured)
	clear(l.counters)
}

// Take keeps the captures of a response.
func (l *Late) Take(m *Message, t *Tree) {
	for i := range m.Captures {
		c := &m.Captures[i]
		v, err := c.From.node.eval(&scope{tree: t, item: -1})
		if err != nil {
			continue // the response has no such field this time
		}
		for j := range c.Transforms {
			v = c.Transforms[j].apply(v)
		}
		if v.text {
			v.bytes = append(l.captured[c.Name].bytes[:0], v.bytes...)
		}
		if l.captured == nil {
			l.captured = map[string]value{}
		}
		l.captured[c.Name] = v
	}
}

// maxRounds bounds how often derived fields are computed because others changed: in a sound model two are enough.
const maxRounds = 4

// Derive computes all derived fields of a message anew, inner ones first, until none changes; those that are known only
// when the message is sent stay as they are if late is nil. It reports whether anything changed.
func (t *Tree) Derive(late *Late) (changed bool) {
	if late != nil {
		for i := range t.Nodes {
			if d := t.Nodes[i].Field.Derive; d.Late() && t.derivable(i) {
				changed = t.deriveLate(i, d, late) || changed
			}
		}
	}
	for range maxRounds {
		again := false
		for i := len(t.Nodes) - 1; i >= 0; i-- {
			again = t.deriveLength(i) || again
		}
		for i := len(t.Nodes) - 1; i >= 0; i-- {
			if d := t.Nodes[i].Field.Derive; d != nil && d.Kind == Check && t.derivable(i) {
				again = t.deriveCheck(i, d) || again
			}
		}
		if !again {
			break
		}
		changed = true
	}
	return changed
}

func (t *Tree) derivable(i int) bool { return t.Nodes[i].Flags&Broken == 0 && t.Leaf(i) }

// Derived reports whether the value of a node follows from others: by a rule of its own, or because it is the size or the
// number of items of another field.
func (t *Tree) Derived(i int) bool {
	if t.Nodes[i].Field.Derive != nil {
		return true
	}
	if !t.Leaf(i) || !t.Nodes[i].Field.measures {
		return false
	}
	for j := i + 1; j < len(t.Nodes); j++ {
		for _, l := range [2]*linear{t.Nodes[j].Field.sizing, t.Nodes[j].Field.counting} {
			if l == nil || l.ref.path[len(l.ref.path)-1] != t.Nodes[i].Field.ID {
				continue
			}
			if at, ok := l.ref.find(t.scopeOf(j)); ok && at == i {
				return true
			}
		}
	}
	return false
}

func (t *Tree) scopeOf(i int) *scope { return &scope{tree: t, at: t.structure(i), item: -1} }

// deriveLength makes right what node i says, or what another field says of node i.
func (t *Tree) deriveLength(i int) (changed bool) {
	n := &t.Nodes[i]
	f := n.Field
	if f.counting != nil && n.Flags&Array != 0 {
		changed = t.imply(i, f.counting, int64(t.Items(i)))
	}
	if f.sizing != nil && (f.Repeat == Once) && t.Aligned(i) {
		changed = t.imply(i, f.sizing, int64(n.End-n.Start)/8) || changed
	}
	d := f.Derive
	if d == nil || !t.derivable(i) {
		return changed
	}
	switch d.Kind {
	case Length, Count, Offset:
		if v, ok := t.measure(i, d); ok {
			return t.SetNumber(i, v) || changed
		}
	case Same:
		if at, ok := d.Targets[0].ref.find(t.scopeOf(i)); ok && (i < at || i >= t.After(at)) { // a part cannot hold the whole
			v := t.value(at)
			for j := range d.Transforms {
				v = d.Transforms[j].apply(v)
			}
			if len(t.Data)+len(v.bytes) > maxData {
				return changed
			}
			return t.assign(i, v) || changed
		}
	}
	return changed
}

// imply sets the field that says how long node i is, or how many items it has.
func (t *Tree) imply(i int, l *linear, n int64) bool {
	at, ok := l.ref.find(t.scopeOf(i))
	if !ok || at >= i || t.Nodes[at].Field.Derive != nil || !t.derivable(at) {
		return false
	}
	return t.SetNumber(at, l.inverse(n))
}

// measure returns the value of a length, a count or an offset; false if its targets are not there.
func (t *Tree) measure(i int, d *Derive) (n int64, ok bool) {
	for j := range d.Targets {
		from, to, at, found := t.target(i, &d.Targets[j])
		if !found {
			continue
		}
		ok = true
		switch d.Kind {
		case Length:
			n += int64(to - from)
		case Count:
			if at >= 0 && t.Nodes[at].Flags&Array != 0 {
				n += int64(t.Items(at))
			}
		case Offset:
			n = int64(from)
		}
	}
	if d.Kind != Count {
		if d.Self {
			n += int64(t.Nodes[i].End - t.Nodes[i].Start)
		}
		n = (n + d.Unit - 1) / d.Unit
	}
	return n + d.Add, ok || d.Kind == Length
}

// target returns the bits that a target covers, and its node if it is one.
func (t *Tree) target(i int, g *Target) (from, to int32, at int, ok bool) {
	if g.after {
		return t.Nodes[i].End, t.Nodes[t.structure(i)].End, -1, true
	}
	at, ok = g.ref.find(t.scopeOf(i))
	if !ok {
		return 0, 0, -1, false
	}
	return t.Nodes[at].Start, t.Nodes[at].End, at, true
}

func (t *Tree) deriveCheck(i int, d *Derive) bool {
	own := &t.Nodes[i]
	var space [512]byte
	data := space[:0]
	for j := range d.Targets {
		g := &d.Targets[j]
		if g.bytes != nil {
			data = append(data, g.bytes...)
			continue
		}
		from, to, _, ok := t.target(i, g)
		if !ok || (from|to)&7 != 0 {
			continue
		}
		if own.Start >= from && own.End <= to && own.Start&7 == 0 && own.End&7 == 0 {
			data = append(data, t.Data[from/8:own.Start/8]...)
			if !d.SkipSelf {
				for range (own.End - own.Start) / 8 {
					data = append(data, 0)
				}
			}
			from = own.End
		}
		data = append(data, t.Data[from/8:to/8]...)
	}
	number, digest := d.Checksum.digest(data)
	if digest == nil {
		return t.assign(i, value{number: int64(number)})
	}
	if own.Field.Kind == Text {
		hexed := Transform{Name: "hex"}
		return t.assign(i, hexed.apply(value{bytes: digest, text: true}))
	}
	if w := int(own.End-own.Start) / 8; w > 0 && w < len(digest) { // a digest that is cut short
		digest = digest[:w]
	}
	return t.assign(i, value{bytes: digest, text: true})
}

func (t *Tree) deriveLate(i int, d *Derive, late *Late) bool {
	switch d.Kind {
	case FromDialogue:
		v, ok := late.captured[d.Var]
		if !ok {
			return false // nothing has brought it: the seed's value is as good as any
		}
		for j := range d.Transforms {
			v = d.Transforms[j].apply(v)
		}
		return t.assign(i, v)
	case Counter:
		return t.assign(i, value{number: late.count(t.Nodes[i].Field, d)})
	case Now:
		now := late.Now
		if now.IsZero() {
			if !d.Real {
				return false
			}
			now = time.Now()
		}
		return t.assign(i, value{number: clockValue(now, d.Clock)})
	case Random:
		return t.drawn(i)
	}
	return false
}

func (l *Late) count(f *Field, d *Derive) int64 {
	if l.counters == nil {
		l.counters = map[*Field]int64{}
	}
	n, ok := l.counters[f]
	if !ok {
		n = d.Start
	} else if n += d.Step; d.Wrap > 0 && n >= d.Wrap {
		n = d.Start
	}
	l.counters[f] = n
	return n
}

// clockValue is the time in the unit that a field counts.
func clockValue(now time.Time, clock string) int64 {
	switch clock {
	case "unix-ms":
		return now.UnixMilli()
	case "ntp": // seconds since 1900 and a fraction of 32 bits: RFC 5905, section 6
		const since1900 = 2_208_988_800
		return (now.Unix()+since1900)<<32 | int64(now.Nanosecond())<<32/1_000_000_000
	}
	return now.Unix()
}

// drawn fills a field with bytes that are drawn by the message itself, so that the same message is always sent alike.
func (t *Tree) drawn(i int) bool {
	h := fnv.New64a()
	h.Write(t.Data)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
	if t.Nodes[i].Field.Kind.Number() {
		return t.SetNumber(i, int64(r.Uint64()))
	}
	out := t.Bytes(i)
	for j := range out {
		out[j] = byte(r.Uint32())
	}
	return len(out) > 0
}

// assign gives a leaf a value of whichever sort. It reports whether the bytes changed.
func (t *Tree) assign(i int, v value) bool {
	f := t.Nodes[i].Field
	switch {
	case f.Kind.Number():
		return t.SetNumber(i, v.asNumber())
	case f.Kind == Literal, f.Kind == Float, !t.Leaf(i), !t.Aligned(i):
		return false
	case !v.text && f.Kind == Bytes:
		return t.set(i, bigEndian(v.number))
	}
	return t.set(i, v.asBytes())
}
