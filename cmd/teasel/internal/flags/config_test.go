package flags

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// The page of the configuration file has a row for each key of each kind's table.
func TestConfigurationPage(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]any{"mcp": mcpConfig{}, "net": netConfig{}, "native": nativeConfig{}, "go": goConfig{}} {
		_, table, ok := strings.Cut(string(data), "| key of `["+name+"]` |")
		if !ok {
			t.Errorf("there is no table of [%s]", name)
			continue
		}
		table, _, _ = strings.Cut(table, "\n\n")
		for f := range reflect.TypeOf(kind).NumField() {
			if key := reflect.TypeOf(kind).Field(f).Tag.Get("toml"); !strings.Contains(table, "\n| `"+key+"` |") {
				t.Errorf("the table of [%s] has no key %s", name, key)
			}
		}
	}
}
