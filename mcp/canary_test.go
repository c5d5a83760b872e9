package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCanary(t *testing.T) {
	c, err := PlaceCanary([]string{"node", "server.js"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.Path())
	if err != nil || strings.TrimSpace(string(text)) != CanaryText {
		t.Errorf("the file has %q, %v", text, err)
	}
	if rel := filepath.Join("/some/where/deep", c.Relative()); rel != c.Path() {
		t.Errorf("the relative path leads to %s", rel)
	}
	if c.URI() != "file://"+c.Path() {
		t.Errorf("the URI is %s", c.URI())
	}
	other, err := PlaceCanary([]string{"node"}, t.TempDir())
	if err != nil || other.Path() == c.Path() || len(other.Path()) != len(c.Path()) {
		t.Errorf("another canary is at %v, %v", other, err)
	}
	for _, c := range []*Canary{c, other} {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(c.Path())); err == nil {
			t.Errorf("%s is still there", c.Path())
		}
	}
}

// TestCanaryIsOutside: what a server was told of is its own.
func TestCanaryIsOutside(t *testing.T) {
	for _, command := range [][]string{
		{"server", os.TempDir()},
		{"server", "--root=" + os.TempDir()},
		{"server", "."},
	} {
		dir := ""
		if command[1] == "." {
			dir = os.TempDir()
		}
		c, err := PlaceCanary(command, dir)
		if err != nil {
			t.Logf("%q: %v", command, err)
			continue
		}
		if strings.HasPrefix(c.Path(), os.TempDir()+"/") {
			t.Errorf("%q: the canary is at %s", command, c.Path())
		}
		c.Remove()
	}
	if c, err := PlaceCanary([]string{"server", "/"}, ""); err == nil {
		c.Remove()
		t.Errorf("the canary is at %s, though the server may read everything", c.Path())
	}
}
