package model

import (
	"os"
	"strings"
	"testing"
)

// The models in the documentation load, and their seeds are written again as the same bytes.
func TestModelsOfTheDocumentation(t *testing.T) {
	src, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(src), "```yaml\n")
	if len(blocks) < 9 {
		t.Fatalf("only %d models", len(blocks)-1)
	}
	for _, b := range blocks[1:] {
		b, _, _ = strings.Cut(b, "```")
		m, err := Parse([]byte(b), "docs/model.md")
		if err != nil {
			t.Errorf("%v\n%s", err, b)
			continue
		}
		if problems := m.CheckSeeds(); len(problems) > 0 {
			t.Errorf("%s: %v", m.ID, problems[0])
		}
	}
}

// Everything that can be named is named in the documentation.
func TestDocumentationNamesAll(t *testing.T) {
	src, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name := range varints {
		all = append(all, name)
	}
	for name := range transformNames {
		all = append(all, name)
	}
	all = append(all, deriveKinds...)
	for _, name := range checksumNames() {
		if !strings.HasPrefix(name, "hmac-") {
			all = append(all, name)
		}
	}
	for _, name := range all {
		if !strings.Contains(string(src), name) {
			t.Errorf("docs/model.md does not name %s", name)
		}
	}
}
