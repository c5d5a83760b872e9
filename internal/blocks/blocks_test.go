package blocks

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `volatile int sink;
void __sanitizer_cov_8bit_counters_init(char *a, char *b) {}
void __sanitizer_cov_pcs_init(const char *a, const char *b) {}
static inline __attribute__((always_inline)) int inlined(const char *s) {
	if (s[0] == 'x')
		sink = 1;
	return 2;
}
int called(const char *s) {
	return inlined(s);
}
int main(int argc, char **argv) {
	return argc > 1 ? called(argv[1]) : 0;
}
`

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name + " is not installed")
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Each counter of clang's has its function, the inlined ones included, its file and its line, whether the program is loaded at a fixed
// address or not.
func TestClang(t *testing.T) {
	for _, kind := range []string{"-pie", "-no-pie"} {
		dir := t.TempDir()
		file, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		pic := map[string]string{"-pie": "-fPIE", "-no-pie": "-fno-pie"}[kind]
		// In a folder that shares nothing with the file's, DWARF 5 has full paths.
		build(t, "clang", "-g", "-O1", kind, pic, "-fdebug-compilation-dir=/usr/bin", "-fsanitize-coverage=inline-8bit-counters,pc-table", "-o", program, file)
		all, err := Clang(program)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string][]int{}
		for _, b := range all {
			if b.File != file {
				t.Errorf("%s: a block of %q is in file %q, want %q", kind, b.Function, b.File, file)
			}
			lines[b.Function] = append(lines[b.Function], b.Line)
		}
		if len(lines["main"]) < 2 || len(lines["inlined"]) < 1 || !slices.Contains(lines["main"], 13) {
			t.Errorf("%s: lines of functions: %v", kind, lines)
		}
	}
	if _, err := Clang("/bin/true"); err == nil {
		t.Error("a program without counters has blocks")
	}
}

// Nearly all counters of the Go compiler's are found in the code, each in its function.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/p\n", "a.go": `package p

//go:noinline
func Main(args []string) {
	if len(args) > 1 {
		called(args[1])
	}
}

//go:noinline
func called(s string) {
	for _, c := range s {
		println(c)
	}
}
`, "a_test.go": `package p

import "testing"

func TestMain(m *testing.M) { Main(nil); m.Run() }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "p")
	build(t, "go", "test", "-C", dir, "-c", "-o", program, "-gcflags=example.com/p=-d=libfuzzer", ".")
	all, err := Go(program)
	if err != nil {
		t.Skip(err) // on other machines it is not known how
	}
	counts := map[string]int{}
	for _, b := range all {
		if b.Function == "" || strings.HasPrefix(b.Function, "example.com/p.") && (filepath.Dir(b.File) != dir || b.Line == 0) {
			t.Errorf("block %+v", b)
		}
		counts[b.Function]++
	}
	if counts["example.com/p.Main"] < 2 || counts["example.com/p.called"] != 2 {
		t.Errorf("blocks of functions: %v", counts)
	}
}
