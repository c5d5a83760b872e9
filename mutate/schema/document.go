package schema

import (
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// The keywords that contain subschemas.
var (
	schemaMembers = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true,
		"dependentSchemas": true, "dependencies": true}
	schemaLists = map[string]bool{"allOf": true, "anyOf": true, "oneOf": true, "prefixItems": true, "items": true}
	schemaOnes  = map[string]bool{"items": true, "additionalItems": true, "contains": true, "additionalProperties": true,
		"propertyNames": true, "not": true, "if": true, "then": true, "else": true, "unevaluatedItems": true,
		"unevaluatedProperties": true, "contentSchema": true}
)

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// eachSchema calls visit for every subschema that is an object, parents first, until visit returns an error.
func eachSchema(v *mutate.JSON, pointer string, visit func(pointer string, v *mutate.JSON) *SkipError) *SkipError {
	if v == nil || v.Kind != mutate.Object {
		return nil
	}
	if err := visit(pointer, v); err != nil {
		return err
	}
	for _, m := range v.Members {
		at := pointer + "/" + pointerEscape.Replace(m.Name)
		if schemaOnes[m.Name] {
			if err := eachSchema(m.Value, at, visit); err != nil {
				return err
			}
		}
		if schemaLists[m.Name] && m.Value.Kind == mutate.Array {
			for i, item := range m.Value.Items {
				if err := eachSchema(item, at+"/"+strconv.Itoa(i), visit); err != nil {
					return err
				}
			}
		}
		if schemaMembers[m.Name] && m.Value.Kind == mutate.Object {
			for _, sub := range m.Value.Members {
				if err := eachSchema(sub.Value, at+"/"+pointerEscape.Replace(sub.Name), visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readDocument parses a schema and converts the syntax of other drafts and dialects to one that the validator accepts. It does not move
// subschemas, so that pointers into the document stay valid.
func readDocument(raw []byte) (*mutate.JSON, *jsonschema.Draft, *SkipError) {
	doc, err := mutate.ParseJSON(raw)
	if err != nil {
		return nil, nil, &SkipError{Reason: "the schema is not JSON: " + err.Error()}
	}
	switch {
	case doc.Kind == mutate.Bool && doc.Text == "false":
		return nil, nil, &SkipError{Reason: "the schema is false, which nothing meets"}
	case doc.Kind != mutate.Object && doc.Kind != mutate.Bool:
		return nil, nil, &SkipError{Reason: "a schema is an object or a boolean, not " + doc.Kind.String()}
	}
	dropDuplicates(doc)
	draft, skip := chooseDraft(doc)
	if skip != nil {
		return nil, nil, skip
	}
	skip = eachSchema(doc, "", func(pointer string, v *mutate.JSON) *SkipError {
		if draft != jsonschema.Draft4 {
			numericExclusive(v, "exclusiveMinimum", "minimum")
			numericExclusive(v, "exclusiveMaximum", "maximum")
		}
		allowNull(v)
		return checkMembers(doc, pointer, v)
	})
	return doc, draft, skip
}

// dropDuplicates keeps only the last member of each name, as decoders do.
func dropDuplicates(v *mutate.JSON) {
	for _, item := range v.Items {
		dropDuplicates(item)
	}
	last := make(map[string]int, len(v.Members))
	for i, m := range v.Members {
		last[m.Name] = i
	}
	kept := v.Members[:0]
	for i, m := range v.Members {
		if last[m.Name] == i {
			dropDuplicates(m.Value)
			kept = append(kept, m)
		}
	}
	v.Members = kept
}

var drafts = map[string]*jsonschema.Draft{
	"json-schema.org/schema":               jsonschema.Draft2020,
	"json-schema.org/draft/2020-12/schema": jsonschema.Draft2020,
	"json-schema.org/draft/2019-09/schema": jsonschema.Draft2019,
	"json-schema.org/draft-07/schema":      jsonschema.Draft7,
	"json-schema.org/draft-06/schema":      jsonschema.Draft6,
	"json-schema.org/draft-04/schema":      jsonschema.Draft4,
}

// chooseDraft returns the draft that $schema names, or else the newest one with the document's form of items. A $schema that is not a draft
// of JSON Schema is removed, since it would have to be fetched.
func chooseDraft(doc *mutate.JSON) (*jsonschema.Draft, *SkipError) {
	lists, prefixes, anchors := "", false, false
	_ = eachSchema(doc, "", func(pointer string, v *mutate.JSON) *SkipError {
		if items := v.Get("items"); items != nil && items.Kind == mutate.Array && lists == "" {
			lists = pointer + "/items"
		}
		prefixes = prefixes || v.Get("prefixItems") != nil
		id, _ := v.Get("$id").Str()
		anchors = anchors || strings.HasPrefix(id, "#")
		return nil
	})
	name, _ := doc.Get("$schema").Str()
	_, address, _ := strings.Cut(strings.TrimSuffix(name, "#"), "://")
	draft := drafts[address]
	if draft == nil || draft == jsonschema.Draft2020 && lists != "" {
		doc.Delete("$schema")
	}
	switch {
	case anchors && draft == nil:
		return jsonschema.Draft7, nil // the last draft with anchors in $id
	case lists == "" && draft == nil:
		return jsonschema.Draft2020, nil
	case lists != "" && prefixes:
		return nil, &SkipError{Keyword: "items", Where: strings.TrimSuffix(lists, "/items"), Reason: "items is an array beside prefixItems, which no draft has"}
	case lists != "" && (draft == nil || draft == jsonschema.Draft2020):
		return jsonschema.Draft2019, nil
	}
	return draft, nil
}

// numericExclusive converts draft 4's {exclusive: true, bound: n} to {exclusive: n}.
func numericExclusive(v *mutate.JSON, exclusive, bound string) {
	flag := v.Get(exclusive)
	if flag == nil || flag.Kind != mutate.Bool {
		return
	}
	limit := v.Get(bound)
	v.Delete(exclusive)
	if flag.Text == "true" && limit != nil {
		v.Delete(bound)
		v.Set(exclusive, limit)
	}
}

// allowNull converts OpenAPI's nullable to JSON Schema.
func allowNull(v *mutate.JSON) {
	if flag := v.Get("nullable"); flag == nil || flag.Kind != mutate.Bool || flag.Text != "true" {
		return
	}
	null := mutate.NewString("null")
	switch types := v.Get("type"); {
	case types == nil:
		return // without a type, nullable has no meaning
	case types.Kind == mutate.String && types.Text != "null":
		v.Set("type", mutate.NewArray(types, null))
	case types.Kind == mutate.Array:
		for _, t := range types.Items {
			if t.Text == "null" {
				return
			}
		}
		types.Items = append(types.Items, null)
	}
	if enum := v.Get("enum"); enum != nil && enum.Kind == mutate.Array {
		for _, value := range enum.Items {
			if value.Kind == mutate.Null {
				return
			}
		}
		enum.Items = append(enum.Items, mutate.NewNull())
	}
}

// checkMembers finds errors that would otherwise fail later with a less helpful reason.
func checkMembers(doc *mutate.JSON, pointer string, v *mutate.JSON) *SkipError {
	skip := func(keyword, reason string) *SkipError {
		return &SkipError{Keyword: keyword, Where: pointer, Reason: reason}
	}
	for _, m := range v.Members {
		switch m.Name {
		case "$ref", "$dynamicRef", "$recursiveRef":
			if reason := checkReference(doc, m.Value); reason != "" {
				return skip(m.Name, reason)
			}
		case "pattern":
			if text, ok := m.Value.Str(); ok {
				if _, err := newPattern(text); err != nil {
					return skip(m.Name, err.Error())
				}
			}
		case "patternProperties":
			for _, sub := range m.Value.Members {
				if _, err := newPattern(sub.Name); err != nil {
					return skip(m.Name, err.Error())
				}
			}
		case "enum":
			if m.Value.Kind == mutate.Array && len(m.Value.Items) == 0 {
				return skip(m.Name, "the enum is empty, which nothing meets")
			}
		case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
			if reason := checkCount(m.Name, v, m.Value); reason != "" {
				return skip(m.Name, reason)
			}
		}
		if _, err := plainValue(m.Value); err != nil {
			return skip(m.Name, err.Error())
		}
	}
	return nil
}

// The size of the largest value that is made to satisfy a minimum.
const (
	maxForcedLength = 1 << 17 // code points
	maxForcedCount  = 1 << 12 // items or members
	maxForcedSize   = 1 << 17 // nodes; sixteen code points count as one
)

// checkCount rejects minima that would need too much memory, and removes maxima that exceed the validator's range.
func checkCount(keyword string, v, value *mutate.JSON) string {
	if value.Kind != mutate.Number {
		return ""
	}
	limit := int64(maxForcedCount)
	if strings.HasSuffix(keyword, "Length") {
		limit = maxForcedLength
	}
	n, ok := value.Int()
	switch {
	case strings.HasPrefix(keyword, "min") && ok && n > limit, !ok && isHugeInteger(value.Text) && keyword[:3] == "min":
		return keyword + " " + value.Text + " is more than the " + strconv.FormatInt(limit, 10) + " we are ready to make"
	case !ok && isHugeInteger(value.Text), ok && n > 1<<40:
		v.Set(keyword, mutate.NewInt(1<<40))
	}
	return ""
}

func isHugeInteger(text string) bool {
	n, ok := parseNumber(text)
	return ok && n.IsInt() && n.Sign() > 0
}

// checkReference returns why a reference cannot be resolved, if that is known without the validator.
func checkReference(doc, ref *mutate.JSON) string {
	text, ok := ref.Str()
	if !ok {
		return "a reference is a string, not " + ref.Kind.String()
	}
	address, fragment, _ := strings.Cut(text, "#")
	if address != "" {
		_, known, _ := strings.Cut(address, "://")
		if drafts[known] != nil || hasIdentifiers(doc) {
			return ""
		}
		return "the reference " + strconv.Quote(text) + " is external, and nothing is fetched"
	}
	lost := !strings.Contains(fragment, "%")
	if strings.HasPrefix(fragment, "/") {
		lost = lost && !hasIdentifiers(doc) && doc.At(fragment) == nil
	} else {
		lost = lost && fragment != "" && !hasAnchor(doc, fragment)
	}
	if lost {
		return "the reference " + strconv.Quote(text) + " leads nowhere"
	}
	return ""
}

// hasAnchor reports whether the document may contain an anchor with that name, in the syntax of any draft.
func hasAnchor(doc *mutate.JSON, name string) bool {
	found := false
	doc.Walk(func(_ string, v *mutate.JSON) bool {
		for _, keyword := range []string{"$anchor", "$dynamicAnchor", "$id", "id"} {
			text, _ := v.Get(keyword).Str()
			found = found || text == name || strings.HasSuffix(text, "#"+name)
		}
		return !found
	})
	return found
}

// hasIdentifiers reports whether a subschema has an $id of its own, against which references are resolved.
func hasIdentifiers(doc *mutate.JSON) bool {
	found := false
	_ = eachSchema(doc, "", func(_ string, v *mutate.JSON) *SkipError {
		found = found || v.Get("$id") != nil || v.Get("id") != nil && v.Get("id").Kind == mutate.String
		return nil
	})
	return found
}
