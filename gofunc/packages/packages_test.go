package packages_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/packages"
)

func Example() {
	ctx := context.Background()
	tc, err := overlay.FindToolchain(ctx, ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	found, _, err := packages.Find(ctx, tc, ".", overlay.Flags{}, nil, []string{"../agent"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range found {
		for _, t := range p.Tests {
			fmt.Println(p.Path, t.Name)
		}
	}
	// Output: github.com/teaselfuzz/teasel/gofunc/agent FuzzSplit
}

func find(t *testing.T, run string, patterns ...string) (found []packages.Package, bad []packages.Problem, err error) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "module.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tc, err := overlay.FindToolchain(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return packages.Find(t.Context(), tc, dir, overlay.Flags{Tags: "tagged"}, regexp.MustCompile(run), patterns)
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ run, pattern, want string }{
		{"", "./...", "example.com/m: FuzzExternal FuzzInternal FuzzTagged; example.com/m/apart: FuzzApart; example.com/m/broken: FuzzBroken"},
		{"External|Internal", "./...", "example.com/m: FuzzExternal FuzzInternal"},
		{"", ".", "example.com/m: FuzzExternal FuzzInternal FuzzTagged"},
		{"", "./none", ""},
		{"NoSuch", "./...", ""},
	} {
		found, _, err := find(t, c.run, c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, p := range found {
			var names []string
			for _, test := range p.Tests {
				names = append(names, test.Name)
			}
			all = append(all, p.Path+": "+strings.Join(names, " "))
		}
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("%s with %q: %s, want %s", c.pattern, c.run, got, c.want)
		}
	}
}

func TestProblems(t *testing.T) {
	_, bad, err := find(t, "", "./...")
	if err != nil || len(bad) != 1 || bad[0].Path != "example.com/m/unreadable" || !strings.Contains(bad[0].Err.Error(), "m_test.go:4") {
		t.Errorf("%v, %v", bad, err)
	}
}

func TestConstants(t *testing.T) {
	found, _, err := find(t, "", ".")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, want := range []string{"magic", "\x12\x34", "\x34\x12", "\xde\xad\xbe\xef", "keyword", "two words"} {
		if !slices.Contains(found[0].Constants, want) {
			t.Errorf("%q is missing in %q", want, found[0].Constants)
		}
	}
	for _, no := range []string{"fmt", `json:"tag"`, "x", "\x47\x11", "message %q", "what is wrong here"} {
		if slices.Contains(found[0].Constants, no) {
			t.Errorf("%q is among %q", no, found[0].Constants)
		}
	}
}

// A package of tests only has the constants of what it imports, but not of the standard library.
func TestConstantsOfTested(t *testing.T) {
	found, _, err := find(t, "Apart", "./...")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if c := found[0].Constants; !slices.Contains(c, "magic") || !slices.Contains(c, "\x12\x34") || len(c) > 12 {
		t.Errorf("%d constants: %q", len(c), c)
	}
}
