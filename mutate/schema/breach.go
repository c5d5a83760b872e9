package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// breach is a way to violate a keyword in values that otherwise satisfy a variant. Whether a value does is decided by the validator.
type breach struct {
	keyword, how string
	location     string // the URL of the subschema in the validator's report
	report       string // the keyword in the validator's report
	several      bool   // of oneOf: more than one branch is satisfied
	make         func(d *draw) *mutate.JSON
	confirm      func(plain any) bool // decides instead of the report; nil: the report decides
}

func itoa(i int) string { return strconv.Itoa(i) }

// breaching collects the breaches of a variant.
type breaching struct {
	v    *variant
	atom *jsonschema.Schema // the subschema whose keywords are violated
	all  []*breach
}

func (c *breaching) add(keyword, how string, make func(d *draw) *mutate.JSON) *breach {
	b := &breach{keyword: keyword, how: how, location: c.atom.Location, report: keyword, make: make}
	c.all = append(c.all, b)
	return b
}

// findBreaches lists the ways to violate the keywords of the variant's atoms.
func (v *variant) findBreaches() {
	c := &breaching{v: v, all: []*breach{}}
	for _, a := range v.way.atoms {
		c.atom = a
		if a.Types != nil && !a.Types.IsEmpty() {
			c.types()
		}
		if a.Enum != nil || a.Const != nil {
			c.values()
		}
		if v.types&numberTypes != 0 && !v.closed {
			c.numbers()
		}
		if v.types&stringType != 0 && !v.closed {
			c.strings()
		}
		if v.types&arrayType != 0 && !v.closed {
			c.arrays()
		}
		if v.types&objectType != 0 && !v.closed {
			c.objects()
		}
	}
	c.closers()
	v.breaches = c.all
}

// types violates type with a value of each type that is not allowed.
func (c *breaching) types() {
	v, allowed := c.v, typesOf(c.atom)
	for _, t := range typeNames {
		if t.set&^allowed == 0 {
			continue
		}
		how := t.name
		if t.set == numberTypes && allowed&intType != 0 {
			how = "fraction"
		}
		if t.set == numberTypes && allowed&numberTypes == 0 {
			continue // the integer suffices
		}
		c.add("type", how, func(d *draw) *mutate.JSON { return v.mistype(d, how) })
	}
}

// mistype returns a value of another type that a careless peer might send: a converted or an empty one.
func (v *variant) mistype(d *draw, how string) *mutate.JSON {
	switch how {
	case "null":
		return mutate.NewNull()
	case "boolean":
		return mutate.NewBool(d.r.IntN(2) == 0)
	case "integer":
		return mutate.NewNumber([]string{"0", "1", "-1", "42", "9007199254740993", "1e400"}[d.r.IntN(6)])
	}
	value := v.drawConformValue(d)
	switch how {
	case "fraction":
		x, ok := parseNumber(value.Text)
		if value.Kind != mutate.Number || !ok || d.r.IntN(4) == 0 {
			return mutate.NewNumber([]string{"0.5", "1.5", "1e-7", "-0.1", "1.0000000000000000001"}[d.r.IntN(5)])
		}
		return mutate.NewNumber(shift(x, 1, []int64{2, 10, 1000}[d.r.IntN(3)]))
	case "string":
		if d.r.IntN(6) == 0 {
			return mutate.NewString([]string{"", "null", "undefined", "[object Object]"}[d.r.IntN(4)])
		}
		if value.Kind == mutate.Bool {
			return mutate.NewString([]string{"true", "false", "TRUE", "yes", "1"}[d.r.IntN(5)])
		}
		return mutate.NewString(value.String())
	case "array":
		if d.r.IntN(4) == 0 {
			return mutate.NewArray()
		}
		return mutate.NewArray(value)
	case "object":
		name := []string{"value", "0", "toString", "$ne", "length"}[d.r.IntN(5)]
		if d.r.IntN(4) == 0 {
			return mutate.NewObject()
		}
		return mutate.NewObject(mutate.Member{Name: name, Value: value})
	}
	return mutate.NewNull()
}

// drawConformValue draws a conforming value one level deeper.
func (v *variant) drawConformValue(d *draw) *mutate.JSON {
	if len(v.dice) == 0 && !v.closed {
		return mutate.NewNull()
	}
	return v.draw(d)
}

// values violates enum and const by values that resemble an allowed one.
func (c *breaching) values() {
	if len(c.v.values) == 0 {
		return
	}
	v, keyword := c.v, "enum"
	if c.atom.Const != nil {
		keyword = "const"
	}
	for _, how := range []string{"case", "space", "near", "other type", "prototype", "empty", "unknown"} {
		c.add(keyword, how, func(d *draw) *mutate.JSON {
			return misspell(d, v.values[d.r.IntN(len(v.values))], how)
		})
	}
}

// misspell returns a value that resembles value but is not equal to it, nil if there is none.
func misspell(d *draw, value *mutate.JSON, how string) *mutate.JSON {
	pick := func(list ...string) *mutate.JSON { return mutate.NewString(list[d.r.IntN(len(list))]) }
	switch how {
	case "case":
		return respell(d.r, value)
	case "space":
		if s, ok := value.Str(); ok {
			return pick(s+" ", " "+s, s+"\n", s+"\x00", "\ufeff"+s, s+"\u200b")
		}
	case "near":
		return beside(d, value)
	case "other type":
		return retype(d, value)
	case "prototype":
		return pick("__proto__", "constructor", "toString", "hasOwnProperty", "prototype")
	case "empty":
		return pick("", " ")
	case "unknown":
		return pick("teasel", "*", "null", "undefined", "0", "'")
	}
	return nil
}

// beside returns a slightly larger or smaller value.
func beside(d *draw, value *mutate.JSON) *mutate.JSON {
	w := value.Clone()
	switch value.Kind {
	case mutate.String:
		runes := []rune(value.Text)
		if len(runes) == 0 || d.r.IntN(2) == 0 {
			return mutate.NewString(value.Text + string("sx_1-"[d.r.IntN(5)]))
		}
		i := d.r.IntN(len(runes))
		return mutate.NewString(string(slices.Delete(runes, i, i+1)))
	case mutate.Number:
		if x, ok := parseNumber(value.Text); ok {
			return mutate.NewNumber(shift(x, 1-2*int64(d.r.IntN(2)), []int64{1, 1, 10}[d.r.IntN(3)]))
		}
	case mutate.Bool:
		return mutate.NewBool(value.Text != "true")
	case mutate.Array:
		w.Items = append(w.Items, mutate.NewNull())
		return w
	case mutate.Object:
		w.Set("extra", mutate.NewNull())
		return w
	}
	return nil
}

// retype returns the value converted to another type.
func retype(d *draw, value *mutate.JSON) *mutate.JSON {
	switch value.Kind {
	case mutate.String:
		if _, ok := parseNumber(value.Text); ok && value.Text != "" && value.Text[len(value.Text)-1] != '.' {
			if parsed, err := mutate.ParseJSON([]byte(value.Text)); err == nil {
				return parsed
			}
		}
		if d.r.IntN(2) == 0 {
			return mutate.NewArray(value.Clone())
		}
		return mutate.NewInt(int64(d.r.IntN(3)))
	case mutate.Null:
		return mutate.NewString([]string{"null", ""}[d.r.IntN(2)])
	default:
		return mutate.NewString(value.String())
	}
}
