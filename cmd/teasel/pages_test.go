package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// The page of the configuration file has a row for each key of each kind's table.
func TestConfigurationPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/configuration.md")
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

// The page of the files names each field with which a finding's file describes its target.
func TestOutputPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]any{"net": netTarget{}, "go": goTarget{}} {
		_, fields, ok := strings.Cut(string(data), "For `"+name+"`: ")
		if !ok {
			t.Errorf("the targets of %s are not described", name)
			continue
		}
		fields, _, _ = strings.Cut(fields, ". For ")
		for f := range reflect.TypeOf(target).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(target).Field(f).Tag.Get("json"), ",")
			if !strings.Contains(fields, "`"+key+"`") {
				t.Errorf("the target of %s has a field %s that is not described", name, key)
			}
		}
	}
}
