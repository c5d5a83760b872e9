package mutate

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a [JSON] node.
type Kind uint8

// The kinds of nodes. A Raw is text that is written unchanged, whether it is JSON or not.
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

// String returns the name of the kind, as in JSON Schema if that has one.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// JSON is a node of a JSON tree. It preserves what decoders discard: the text of numbers, the escapes of strings, the order of
// members and duplicate names. A tree must not contain a node twice. Methods may be called concurrently only while no method
// changes the tree. The zero value is invalid and is written as null.
type JSON struct {
	Kind Kind
	// Text is "true" or "false" for a Bool, the digits as written for a Number, the decoded characters for a String, and the
	// bytes for a Raw. The text of a String need not be valid UTF-8: invalid bytes are preserved, and an escaped lone surrogate
	// is represented by three bytes as in WTF-8, which are written as an escape again.
	Text    string
	Items   []*JSON  // of an Array, ignored in other kinds; nil items are written as null
	Members []Member // of an Object, ignored in other kinds; in order, with duplicates
	read    *verbatim
}

// Member is a name and a value of an object. A nil value is written as null.
type Member struct {
	Name  string // decoded like the text of a String
	Value *JSON
	read  *verbatim
}

// verbatim records the original token of a string that Append would write differently; nil: there is none. It applies while the
// string is unchanged, which is checked when the string is written, since callers may assign to Text and Name. It is immutable.
type verbatim struct{ token, text string }

// spelling returns the original token of text, "" if there is none.
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

// NewString returns a string with the given characters.
func NewString(s string) *JSON { return &JSON{Kind: String, Text: s} }

// NewArray returns an array, which takes ownership of the items.
func NewArray(items ...*JSON) *JSON { return &JSON{Kind: Array, Items: items} }

// NewObject returns an object, which takes ownership of the members.
func NewObject(members ...Member) *JSON { return &JSON{Kind: Object, Members: members} }

// NewRaw returns text that is written unchanged.
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

// copyFrom makes v a deep copy of src and reuses the memory of v. The two must not share nodes.
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

// Get returns the value of the first member with that name, nil if there is none or v is not an object. v may be nil.
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
	for i := range v.Members { // by index, to avoid a copy
		if v.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// Set sets the value of the first member with that name, or appends a member. It does nothing if v is not an object.
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

// Delete removes all members with that name.
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

// each visits v and all nodes below it in document order.
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

// Str returns the characters of a String, and false for other kinds.
func (v *JSON) Str() (string, bool) {
	if v == nil || v.Kind != String {
		return "", false
	}
	return v.Text, true
}

// Int returns the value of a Number that is an integer in the range of int64, whatever its notation: 1.0 and 10e-1 are 1. It returns
// false for all other nodes.
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

// Equal reports whether two nodes have the same meaning: the order of members is ignored, and of duplicate names the last counts;
// numbers are compared by their exact decimal value, strings by their characters. Numbers with exponents of more than 18 digits, and
// texts that are not JSON numbers, are compared by their text, as is a Raw.
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

// identical reports whether two nodes are written as the same bytes. It may return false if the text of a Raw equals several nodes
// of the other tree.
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

// decimal is the exact value of a number: (-)digits * 10^exp. digits has no zero at either end; for zero it is empty.
type decimal struct {
	negative bool
	digits   string
	exp      int64
	huge     string // the whole text, if the exponent is out of range
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

// parseDecimal parses a JSON number. It returns false if the text is not one.
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

// integer returns the value of an integer with at most 400 digits, and false for other numbers.
func (d decimal) integer() (*big.Int, bool) {
	if d.huge != "" || d.exp < 0 || d.exp+int64(len(d.digits)) > 400 {
		return nil, false
	}
	n, ok := new(big.Int).SetString(d.sign()+"0"+d.digits+strings.Repeat("0", int(d.exp)), 10)
	return n, ok
}

// float returns the nearest float64, which may be infinite.
func (d decimal) float() float64 {
	if d.huge != "" {
		return math.Inf(1)
	}
	f, _ := strconv.ParseFloat(d.sign()+"0"+d.digits+"e"+strconv.FormatInt(d.exp, 10), 64)
	return f
}
