package session

import (
	"strconv"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// plainSchema is a schema of the few keywords that most tools use, ready to be checked without memory being taken.
// It only ever says that a value conforms; whatever else is for the validator.
type plainSchema struct {
	kinds      uint16 // allowed, a bit for each mutate.Kind; integers apart
	integer    bool   // a number has to be one
	properties []plainProperty
	required   int
	closed     bool // no other properties
	items      *plainSchema
	enum       []string // texts of the strings that are allowed
	limits     [2]float64
	limited    bool
	lengths    [2]int // of strings and arrays
}

type plainProperty struct {
	name     string
	schema   *plainSchema
	required bool
}

const allKinds = 1<<mutate.Null | 1<<mutate.Bool | 1<<mutate.Number | 1<<mutate.String | 1<<mutate.Array | 1<<mutate.Object

// readPlain returns nil when the schema has a keyword that is not plain.
func readPlain(v *mutate.JSON, depth int) *plainSchema {
	if v == nil || v.Kind != mutate.Object || depth > 16 {
		return nil
	}
	p := &plainSchema{kinds: allKinds, limits: [2]float64{-1e308, 1e308}, lengths: [2]int{0, 1 << 30}}
	var required *mutate.JSON
	for i := range v.Members {
		m := &v.Members[i]
		ok := true
		switch m.Name {
		case "title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly", "$comment", "$schema":
		case "type":
			ok = p.readType(m.Value)
		case "properties":
			ok = p.readProperties(m.Value, depth)
		case "required":
			required = m.Value
		case "additionalProperties":
			ok = m.Value != nil && (m.Value.Kind == mutate.Bool || m.Value.Kind == mutate.Object && len(m.Value.Members) == 0)
			p.closed = ok && m.Value.Text == "false"
		case "items":
			p.items = readPlain(m.Value, depth+1)
			ok = p.items != nil
		case "enum":
			ok = p.readEnum(m.Value)
		case "minimum", "maximum":
			ok = p.readLimit(m.Name == "maximum", m.Value)
		case "minLength", "minItems", "maxLength", "maxItems":
			n, whole := m.Value.Int()
			ok = whole && n >= 0 && n <= 1<<30
			if m.Name[1] == 'i' {
				p.lengths[0] = max(p.lengths[0], int(n))
			} else {
				p.lengths[1] = min(p.lengths[1], int(n))
			}
		default:
			ok = false
		}
		if !ok {
			return nil
		}
	}
	if !p.readRequired(required) {
		return nil
	}
	return p
}

func (p *plainSchema) readType(v *mutate.JSON) bool {
	name, ok := v.Str()
	if !ok {
		return false
	}
	switch name {
	case "null":
		p.kinds = 1 << mutate.Null
	case "boolean":
		p.kinds = 1 << mutate.Bool
	case "number", "integer":
		p.kinds = 1 << mutate.Number
		p.integer = name == "integer"
	case "string":
		p.kinds = 1 << mutate.String
	case "array":
		p.kinds = 1 << mutate.Array
	case "object":
		p.kinds = 1 << mutate.Object
	default:
		return false
	}
	return true
}

func (p *plainSchema) readProperties(v *mutate.JSON, depth int) bool {
	if v == nil || v.Kind != mutate.Object || jsonrpc.HasTwice(v) || len(v.Members) > 64 {
		return false
	}
	for i := range v.Members {
		s := readPlain(v.Members[i].Value, depth+1)
		if s == nil {
			return false
		}
		p.properties = append(p.properties, plainProperty{name: v.Members[i].Name, schema: s})
	}
	return true
}

func (p *plainSchema) readRequired(v *mutate.JSON) bool {
	if v == nil {
		return true
	}
	for _, item := range v.Items {
		name, ok := item.Str()
		i := p.property(name)
		if !ok || i < 0 || p.properties[i].required {
			return false
		}
		p.properties[i].required = true
		p.required++
	}
	return v.Kind == mutate.Array
}

func (p *plainSchema) readEnum(v *mutate.JSON) bool {
	if v == nil || v.Kind != mutate.Array || len(v.Items) == 0 {
		return false
	}
	for _, item := range v.Items {
		text, ok := item.Str()
		if !ok {
			return false
		}
		p.enum = append(p.enum, text)
	}
	return true
}

func (p *plainSchema) readLimit(upper bool, v *mutate.JSON) bool {
	n, ok := v.Int()
	if !ok || n > 1<<53 || n < -1<<53 {
		return false
	}
	p.limited = true
	if upper {
		p.limits[1] = float64(n)
	} else {
		p.limits[0] = float64(n)
	}
	return true
}

func (p *plainSchema) property(name string) int {
	for i := range p.properties {
		if p.properties[i].name == name {
			return i
		}
	}
	return -1
}

// holds reports that v conforms; false means that somebody else has to look.
func (p *plainSchema) holds(v *mutate.JSON) bool {
	if v == nil || p.kinds&(1<<v.Kind) == 0 {
		return false
	}
	switch v.Kind {
	case mutate.Number:
		return p.holdsNumber(v)
	case mutate.String:
		if p.enum != nil {
			for _, text := range p.enum {
				if text == v.Text {
					return true
				}
			}
			return false
		}
		n := utf8.RuneCountInString(v.Text)
		return n >= p.lengths[0] && n <= p.lengths[1]
	case mutate.Array:
		if p.enum != nil || len(v.Items) < p.lengths[0] || len(v.Items) > p.lengths[1] {
			return false
		}
		if p.items != nil {
			for _, item := range v.Items {
				if !p.items.holds(item) {
					return false
				}
			}
		}
		return true
	case mutate.Object:
		return p.enum == nil && p.holdsObject(v)
	}
	return p.enum == nil
}

func (p *plainSchema) holdsNumber(v *mutate.JSON) bool {
	if p.enum != nil {
		return false
	}
	if p.integer && (!jsonrpc.IsInteger(v.Text) || len(v.Text) > 15) {
		return false
	}
	if !p.limited {
		return true
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return err == nil && f >= p.limits[0] && f <= p.limits[1]
}

func (p *plainSchema) holdsObject(v *mutate.JSON) bool {
	required := 0
	for i := range v.Members {
		k := p.property(v.Members[i].Name)
		if k < 0 {
			if p.closed {
				return false
			}
			continue
		}
		if !p.properties[k].schema.holds(v.Members[i].Value) {
			return false
		}
		if p.properties[k].required {
			required++
		}
	}
	// A name that stands twice counts twice; then the validator looks.
	return required == p.required && (len(v.Members) < 2 || !jsonrpc.HasTwice(v))
}
