package clang_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// needClang skips a test if clang is not installed, or fails it if TEASEL_REQUIRE_SERVERS is set.
func needClang(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("clang"); err == nil {
		return
	} else if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
		t.Fatalf("%v: scripts/setup-test.sh installs it", err)
	} else {
		t.Skipf("%v: scripts/setup-test.sh installs it", err)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCompilerCommand: the arguments of the compiler decide whether nothing, coverage, or coverage and the runtime are added.
func TestCompilerCommand(t *testing.T) {
	needClang(t)
	c := clang.Compiler{Cache: t.TempDir()}
	for _, test := range []struct {
		args              string
		coverage, runtime bool
		gone              string
	}{
		{"--version", false, false, ""},
		{"-v", false, false, ""},
		{"-E a.c", false, false, ""},
		{"-M a.c", false, false, ""},
		{"-c a.c -o a.o", true, false, ""},
		{"-S a.c", true, false, ""},
		{"-c a.c -fsanitize=fuzzer-no-link,address", true, false, "fuzzer-no-link,"},
		{"a.c -o a", true, true, ""},
		{"a.o b.o -o a -lm", true, true, ""},
		{"a.c -o a -fsanitize=fuzzer", true, true, "-fsanitize=fuzzer "},
		{"-r a.o b.o -o c.o", false, false, ""},
		{"a.o -shared -o a.so", true, true, ""},
		{"-o out", false, false, ""},
		{"-nostdlib -c a.c", true, false, ""},
		{"-nostdlib a.o -o a", false, false, ""},
		{"a.c -o a -Xlinker -z -Xlinker now", true, true, ""},
		{"-c a.c -fsanitize-coverage=trace-pc-guard", true, false, "trace-pc-guard"},
	} {
		got, err := c.Command(context.Background(), strings.Fields(test.args))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(got[1:], " ")
		if strings.Contains(all, "inline-8bit-counters") != test.coverage || strings.Contains(all, "teasel_") != test.runtime {
			t.Errorf("%s: coverage %v, runtime %v wanted: %s", test.args, test.coverage, test.runtime, all)
		}
		if test.gone != "" && strings.Contains(all, test.gone) {
			t.Errorf("%s: %s is still there: %s", test.args, test.gone, all)
		}
		for _, a := range strings.Fields(test.args) {
			if !strings.HasPrefix(a, "-fsanitize") && !slices.Contains(got[1:], a) {
				t.Errorf("%s: %s was not passed on: %s", test.args, a, all)
			}
		}
	}
}

// TestUnstripped: options to strip are removed in all their forms.
func TestUnstripped(t *testing.T) {
	needClang(t)
	c := clang.Compiler{Cache: t.TempDir()}
	for _, args := range []string{"a.c -s", "a.c -Wl,-s", "a.c -Wl,--strip-all", "a.c -Xlinker -s", "a.c -Xlinker --strip-all"} {
		got, err := c.Command(context.Background(), strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got[1:] {
			if a == "-s" || strings.HasSuffix(a, "-s") || strings.HasSuffix(a, "--strip-all") || a == "-Xlinker" {
				t.Errorf("%s: %q", args, got)
			}
		}
	}
}

// TestResponseFile: the arguments in a response file have the same effect as on the command line.
func TestResponseFile(t *testing.T) {
	needClang(t)
	dir := t.TempDir()
	inner, outer := filepath.Join(dir, "inner"), filepath.Join(dir, "outer")
	writeFile(t, inner, "-c 'with space.c'\n")
	writeFile(t, outer, "\"-DX=a \\\"b\\\"\"\t-I\\ x @"+inner+" -fsanitize=fuzzer,address")
	got, err := clang.Compiler{Cache: t.TempDir()}.Command(context.Background(), []string{"@" + outer, "@" + dir + "/none"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`-DX=a "b"`, "-I x", "-c", "with space.c", "-fsanitize=address", "@" + dir + "/none"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing: %q", want, got)
		}
	}
	if all := strings.Join(got, " "); strings.Contains(all, "teasel_rt") {
		t.Errorf("the runtime is linked in spite of -c in the file: %s", all)
	}
}

// TestCache: the runtime is compiled only once.
func TestCache(t *testing.T) {
	needClang(t)
	c := clang.Compiler{Cache: t.TempDir()}
	for range 2 {
		if _, err := c.Command(context.Background(), []string{"a.c"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadDir(c.Cache)
	if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Name(), "runtime-") {
		t.Errorf("the cache holds %v, %v", got, err)
	}
}

// TestNoHome: without a home directory the runtime is cached in the directory for temporary files, but not in a folder that other
// users can write to.
func TestNoHome(t *testing.T) {
	needClang(t)
	t.Setenv("XDG_CACHE_HOME", "/dev/null/cache")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	link := func() error {
		_, err := clang.Compiler{}.Command(context.Background(), []string{"a.c"})
		return err
	}
	if err := link(); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(tmp, "teasel-cache-*", "runtime-*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("runtimes in the directory for temporary files: %v, %v", made, err)
	}
	if err := os.Chmod(filepath.Dir(made[0]), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := link(); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("a folder that all users can write to: %v", err)
	}
}

// TestCachePruned: a runtime that was not used for a month is removed when another one is compiled; other files are kept.
func TestCachePruned(t *testing.T) {
	needClang(t)
	c := clang.Compiler{Cache: t.TempDir()}
	old := time.Now().AddDate(0, -2, 0)
	for _, name := range []string{"runtime-old", "making-old", "runtime-new", "other"} {
		dir := filepath.Join(c.Cache, name)
		if err := os.MkdirAll(filepath.Join(dir, "runtime"), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "runtime-new" {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.Command(t.Context(), []string{"a.o", "-o", "a"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"runtime-old": false, "making-old": false, "runtime-new": true, "other": true} {
		if _, err := os.Stat(filepath.Join(c.Cache, name)); (err == nil) != want {
			t.Errorf("%s: exists: %v, want %v", name, err == nil, want)
		}
	}
}
