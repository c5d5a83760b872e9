package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mutate"
)

// Some SDKs read arguments as their language reads its own settings: "2" for 2, true for 1, the text of a list for the list, [2] for 2.
// That is one fault of the SDK, however many tools there are.

// maxConversions is how many values of one call may have been converted.
const maxConversions = 7

// Converts reports whether v, which breaks the schema as b says, does so only by values that such an SDK would convert.
func (c *SchemaCheck) Converts(v *mutate.JSON, b Breach) bool {
	v = v.Clone()
	for range maxConversions {
		at := v.At(b.at)
		if at == nil {
			return false
		}
		if !slices.ContainsFunc(b.want, func(want string) bool { return convert(at, want) }) {
			return false
		}
		broken := false
		if b, broken = c.Check(v); !broken {
			return true
		}
	}
	return false
}

// typesWanted returns the types that a value of another type should have had.
func typesWanted(e *jsonschema.ValidationError) (types []string) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return k.Want
	case *kind.AnyOf, *kind.OneOf:
		for _, cause := range e.Causes {
			if slices.Equal(cause.InstanceLocation, e.InstanceLocation) {
				types = append(types, typesWanted(cause)...)
			}
		}
		slices.Sort(types) // the order of causes is a map's
	}
	return types
}

// convert makes v a value of a type of JSON Schema, and reports whether it could.
func convert(v *mutate.JSON, want string) bool {
	text := strings.TrimSpace(v.Text)
	switch {
	case v.Kind == mutate.String:
		if read, err := mutate.ParseJSON([]byte(text)); err == nil && isOfType(read, want) {
			*v = *read
			return true
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && (want == "number" || want == "integer" && n == float64(int64(n))) {
			*v = *mutate.NewNumber(strconv.FormatFloat(n, 'f', -1, 64))
			return true
		}
		if b, ok := truths[strings.ToLower(text)]; ok && want == "boolean" {
			*v = *mutate.NewBool(b)
			return true
		}
	case v.Kind == mutate.Bool && (want == "integer" || want == "number"):
		n := int64(0)
		if v.Text == "true" {
			n = 1
		}
		*v = *mutate.NewInt(n)
		return true
	case v.Kind == mutate.Number && want == "boolean" && (text == "0" || text == "1"):
		*v = *mutate.NewBool(text == "1")
		return true
	case v.Kind == mutate.Array && len(v.Items) == 1 && v.Items[0] != nil && (want == "integer" || want == "number"): // as JavaScript's Number
		if one := v.Items[0]; isOfType(one, want) || convert(one, want) {
			*v = *one
			return true
		}
	case (v.Kind == mutate.Number || v.Kind == mutate.Bool) && want == "string":
		*v = *mutate.NewString(text)
		return true
	}
	return false
}

// truths are the words that are taken for true or false.
var truths = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

func isOfType(v *mutate.JSON, want string) bool {
	if want == "integer" {
		_, whole := v.Int()
		return whole
	}
	return v.Kind.String() == want || v.Kind == mutate.Bool && want == "boolean"
}
