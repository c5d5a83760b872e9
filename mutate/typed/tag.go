package typed

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// settings are the settings of a struct tag. Texts are parsed when the type of the field is known.
type settings struct {
	low, high string
	oneof     []string
	len       string
	pattern   string
	required  bool
	utf8      bool
	each      string // the tag of elements
}

func (s settings) empty() bool { return reflect.ValueOf(s).IsZero() }

func parseTag(tag, each string) (s settings, err error) {
	s.each = each
	if p := strings.Index(tag, "pattern="); p >= 0 && (p == 0 || tag[p-1] == ',') {
		s.pattern, tag = tag[p+len("pattern="):], strings.TrimSuffix(tag[:p], ",")
	}
	for _, part := range strings.Split(tag, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "":
		case "min":
			s.low = value
		case "max":
			s.high = value
		case "oneof":
			s.oneof = strings.Split(value, "|")
		case "len":
			s.len = value
			if _, _, err := span(value); err != nil {
				return s, err
			}
		case "required":
			s.required = true
		case "utf8":
			s.utf8 = true
		default:
			return s, fmt.Errorf("the fuzz tag has no setting %q", name)
		}
	}
	return s, nil
}

// span parses "3", "1..5", "1.." or "..5".
func span(text string) (low, high int, err error) {
	a, b, ranged := strings.Cut(text, "..")
	high = math.MaxInt
	if a != "" {
		low, err = strconv.Atoi(a)
	}
	if err == nil && b != "" {
		high, err = strconv.Atoi(b)
	}
	if !ranged {
		high = low
	}
	if err != nil || low < 0 || high < low || text == "" || text == ".." {
		return 0, 0, fmt.Errorf("len=%s is not a range of lengths, expected a form such as 3, 1..5, 1.. or ..5", text)
	}
	return low, high, nil
}

func (s settings) length() (low, high int) {
	if s.len == "" {
		return 0, math.MaxInt
	}
	low, high, _ = span(s.len) // parseTag has checked it
	return low, high
}

// unused returns an error if a setting does not apply to the type.
func (s settings) unused(t reflect.Type) error {
	s.each = ""
	if !s.empty() {
		return fmt.Errorf("the fuzz tag has a setting that does not apply to %v", t)
	}
	return nil
}

// unusedBut is unused for types to which required applies.
func (s settings) unusedBut(t reflect.Type) error {
	s.required = false
	return s.unused(t)
}

func (s settings) integer(n *integer) error {
	low, high := n.low, n.low+n.span
	var err error
	if s.low != "" {
		low, err = n.parse(s.low)
	}
	if err == nil && s.high != "" {
		high, err = n.parse(s.high)
	}
	if err != nil {
		return err
	}
	if err := n.within(low, high); err != nil {
		return err
	}
	s.low, s.high = "", ""
	return s.unused(n.typ)
}

// parse parses a value in a tag.
func (n *integer) parse(text string) (uint64, error) {
	p := n.alloc(1)
	v, err := parse([]byte(text))
	if err != nil {
		v = text // a duration
	}
	if err := n.decode(v, p); err != nil {
		return 0, err
	}
	return n.load(p), nil
}

// float parses the bounds, rounded to the type: otherwise a value at a bound could exceed it.
func (s settings) float(n *float) (err error) {
	if s.low != "" {
		n.low, err = strconv.ParseFloat(s.low, int(n.size*8))
	}
	if err == nil && s.high != "" {
		n.high, err = strconv.ParseFloat(s.high, int(n.size*8))
	}
	if err != nil {
		return fmt.Errorf("reading the range: %w", err)
	}
	if !(n.low <= n.high) {
		return errors.New("the range is empty")
	}
	s.low, s.high = "", ""
	return s.unused(n.typ)
}

func (s settings) text(n *text) (err error) {
	n.min, n.max = s.length()
	n.utf8 = s.utf8
	if s.pattern != "" {
		if n.grammar, err = Pattern(s.pattern); err != nil {
			return err
		}
	}
	s.len, s.utf8, s.pattern = "", false, ""
	return s.unused(n.typ)
}

// enum parses the values of oneof.
func (s settings) enum(t reflect.Type) (node, error) {
	base, err := (&compiler{done: map[reflect.Type]node{}}).build(t, settings{})
	if err != nil {
		return nil, err
	}
	i := base.about()
	n := &enum{info: newInfo(t), base: base}
	n.flat, n.plain = i.flat, i.plain
	k := t.Kind()
	if k != reflect.String && !(k >= reflect.Int && k <= reflect.Float64) {
		return nil, fmt.Errorf("oneof does not apply to %v", t)
	}
	for _, text := range s.oneof {
		p := i.alloc(1)
		var v any = text
		if k != reflect.String {
			if tree, err := parse([]byte(text)); err == nil {
				v = tree
			}
		}
		if err := base.decode(v, p); err != nil {
			return nil, err
		}
		n.values = append(n.values, p)
	}
	n.index = func(p unsafe.Pointer) int {
		for k, v := range n.values {
			if i.at(v).Equal(i.at(p)) {
				return k
			}
		}
		return -1
	}
	s.oneof = nil
	return n, s.unused(t)
}
