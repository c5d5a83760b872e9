package mutate

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Kind says what a [JSON] node is.
type Kind uint8

// The kinds of nodes. Raw is text which is written as it stands, JSON or not.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
	Raw
)

var kindNames = [...]string{"invalid", "null", "bool", "number", "string", "array", "object", "raw"}

// String returns the kind's name in JSON Schema's words where it has one.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// JSON is one node of a JSON text. It keeps what decoders throw away: the text of numbers, the escapes of strings, the
// order of members and duplicate names. A tree has one owner, and none of its nodes may stand in it twice: no method
// may be called while another one changes the tree. The zero value is invalid and is written as null.
type JSON struct {
	Kind Kind
	// Text is "true" or "false" of a Bool, the digits of a Number as they stand, the decoded characters of a String and
	// the bytes of a Raw. A String's text need not be valid UTF-8: stray bytes stay, and a lone surrogate that was
	// escaped is the three bytes that UTF-8 would give it (WTF-8), which are written as an escape again.
	Text    string
	Items   []*JSON  // of an Array, of no account elsewhere; nil items are written as null
	Members []Member // of an Object, of no account elsewhere; in order, duplicates kept
	read    *verbatim
}

// Member is one name and value of an object. A nil value is written as null.
type Member struct {
	Name  string // decoded like the text of a String
	Value *JSON
	read  *verbatim
}

// verbatim remembers how a string was spelt; nil: as we would. It holds for as long as the string still is the one that
// was read, which is checked when it is written: everybody may assign to Text and Name. It is never changed.
type verbatim struct{ token, text string }

// spelling returns how text was spelt, "" if it was not read or was spelt as we would.
func (r *verbatim) spelling(text string) string {
	if r == nil || r.text != text {
		return ""
	}
	return r.token
}

// NewNull returns a null.
func NewNull() *JSON { return &JSON{Kind: Null} }

// NewBool returns true or false.
func NewBool(b bool) *JSON { return &JSON{Kind: Bool, Text: strconv.FormatBool(b)} }

// NewNumber returns a number that is written as text, which is not checked.
func NewNumber(text string) *JSON { return &JSON{Kind: Number, Text: text} }

// NewInt returns an integer.
func NewInt(n int64) *JSON { return NewNumber(strconv.FormatInt(n, 10)) }

// NewString returns a string of the given characters.
func NewString(s string) *JSON { return &JSON{Kind: String, Text: s} }

// NewArray returns an array, which takes over the items.
func NewArray(items ...*JSON) *JSON { return &JSON{Kind: Array, Items: items} }

// NewObject returns an object, which takes over the members.
func NewObject(members ...Member) *JSON { return &JSON{Kind: Object, Members: members} }

// NewRaw returns text that is written as it stands.
func NewRaw(text string) *JSON { return &JSON{Kind: Raw, Text: text} }

// Clone returns a deep copy; nil of nil.
func (v *JSON) Clone() *JSON {
	if v == nil {
		return nil
	}
	w := &JSON{}
	w.copyFrom(v)
	return w
}

// copyFrom makes v a deep copy of src out of the memory that v already has. The two must not share nodes.
func (v *JSON) copyFrom(src *JSON) {
	v.Kind, v.Text, v.read = src.Kind, src.Text, src.read
	have := v.Items[:cap(v.Items)]
	v.Items = slices.Grow(v.Items[:0], len(src.Items))[:len(src.Items)]
	for i, item := range src.Items {
		var old *JSON
		if i < len(have) {
			old = have[i]
		}
		v.Items[i] = copyOnto(old, item)
	}
	had := v.Members[:cap(v.Members)]
	v.Members = slices.Grow(v.Members[:0], len(src.Members))[:len(src.Members)]
	for i, m := range src.Members {
		var old *JSON
		if i < len(had) {
			old = had[i].Value
		}
		v.Members[i] = Member{Name: m.Name, Value: copyOnto(old, m.Value), read: m.read}
	}
}

func copyOnto(old, src *JSON) *JSON {
	if src == nil {
		return nil
	}
	if old == nil {
		old = &JSON{}
	}
	old.copyFrom(src)
	return old
}

// Get returns the value of the first member of that name, nil if v is no object or has none. v may be nil.
func (v *JSON) Get(name string) *JSON {
	if i := v.index(name); i >= 0 {
		return v.Members[i].Value
	}
	return nil
}

func (v *JSON) index(name string) int {
	if v == nil || v.Kind != Object {
		return -1
	}
	for i := range v.Members { // without copying them
		if v.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// Set gives the first member of that name the value, or appends one. It does nothing to what is no object.
func (v *JSON) Set(name string, value *JSON) {
	if v == nil || v.Kind != Object {
		return
	}
	if i := v.index(name); i >= 0 {
		v.Members[i].Value = value
		return
	}
	v.Members = append(v.Members, Member{Name: name, Value: value})
}

// Delete removes every member of that name.
func (v *JSON) Delete(name string) {
	if v == nil || v.Kind != Object {
		return
	}
	v.Members = slices.DeleteFunc(v.Members, func(m Member) bool { return m.Name == name })
}

// Len returns the number of nodes, v included; 0 of nil.
func (v *JSON) Len() int {
	n := 0
	v.each(func(*JSON) { n++ })
	return n
}

// each visits v and all below it in document order.
func (v *JSON) each(visit func(*JSON)) {
	if v == nil {
		return
	}
	visit(v)
	switch v.Kind {
	case Array:
		for _, item := range v.Items {
			item.each(visit)
		}
	case Object:
		for _, m := range v.Members {
			m.Value.each(visit)
		}
	}
}

// Str returns the characters of a string.
func (v *JSON) Str() (string, bool) {
	if v == nil || v.Kind != String {
		return "", false
	}
	return v.Text, true
}

// Int returns the value of a number that is an integer in the range of int64, however it is spelt: 1.0 and 10e-1 are 1.
func (v *JSON) Int() (int64, bool) {
	if v == nil || v.Kind != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && v.Text[0] != '+' {
		return n, true
	}
	d, ok := parseDecimal(v.Text)
	if !ok || d.huge != "" || d.exp < 0 || d.exp > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(d.sign()+"0"+d.digits+strings.Repeat("0", int(d.exp)), 10, 64)
	return n, err == nil
}

// Equal reports whether the two mean the same: members in any order, the last one of a name counting; numbers by their
// exact decimal value; strings by their characters. Numbers whose exponents have more than 18 digits, and what is no
// JSON number, are equal when their texts are. A Raw equals a Raw of the same text.
func (v *JSON) Equal(w *JSON) bool {
	if v == nil || w == nil {
		return v == w
	}
	if v.Kind != w.Kind {
		return false
	}
	switch v.Kind {
	case Number:
		return equalNumbers(v.Text, w.Text)
	case String:
		return v.Text == w.Text || joinSurrogates(v.Text) == joinSurrogates(w.Text)
	case Array:
		return slices.EqualFunc(v.Items, w.Items, (*JSON).Equal)
	case Object:
		return equalMembers(v.Members, w.Members)
	case Bool, Raw:
		return v.Text == w.Text
	}
	return true
}

func equalMembers(a, b []Member) bool {
	x, y := lastMembers(a), lastMembers(b)
	if len(x) != len(y) {
		return false
	}
	for name, v := range x {
		if w, ok := y[name]; !ok || !v.Equal(w) {
			return false
		}
	}
	return true
}

func lastMembers(members []Member) map[string]*JSON {
	last := make(map[string]*JSON, len(members))
	for _, m := range members {
		last[joinSurrogates(m.Name)] = m.Value
	}
	return last
}

// identical reports whether the two are written as the same bytes. Raw text that spells more than one node of the other
// tree is not seen through.
func (v *JSON) identical(w *JSON) bool {
	if v == nil || w == nil {
		return v == w
	}
	if v.Kind != w.Kind {
		return (v.Kind == Raw || w.Kind == Raw) && v.String() == w.String()
	}
	switch v.Kind {
	case Bool, Number, Raw:
		return v.Text == w.Text
	case String:
		return v.Text == w.Text && v.read.spelling(v.Text) == w.read.spelling(w.Text)
	case Array:
		return slices.EqualFunc(v.Items, w.Items, (*JSON).identical)
	case Object:
		return slices.EqualFunc(v.Members, w.Members, func(m, o Member) bool {
			return m.Name == o.Name && m.read.spelling(m.Name) == o.read.spelling(o.Name) && m.Value.identical(o.Value)
		})
	}
	return true
}

// decimal is a number's exact value: (-)digits * 10^exp, where digits has no zero at either end; zero has none.
type decimal struct {
	negative bool
	digits   string
	exp      int64
	huge     string // the whole text, where the exponent is out of our range
}

func (d decimal) sign() string {
	if d.negative {
		return "-"
	}
	return ""
}

func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := parseDecimal(a)
	if !ok {
		return false
	}
	y, ok := parseDecimal(b)
	return ok && x == y
}

// parseDecimal reads a number of JSON's grammar; false if the text is not one.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	mantissa, exponent, hasExp := strings.Cut(text, "e")
	if !hasExp {
		mantissa, exponent, hasExp = strings.Cut(text, "E")
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, hasDot := strings.Cut(mantissa, ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' || hasDot && !allDigits(fraction) {
		return d, false
	}
	unsigned := strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
	if hasExp && (!allDigits(unsigned) || len(exponent)-len(unsigned) > 1) {
		return d, false
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, true
	}
	unsigned = strings.TrimLeft(unsigned, "0")
	if len(unsigned) > 18 {
		d.huge = text
		return d, true
	}
	if unsigned != "" {
		d.exp, _ = strconv.ParseInt(unsigned, 10, 64)
		if exponent[0] == '-' {
			d.exp = -d.exp
		}
	}
	d.digits = strings.TrimRight(digits, "0")
	d.exp += int64(len(digits)-len(d.digits)) - int64(len(fraction))
	return d, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// integer returns the value of an integer that has no more than 400 digits.
func (d decimal) integer() (*big.Int, bool) {
	if d.huge != "" || d.exp < 0 || d.exp+int64(len(d.digits)) > 400 {
		return nil, false
	}
	n, ok := new(big.Int).SetString(d.sign()+"0"+d.digits+strings.Repeat("0", int(d.exp)), 10)
	return n, ok
}

// float returns the nearest double, infinite where there is none.
func (d decimal) float() float64 {
	if d.huge != "" {
		return math.Inf(1)
	}
	f, _ := strconv.ParseFloat(d.sign()+"0"+d.digits+"e"+strconv.FormatInt(d.exp, 10), 64)
	return f
}
