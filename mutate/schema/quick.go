package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mutate"
)

// quick is a schema of the keywords that most schemas consist of, ready to be checked without an allocation. It only ever says that a
// value conforms; whatever else is for the validator.
type quick struct {
	kinds      uint16 // allowed, a bit for each mutate.Kind; integers apart
	integer    bool   // a number has to be one
	properties []quickProperty
	required   int
	closed     bool   // no other properties
	others     *quick // of other properties; nil: any
	items      *quick
	enum       []string // texts of the strings that are allowed; not nil: nothing but those
	limits     [2]float64
	limited    bool
	lengths    [2]int // of strings and arrays
	all        []*quick
	any        []*quick // one of them holds; empty: there is no such condition
}

type quickProperty struct {
	name     string
	schema   *quick
	required bool
}

const allKinds = 1<<mutate.Null | 1<<mutate.Bool | 1<<mutate.Number | 1<<mutate.String | 1<<mutate.Array | 1<<mutate.Object

// maxQuickDepth is how deep a quick schema looks into a value; references that lead back to themselves count too.
const maxQuickDepth = 64

// quickReader reads the subschemas of a document, each once, since they may refer to each other in circles.
type quickReader struct {
	doc   *mutate.JSON
	known map[*mutate.JSON]*quick
}

// readQuick returns nil if the subschema at a pointer has a keyword that is not among the usual ones.
func readQuick(doc *mutate.JSON, pointer string) *quick {
	if hasIdentifiers(doc) {
		return nil
	}
	x := quickReader{doc, map[*mutate.JSON]*quick{}}
	if q := x.read(doc.At(pointer)); q.kinds != 0 {
		return q
	}
	return nil
}

// anything returns a schema that all values hold.
func anything() *quick {
	return &quick{kinds: allKinds, limits: [2]float64{-1e308, 1e308}, lengths: [2]int{0, 1 << 30}}
}

// maxQuick is how many subschemas of a document are read.
const maxQuick = 2000

// read returns a schema that no value holds for one with other keywords.
func (x *quickReader) read(v *mutate.JSON) *quick {
	if v == nil {
		return &quick{}
	}
	if q, ok := x.known[v]; ok {
		return q
	}
	q := anything()
	x.known[v] = q // before its subschemas, which may refer to it
	if usual := v.Kind == mutate.Object && !hasDuplicate(v) && x.readMembers(q, v) || v.Kind == mutate.Bool && v.Text == "true"; !usual || len(x.known) > maxQuick {
		*q = quick{}
	}
	return q
}

func (x *quickReader) readMembers(q *quick, v *mutate.JSON) bool {
	var required *mutate.JSON
	for i := range v.Members {
		m := &v.Members[i]
		ok := true
		switch m.Name {
		case "title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$defs", "definitions":
		case "type":
			ok = q.readType(m.Value)
		case "properties":
			ok = x.readProperties(q, m.Value)
		case "required":
			required = m.Value
		case "additionalProperties":
			x.readOthers(q, m.Value)
		case "items":
			q.items = x.read(m.Value)
		case "enum":
			ok = q.readEnum(m.Value)
		case "const":
			ok = q.readEnum(mutate.NewArray(m.Value))
		case "$ref":
			ok = x.readReference(q, m.Value)
		case "allOf":
			ok = x.readList(&q.all, m.Value)
		case "anyOf":
			ok = x.readList(&q.any, m.Value)
		case "minimum", "maximum":
			ok = q.readLimit(m.Name == "maximum", m.Value)
		case "minLength", "minItems", "maxLength", "maxItems":
			n, whole := m.Value.Int()
			ok = whole && n >= 0 && n <= 1<<30
			if m.Name[1] == 'i' {
				q.lengths[0] = max(q.lengths[0], int(n))
			} else {
				q.lengths[1] = min(q.lengths[1], int(n))
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return q.readRequired(required)
}

func (q *quick) readType(v *mutate.JSON) bool {
	names := []*mutate.JSON{v}
	if v != nil && v.Kind == mutate.Array {
		names = v.Items
	}
	kinds, integer, number := uint16(0), false, false
	for _, v := range names {
		switch name, _ := v.Str(); name {
		case "null":
			kinds |= 1 << mutate.Null
		case "boolean":
			kinds |= 1 << mutate.Bool
		case "number":
			kinds, number = kinds|1<<mutate.Number, true
		case "integer":
			kinds, integer = kinds|1<<mutate.Number, true
		case "string":
			kinds |= 1 << mutate.String
		case "array":
			kinds |= 1 << mutate.Array
		case "object":
			kinds |= 1 << mutate.Object
		default:
			return false
		}
	}
	q.kinds, q.integer = kinds, integer && !number
	return true
}

func (x *quickReader) readProperties(q *quick, v *mutate.JSON) bool {
	if v == nil || v.Kind != mutate.Object || hasDuplicate(v) || len(v.Members) > 64 {
		return false
	}
	for i := range v.Members {
		q.properties = append(q.properties, quickProperty{name: v.Members[i].Name, schema: x.read(v.Members[i].Value)})
	}
	return true
}

func (x *quickReader) readOthers(q *quick, v *mutate.JSON) {
	q.closed = v.Kind == mutate.Bool && v.Text == "false"
	if v.Kind == mutate.Object && len(v.Members) > 0 {
		q.others = x.read(v)
	}
}

func (x *quickReader) readReference(q *quick, v *mutate.JSON) bool {
	text, ok := v.Str()
	pointer, local := strings.CutPrefix(text, "#")
	if !ok || !local || pointer != "" && pointer[0] != '/' || strings.ContainsAny(pointer, "%~") {
		return false
	}
	q.all = append(q.all, x.read(x.doc.At(pointer)))
	return true
}

func (x *quickReader) readList(to *[]*quick, v *mutate.JSON) bool {
	if v == nil || v.Kind != mutate.Array || len(v.Items) == 0 {
		return false
	}
	for _, item := range v.Items {
		*to = append(*to, x.read(item))
	}
	return true
}

func (q *quick) readRequired(v *mutate.JSON) bool {
	if v == nil {
		return true
	}
	for _, item := range v.Items {
		name, ok := item.Str()
		i := q.property(name)
		if i < 0 && !q.closed && q.others == nil {
			i = len(q.properties)
			q.properties = append(q.properties, quickProperty{name: name, schema: anything()})
		}
		if !ok || i < 0 || q.properties[i].required {
			return false
		}
		q.properties[i].required = true
		q.required++
	}
	return v.Kind == mutate.Array
}

func (q *quick) readEnum(v *mutate.JSON) bool {
	if v == nil || v.Kind != mutate.Array || len(v.Items) == 0 || q.enum != nil {
		return false
	}
	for _, item := range v.Items {
		text, ok := item.Str()
		if !ok {
			return false
		}
		q.enum = append(q.enum, text)
	}
	return true
}

func (q *quick) readLimit(upper bool, v *mutate.JSON) bool {
	n, ok := v.Int()
	if !ok || n > 1<<53 || n < -1<<53 {
		return false
	}
	q.limited = true
	if upper {
		q.limits[1] = float64(n)
	} else {
		q.limits[0] = float64(n)
	}
	return true
}

func (q *quick) property(name string) int {
	for i := range q.properties {
		if q.properties[i].name == name {
			return i
		}
	}
	return -1
}

// holds reports that v conforms; false means that the validator has to look.
func (q *quick) holds(v *mutate.JSON, depth int) bool {
	if v == nil || q.kinds&(1<<v.Kind) == 0 || depth > maxQuickDepth || q.enum != nil && v.Kind != mutate.String {
		return false
	}
	for _, s := range q.all {
		if !s.holds(v, depth+1) {
			return false
		}
	}
	if len(q.any) > 0 && !slices.ContainsFunc(q.any, func(s *quick) bool { return s.holds(v, depth+1) }) {
		return false
	}
	switch v.Kind {
	case mutate.Number:
		return q.holdsNumber(v)
	case mutate.String:
		if q.enum != nil {
			return slices.Contains(q.enum, v.Text)
		}
		n := utf8.RuneCountInString(v.Text)
		return n >= q.lengths[0] && n <= q.lengths[1]
	case mutate.Array:
		if len(v.Items) < q.lengths[0] || len(v.Items) > q.lengths[1] {
			return false
		}
		return q.items == nil || !slices.ContainsFunc(v.Items, func(item *mutate.JSON) bool { return !q.items.holds(item, depth+1) })
	case mutate.Object:
		return q.holdsObject(v, depth)
	}
	return true
}

func (q *quick) holdsNumber(v *mutate.JSON) bool {
	if q.integer && (strings.ContainsAny(v.Text, ".eE") || len(v.Text) > 15) {
		return false
	}
	if !q.limited {
		return true
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return err == nil && f >= q.limits[0] && f <= q.limits[1]
}

func (q *quick) holdsObject(v *mutate.JSON, depth int) bool {
	required := 0
	for i := range v.Members {
		k := q.property(v.Members[i].Name)
		if k < 0 {
			if q.closed || q.others != nil && !q.others.holds(v.Members[i].Value, depth+1) {
				return false
			}
			continue
		}
		if !q.properties[k].schema.holds(v.Members[i].Value, depth+1) {
			return false
		}
		if q.properties[k].required {
			required++
		}
	}
	// A name that stands twice counts twice; then the validator looks.
	return required == q.required && (len(v.Members) < 2 || !hasDuplicate(v))
}
