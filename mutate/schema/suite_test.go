package schema

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSuite tests the schemas of the official JSON-Schema-Test-Suite, if TEASEL_JSON_SCHEMA_SUITE names the folder with the tests of a draft.
// Schemas with a valid example must compile, and values drawn from them must validate, or violate the reported keyword.
func TestSuite(t *testing.T) {
	dir := os.Getenv("TEASEL_JSON_SCHEMA_SUITE")
	if dir == "" {
		t.Skip("TEASEL_JSON_SCHEMA_SUITE does not name a folder of github.com/json-schema-org/JSON-Schema-Test-Suite")
	}
	type group struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct{ Valid bool }
	}
	compiled, skipped, violations := 0, 0, 0
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var groups []group
		if err := json.Unmarshal(data, &groups); err != nil {
			return err
		}
		for _, g := range groups {
			name := strings.TrimSuffix(strings.TrimPrefix(path, dir), ".json") + ": " + g.Description
			s, err := Compile(g.Schema)
			if err != nil {
				skipped++
				for _, test := range g.Tests {
					if test.Valid {
						t.Logf("skipped %s: %v", name, err)
						break
					}
				}
				continue
			}
			compiled++
			violations += len(s.Violations())
			checkDraws(t, name, s, rand.New(rand.NewPCG(1, 1)), 50)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d schemas, %d violations, %d skipped", compiled, violations, skipped)
}
