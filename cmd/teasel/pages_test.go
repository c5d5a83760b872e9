package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/netserver"
)

// The page of the files names each field with which a finding's file describes its target.
func TestOutputPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]any{"net": netserver.Target{}, "go": gotest.Target{}} {
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
