package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/script"
)

func TestCanary(t *testing.T) {
	c, err := script.PlaceCanary([]string{"node", "server.js"}, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.Path())
	if err != nil || strings.TrimSpace(string(text)) != script.CanaryText {
		t.Errorf("the file has %q, %v", text, err)
	}
	if rel := filepath.Join("/some/where/deep", c.Relative()); rel != c.Path() {
		t.Errorf("the relative path leads to %s", rel)
	}
	for _, e := range script.Extensions {
		if text, err := os.ReadFile(c.Path() + e.Name); err != nil || strings.Count(string(text), script.CanaryText) != 1 || strings.Contains(string(text), "%") {
			t.Errorf("%s has %q, %v", e.Name, text, err)
		}
	}
	for _, path := range Disguises {
		if ext, ok := strings.CutPrefix(path, script.CanaryRelative); ok {
			if _, err := os.Stat(c.Path() + ext); err != nil {
				t.Error(err)
			}
		}
	}
	if names, err := os.ReadDir(c.Dir()); err != nil || len(names) != len(script.Extensions)+2 {
		t.Errorf("%d files are in its directory, %v", len(names), err)
	}
	if c.URI() != "file://"+c.Path() {
		t.Errorf("the URI is %s", c.URI())
	}
	other, err := script.PlaceCanary([]string{"node"}, nil, t.TempDir())
	if err != nil || other.Path() == c.Path() || len(other.Path()) != len(c.Path()) {
		t.Errorf("another canary is at %v, %v", other, err)
	}
	for _, c := range []*script.Canary{c, other} {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(c.Path())); err == nil {
			t.Errorf("%s is still there", c.Path())
		}
	}
}

// Two runs one after the other have their canaries in the same places, also if the first was killed, so that the same seed sends the same.
func TestCanaryIsWhereItWas(t *testing.T) {
	root := t.TempDir()
	places := func() []string {
		c, err := script.PlaceCanary([]string{"server", root}, nil, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if c.Link() == "" || c.Sibling() == "" {
			t.Errorf("the link is %q, the sibling %q", c.Link(), c.Sibling())
		}
		if text, err := os.ReadFile(c.Link()); err != nil || strings.TrimSpace(string(text)) != script.CanaryLinked {
			t.Errorf("behind the link is %q, %v", text, err)
		}
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
		return c.Places()
	}
	first := places()
	for _, path := range first[:len(first)-1] { // what is left of one that was killed: nobody holds its locks
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "left.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(first[len(first)-2], first[len(first)-1]); err != nil {
		t.Fatal(err)
	}
	if again := places(); !slices.Equal(first, again) {
		t.Errorf("the canary was at %q, and then at %q", first, again)
	}
	for _, path := range first {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// TestCanaryIsOutside: what a server was told of is its own.
func TestCanaryIsOutside(t *testing.T) {
	tmp := os.TempDir()
	for _, tt := range []struct {
		command, env []string
		dir          string
	}{
		{command: []string{"server", tmp}},
		{command: []string{"server", "--root=" + tmp}},
		{command: []string{"server", "."}, dir: tmp},
		{command: []string{"env", "ROOT=" + tmp, "node", "server.js"}},
		{command: []string{"sh", "-c", "exec server '" + tmp + "'"}},
		{command: []string{"server", "--dirs=/data," + tmp}},
		{command: []string{"server", "--dirs", "/data:" + tmp}},
		{command: []string{"server", "file://" + tmp}},
		{command: []string{"server", `{"roots":["` + tmp + `"]}`}},
		{command: []string{"server"}, env: []string{"LEVEL=info", "ALLOWED_DIR=" + tmp}},
	} {
		c, err := script.PlaceCanary(tt.command, tt.env, tt.dir)
		if err != nil {
			t.Logf("%q, %q: %v", tt.command, tt.env, err)
			continue
		}
		if strings.HasPrefix(c.Path(), tmp+"/") {
			t.Errorf("%q, %q: the canary is at %s", tt.command, tt.env, c.Path())
		}
		c.Remove()
	}
	if c, err := script.PlaceCanary([]string{"server", "https://example.com/tmp"}, []string{"A=b"}, t.TempDir()); err != nil {
		t.Error(err)
	} else {
		if strings.HasPrefix(c.Path(), tmp+"/") { // many a server is given it by a file
			t.Errorf("the canary is at %s, though there are less likely places", c.Path())
		}
		if strings.HasPrefix(c.Path(), "/dev/") { // many a server refuses that, and nothing else
			t.Errorf("the canary is at %s", c.Path())
		}
		c.Remove()
	}
	if c, err := script.PlaceCanary([]string{"server", "/"}, nil, ""); err == nil {
		c.Remove()
		t.Errorf("the canary is at %s, though the server may read everything", c.Path())
	}
}

// TestCanaryBeside: beside an allowed directory there is one whose name begins with that of the directory, and in it a link
// that leads out. A server that compares paths by their beginnings gives both away, one that resolves them first does not.
func TestCanaryBeside(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := script.PlaceCanary([]string{"server", root}, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(c.Sibling()); err != nil || !strings.HasPrefix(c.Sibling(), root+"-") || strings.TrimSpace(string(text)) != script.CanaryText {
		t.Errorf("the sibling %s has %q, %v", c.Sibling(), text, err)
	}
	if path := filepath.Join(root, c.RelativeSibling()); path != c.Sibling() {
		t.Errorf("the relative path leads to %s, want %s", path, c.Sibling())
	}
	if text, err := os.ReadFile(c.Link()); err != nil || !strings.HasPrefix(c.Link(), root+"/") || strings.TrimSpace(string(text)) != script.CanaryLinked {
		t.Errorf("the link %s leads to %q, %v", c.Link(), text, err)
	}
	if above, err := filepath.Glob(root + script.CanaryMark + "*"); err != nil || len(above) != 1 {
		t.Errorf("%v tell that the directory above is listed, %v", above, err)
	}
	for _, path := range []string{c.Path(), c.Relative(), c.URI(), c.Dir(), c.Sibling(), c.RelativeSibling(), c.Link()} {
		if strings.Contains(path, script.CanaryMark) { // a server may make a file of any name that it is sent
			t.Errorf("%s can be sent", path)
		}
	}
	if err := c.Remove(); err != nil {
		t.Error(err)
	}
	for _, path := range c.Places() {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("%v are left in the root, %v", entries, err)
	}
	if c, err := script.PlaceCanary([]string{"server"}, []string{"HOME=" + root}, root); err != nil || c.Sibling() != "" || c.Link() != "" {
		t.Errorf("a directory that no argument names got a sibling: %+v, %v", c, err)
	} else if err := c.Remove(); err != nil {
		t.Error(err)
	}
}
