package model

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// plain turns what YAML gives into what JSON would have given: keys are texts.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
		return v
	case map[any]any:
		out := map[string]any{}
		for k, x := range v {
			key, _ := json.Marshal(k)
			if s, ok := k.(string); ok {
				key = []byte(s)
			}
			out[string(key)] = plain(x)
		}
		return out
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("model.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("model.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../examples/net/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example models: %v", err)
	}
	for _, file := range append(files, "../../cmd/teasel/internal/netserver/template/binary.yaml", "../../cmd/teasel/internal/netserver/template/text.yaml") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(src, &v); err != nil {
			t.Fatal(err)
		}
		v = plain(v)
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		v.(map[string]any)["mesages"] = 1
		if s.Validate(v) == nil {
			t.Errorf("%s: an unknown key is accepted", file)
		}
	}
}

// The schema and the loader know the same keys.
func TestSchemaKnowsTheKeysOfTheLoader(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]string{
		"field":  fieldKeys,
		"type":   typeKeys,
		"derive": slices.Concat(deriveOptions, deriveKinds),
	} {
		var have []string
		for k := range doc.Defs[name].Properties {
			have = append(have, k)
		}
		slices.Sort(have)
		want := slices.Sorted(slices.Values(keys))
		if !slices.Equal(have, want) {
			t.Errorf("%s: the schema knows %v, the loader %v", name, have, want)
		}
	}
}
