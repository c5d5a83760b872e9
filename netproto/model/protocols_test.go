package model

import (
	"os"
	"slices"
	"testing"
)

// The models that are built in are named by their protocols; a file of that name goes first.
func TestProtocols(t *testing.T) {
	names := Protocols()
	if !slices.Contains(names, "http") || !slices.Contains(names, "snmp") || !slices.IsSorted(names) {
		t.Errorf("%q", names)
	}
	for _, name := range names {
		m, err := Load(name)
		if err != nil || m.ID != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"nothing", "", "../model", "protocols/http", "http.yaml"} {
		if _, ok := Protocol(name); ok {
			t.Errorf("there is a protocol %q", name)
		}
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("http", []byte("teasel-model: 1\nmeta: {id: mine}\nmessages: {m: {seq: [{id: a, type: u1}]}}\nseeds: {one: [{message: m}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Load("http"); err != nil || m.ID != "mine" {
		t.Errorf("%v, %v", m, err)
	}
}
