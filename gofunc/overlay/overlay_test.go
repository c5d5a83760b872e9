package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// toolchain is the one that these tests run with.
func toolchain(t *testing.T) *Toolchain {
	t.Helper()
	tc, err := FindToolchain(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tc
}

func TestPatched(t *testing.T) {
	root := toolchain(t).Root
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, "src", name)) }
	without := func(text, file string) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			b, err := read(name)
			if name == file {
				b = []byte(strings.Replace(string(b), text, "", 1))
			}
			return b, err
		}
	}
	for _, c := range []struct {
		name string
		read func(string) ([]byte, error)
		mode Mode
		why  string
	}{
		{"as it is", read, ModeFast, ""},
		{"another testing", without("func (t *T) Parallel() {", "testing/testing.go"), ModeSlow, "testing/testing.go has 0 places"},
		{"another worker", without("func RunFuzzWorker(", "internal/fuzz/worker.go"), ModeNative, "internal/fuzz/worker.go has 0 places"},
		{"no worker", func(string) ([]byte, error) { return nil, os.ErrNotExist }, ModeNative, "not exist"},
	} {
		files, mode, why := patched(c.read)
		if mode != c.mode || (why == nil) != (c.why == "") || why != nil && !strings.Contains(why.Error(), c.why) {
			t.Errorf("%s: mode %v, %v; want %v, %s", c.name, mode, why, c.mode, c.why)
		}
		for _, name := range []string{"internal/fuzz/fuzz.go", "testing/fuzz.go"} { // lines in stacks stay right
			old, err := read(name)
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := files[name]; ok && strings.Count(string(text), "\n") != strings.Count(string(old), "\n") {
				t.Errorf("%s: %s has other lines", c.name, name)
			}
		}
	}
}

const testFile = `package m_test

import "testing"

func FuzzA(f *testing.F) {
	f.Add([]byte("seed"), 5)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if string(b) == "secret" && n > 7 { t.Log("both") }
	})
}
`

// module writes a module with an external test.
func module(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": "package m\n", "m_test.go": testFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// describe has a test binary say what its fuzz test takes, and how many counters there are.
func describe(t *testing.T, dir, binary string) (types []string, counters int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(binary, "-test.run=^$", "-test.fuzz=FuzzA", "-test.fuzzcachedir="+t.TempDir())
	cmd.Dir, cmd.ExtraFiles, cmd.Env = dir, []*os.File{w}, append(os.Environ(), "TEASEL_GO_AGENT=3")
	out, err := cmd.CombinedOutput()
	w.Close()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var d struct {
		Types    []string
		Counters int
	}
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d.Counters == 0 {
		t.Error("there are no counters")
	}
	return d.Types, d.Counters
}

func userCache(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "teasel", "go")
}

// A build changes neither the module nor what plain go test does.
func TestBuild(t *testing.T) {
	dir := module(t)
	b, err := NewBuilder(toolchain(t), userCache(t))
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	binary := filepath.Join(t.TempDir(), "m.test")
	if err := b.Build(t.Context(), dir, Flags{}, binary); err != nil {
		t.Fatal(err)
	}
	if types, _ := describe(t, dir, binary); fmt.Sprint(types) != "[[]uint8 int]" {
		t.Errorf("arguments of %v", types)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the module has changed:\n%s", after)
	}
	cmd := exec.Command(binary) // without the environment variable it is an ordinary test binary
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func listing(t *testing.T, dir string) (text string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %q\n", e.Name(), b)
	}
	return text
}

// The compiler's own words come through.
func TestBuildError(t *testing.T) {
	dir := module(t)
	if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n\nvar x int = \"text\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(toolchain(t), userCache(t))
	if err != nil {
		t.Fatal(err)
	}
	err = b.Build(t.Context(), dir, Flags{}, filepath.Join(t.TempDir(), "m.test"))
	if g, ok := err.(*GoError); !ok || !strings.Contains(g.Stderr, "m.go:3") {
		t.Errorf("%v, want the compiler's words", err)
	}
}

// What the user's own overlay replaces stays replaced.
func TestUserOverlay(t *testing.T) {
	dir := module(t)
	other := filepath.Join(t.TempDir(), "m.go")
	if err := os.WriteFile(other, []byte("package m\n\nvar x int = \"text\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(replacements{map[string]string{filepath.Join(dir, "m.go"): other}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-mod=mod -overlay="+file)
	b, err := NewBuilder(toolchain(t), userCache(t))
	if err != nil {
		t.Fatal(err)
	}
	err = b.Build(t.Context(), dir, Flags{}, filepath.Join(t.TempDir(), "m.test"))
	if g, ok := err.(*GoError); !ok || !strings.Contains(g.Stderr, "m.go:3:13") {
		t.Errorf("%v, want an error in the file of the user's overlay", err)
	}
}

// Toolchains that Go has downloaded lie where the go command replaces no files, and other versions have other files.
func TestVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("short: other versions of Go are downloaded and build the standard library")
	}
	for _, version := range []string{"go1.24.13", "go1.25.11", "go1.27.0"} {
		t.Run(version, func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", version)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tc, err := FindToolchain(ctx, t.TempDir())
			if err != nil {
				t.Skipf("%s cannot be had here: %v", version, err)
			}
			if tc.Version != version {
				t.Fatalf("found %s", tc.Version)
			}
			b, err := NewBuilder(tc, userCache(t))
			if err != nil {
				t.Fatal(err)
			}
			if b.Mode != ModeFast {
				t.Fatalf("mode %v: %v", b.Mode, b.Why)
			}
			dir, binary := module(t), filepath.Join(t.TempDir(), "m.test")
			if err := b.Build(ctx, dir, Flags{}, binary); err != nil {
				t.Fatal(err)
			}
			if types, _ := describe(t, dir, binary); fmt.Sprint(types) != "[[]uint8 int]" {
				t.Errorf("arguments of %v", types)
			}
		})
	}
}
