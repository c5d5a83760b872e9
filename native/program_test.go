package native_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/mutate/operands"
	"github.com/teaselfuzz/teasel/native"
)

// TestProgram: a program with a main is forked for every input, which it reads from standard input or from a file.
func TestProgram(t *testing.T) {
	t.Parallel() // it waits for hangs
	bin := build(t, source(t, "program.c"))
	for _, args := range [][]string{nil, {"@@"}, {"--file=@@"}} {
		ex := open(t, native.Target{Command: append([]string{bin}, args...), Timeout: 250 * time.Millisecond, Exits: []int{4}})
		for _, test := range []struct {
			in   string
			exit teasel.Exit
			rule string
		}{
			{"hello", teasel.ExitOK, ""},
			{"", teasel.ExitRejected, ""},
			{"open", teasel.ExitCrash, "native/abort"},
			{"unlink", teasel.ExitOK, ""},
			{"move", teasel.ExitOK, ""},
			{"_", teasel.ExitCrash, "native/exit"},
			{"i", teasel.ExitHang, "native/hang"},
			{"daemon", teasel.ExitOK, ""},
			{"open", teasel.ExitCrash, "native/abort"},
		} {
			o := run(t, ex, teasel.Ask{Features: true, Trace: true}, test.in)
			if o.Exit != test.exit {
				t.Errorf("%v %q: %v, want %v: %s", args, test.in, o.Exit, test.exit, o.Detail)
			}
			if fs := native.Detect(&o); len(fs) > 0 && fs[0].Rule != test.rule || len(fs) == 0 && test.rule != "" {
				t.Errorf("%v %q: findings %v, want %s", args, test.in, fs, test.rule)
			}
			if ok := o.Exit == teasel.ExitOK || o.Exit == teasel.ExitRejected; ok && (len(o.Features) == 0 || o.Trace == 0) {
				t.Errorf("%v %q: features %v, trace %x", args, test.in, o.Features, o.Trace)
			}
		}
		o := run(t, ex, teasel.Ask{Operands: true}, "oxen")
		if rec, _ := o.Note.(*operands.Recording); rec == nil || !slices.ContainsFunc(rec.Texts, func(x operands.Text) bool { return x.A == "oxen" && x.B == "open" }) {
			t.Errorf("%v: recorded %+v", args, o.Note)
		}
	}
}

// TestSharedLibrary: the counters and comparisons of a library, linked or loaded later, are used like those of the program.
func TestSharedLibrary(t *testing.T) {
	dir := t.TempDir()
	lib, main := filepath.Join(dir, "lib.c"), filepath.Join(dir, "main.c")
	write(t, lib, `#include <string.h>
int check(const char *s) { if (s[0] == 'a') return 1; if (s[0] == 'b') return strcmp(s, "bcd") == 0 ? 7 : 2; return 3; }`)
	write(t, main, `#include <dlfcn.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#ifdef LOADED
static int check(const char *s) {
	void *lib = dlopen(LOADED, RTLD_NOW);
	int (*f)(const char *) = dlsym(lib, "check");
	int r = f(s);
#ifdef CLOSED
	dlclose(lib);
#endif
	return r;
}
#else
int check(const char *s);
#endif
#ifdef PROGRAM
int main(void) { char s[8] = {0}; if (read(0, s, 7) >= 0) check(s); return 0; }
#else
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { char s[8] = {0}; memcpy(s, d, n < 7 ? n : 7); check(s); return 0; }
#endif`)
	so := filepath.Join(dir, "libcheck.so")
	compile(t, clang.Compiler{}, "-shared", "-fPIC", lib, "-o", so, "-Wl,-z,defs")
	for name, args := range map[string][]string{
		"linked": {so, "-Wl,-rpath," + dir}, "loaded": {"-DLOADED=\"" + so + "\"", "-ldl"},
		"closed":              {"-DLOADED=\"" + so + "\"", "-DCLOSED", "-ldl"},
		"closed by a program": {"-DLOADED=\"" + so + "\"", "-DCLOSED", "-DPROGRAM", "-ldl"},
	} {
		bin := filepath.Join(dir, name)
		compile(t, clang.Compiler{}, append([]string{main, "-o", bin}, args...)...)
		ex := open(t, native.Target{Command: []string{bin}})
		run(t, ex, teasel.Ask{}, "x")
		a, b := run(t, ex, teasel.Ask{}, "a"), run(t, ex, teasel.Ask{}, "b")
		if a.Exit != teasel.ExitOK || b.Exit != teasel.ExitOK {
			t.Errorf("%s: %s; %s", name, a.Detail, b.Detail)
		}
		if len(a.Features) == 0 || len(b.Features) == 0 {
			t.Errorf("%s: the library's branches are not new: %v %v", name, a.Features, b.Features)
		}
		o := run(t, ex, teasel.Ask{Operands: true}, "bxx")
		if rec, _ := o.Note.(*operands.Recording); rec == nil || !slices.ContainsFunc(rec.Texts, func(x operands.Text) bool { return x.A == "bxx" && x.B == "bcd" }) {
			t.Errorf("%s: recorded %+v", name, o.Note)
		}
	}
	// A program that teasel has not built can use the library too.
	user, plain := filepath.Join(dir, "user.c"), filepath.Join(dir, "user")
	write(t, user, `int check(const char *s); int main(void) { return check("bcd"); }`)
	if out, err := exec.Command("clang", user, so, "-Wl,-rpath,"+dir, "-o", plain).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	err := exec.Command(plain).Run()
	if status := (*exec.ExitError)(nil); !errors.As(err, &status) || status.ExitCode() != 7 {
		t.Errorf("the other program ended with %v, want status 7", err)
	}
}

// TestIntercepted: comparisons in libraries that were not compiled for fuzzing are recorded if a sanitizer intercepts them.
func TestIntercepted(t *testing.T) {
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "h.cc"), filepath.Join(dir, "h")
	write(t, src, `#include <cstdint>
#include <string>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { std::string s((const char *)d, n); return s == "secret" ? 0 : -1; }`)
	compile(t, clang.Compiler{CXX: true}, "-fsanitize=fuzzer,address", src, "-o", bin)
	o := run(t, open(t, native.Target{Command: []string{bin}}), teasel.Ask{Operands: true}, "sacred")
	rec, _ := o.Note.(*operands.Recording)
	if n := 0; rec != nil {
		for _, x := range rec.Texts {
			if x.A == "sacred" && x.B == "secret" {
				n++
			}
		}
		if n == 1 {
			return
		}
	}
	t.Errorf("recorded %+v, want the two strings once", o.Note)
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// processes returns the running processes whose command line contains text.
func processes(t testing.TB, text string) (found []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if b, err := os.ReadFile(l); err == nil && strings.HasPrefix(string(b), text) {
			found = append(found, l)
		}
	}
	return found
}

// TestNothingIsLeft: Close kills all processes that the program has started.
func TestNothingIsLeft(t *testing.T) {
	bin := build(t, source(t, "program.c"))
	ex, err := native.Target{Command: []string{bin, "@@"}, Timeout: 300 * time.Millisecond}.Open(context.Background(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"daemon", "i", "daemon", "unlink"} {
		run(t, ex.(opened), teasel.Ask{}, in)
	}
	if n := len(processes(t, bin)); n > 3 {
		t.Errorf("%d processes while open: the daemons were not killed", n)
	}
	if err := ex.Close(); err != nil {
		t.Fatal(err)
	}
	if left := processes(t, bin); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// TestKilled: no process and no file is left when teasel is killed during a run that does not end.
func TestKilled(t *testing.T) {
	if path := os.Getenv("NATIVE_TEST_VICTIM"); path != "" {
		ex := open(t, native.Target{Command: []string{path, "@@"}, Timeout: time.Hour})
		run(t, ex, teasel.Ask{}, "daemon")
		run(t, ex, teasel.Ask{}, "move") // leaves a second file in the folder of the input
		fmt.Println("ready")
		run(t, ex, teasel.Ask{}, "i")
		return
	}
	bin := build(t, source(t, "program.c"))
	victim := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	victim.Env = append(os.Environ(), "NATIVE_TEST_VICTIM="+bin)
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	var said [6]byte
	if _, err := out.Read(said[:]); err != nil || string(said[:5]) != "ready" {
		t.Fatalf("the victim said %q, %v", said, err)
	}
	time.Sleep(50 * time.Millisecond) // into the run
	running := processes(t, bin)
	if len(running) == 0 {
		t.Fatal("no target runs: nothing would be tested")
	}
	line, err := os.ReadFile(running[0])
	if err != nil {
		t.Fatal(err)
	}
	_, input, _ := bytes.Cut(bytes.TrimRight(line, "\x00"), []byte{0})
	folder := filepath.Dir(string(input))
	if _, err := os.Stat(folder); err != nil {
		t.Fatal(err)
	}
	victim.Process.Kill()
	victim.Wait()
	for range 500 {
		if len(processes(t, bin)) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left := processes(t, bin); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s still exists: %v", folder, err)
	}
}

func TestBadTargets(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	write(t, text, "hello")
	script := filepath.Join(dir, "script")
	write(t, script, "#!/bin/sh\necho nothing works here >&2\nexit 3\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "notes")
	write(t, notes, "hello")
	header := func(name string, class, kind, machine byte) string { // only the header of an ELF file
		b := make([]byte, 64)
		copy(b, "\x7fELF")
		b[4], b[5], b[6], b[16], b[18], b[20], b[52] = class, 1, 1, kind, machine, 1, 64
		path := filepath.Join(dir, name)
		write(t, path, string(b))
		return path
	}
	object, small, foreign := header("a.o", 2, 1, 62), header("small", 1, 2, 3), header("foreign", 2, 2, 243)
	for _, p := range []string{notes, object, small, foreign} {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	early := build(t, `#include <stdlib.h>
#include <stdio.h>
__attribute__((constructor)) static void die(void) { fprintf(stderr, "no licence"); exit(1); }
int main(void) { return 0; }`)
	for _, test := range []struct{ program, want string }{
		{"", "empty"},
		{filepath.Join(dir, "missing"), "harness.c -o " + filepath.Join(dir, "missing")},
		{"no-such-program", "no such program in PATH"},
		{dir, "is a directory"},
		{text, "chmod +x"},
		{notes, "neither an ELF file nor a script"},
		{object, "is an object file"},
		{small, "32-bit"},
		{foreign, "another machine"},
		{"/bin/true", "teasel cc"},
		{script, "nothing works here"},
		{early, "no licence"},
	} {
		target := native.Target{Command: []string{test.program}, Mode: native.ModeRuntime}
		if test.program == "" {
			target.Command = nil
		}
		ex, err := target.Open(context.Background(), teasel.Role{})
		if err == nil {
			ex.Close()
			t.Errorf("%s was opened", test.program)
			continue
		}
		var start *native.StartError
		if !errors.As(err, &start) {
			t.Errorf("%s: %T is no StartError: %v", test.program, err, err)
		} else if said := start.Error() + "\n" + start.Stderr + "\n" + start.Hint; !strings.Contains(said, test.want) {
			t.Errorf("%s: %q does not say %q", test.program, said, test.want)
		}
	}
}

// TestInspect: Inspect describes a program by starting it.
func TestInspect(t *testing.T) {
	const harness = "#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return n > 2 && d[0] == 'x'; }"
	for _, test := range []struct {
		source string
		flags  []string
		want   string
	}{
		{harness, []string{"-fsanitize=fuzzer"}, "harness, "},
		{harness, []string{"-fsanitize=fuzzer,address"}, "harness with AddressSanitizer, "},
		{harness, []string{"-fsanitize=fuzzer,undefined"}, "harness with UndefinedBehaviorSanitizer, "},
		{harness, []string{"-fsanitize=fuzzer,memory"}, "harness with MemorySanitizer, "},
		{harness, []string{"-fsanitize=fuzzer,thread"}, "harness with ThreadSanitizer, "},
		{"int main(int n, char **v) { return n > 2 && v[1]; }", nil, "program with a main, "},
	} {
		p, err := native.Target{Command: []string{build(t, test.source, test.flags...)}}.Inspect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if edges := fmt.Sprintf("%d edges", p.Edges); p.String() != test.want+edges || p.Edges < 2 || p.Edges > 20 || p.Modules != 1 {
			t.Errorf("%v: %v in %d modules, want %s and a few edges", test.flags, p, p.Modules, test.want)
		}
	}
}
