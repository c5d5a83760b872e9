package native_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// byHand runs a program as a shell does and returns its exit status and its output.
func byHand(t *testing.T, env []string, bin string, args ...string) (status int, said string) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir = t.TempDir()
	out, err := os.Create(filepath.Join(t.TempDir(), "said")) // a file: with a pipe, the test would wait for processes that the program leaves running
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader("from standard input")
	err = cmd.Run()
	if bad := (*exec.ExitError)(nil); err != nil && !errors.As(err, &bad) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestByHand: a harness that is run by hand behaves like one of libFuzzer: it runs files itself, and its exit status tells how an
// input ended.
func TestByHand(t *testing.T) {
	const harness = `#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int prepared;
int LLVMFuzzerInitialize(int *argc, char ***argv) { prepared = *argc > 0 && **argv; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	fprintf(stderr, "ran %zu%s\n", n, prepared ? "" : " unprepared");
	if (n && d[0] == 'a') abort();
	if (n && d[0] == 's') *(volatile int *)0 = 1;
	if (n && d[0] == 'o') { volatile uint8_t *p = malloc(n); p[n] = 1; free((void *)p); }
	if (n && d[0] == 'e') exit(0);
	if (n && d[0] == 'h') for (;;) sleep(1);
	if (n && d[0] == 'm') for (int i = 0; i < 300; i++) {
		volatile uint8_t *p = malloc(1 << 20);
		for (int k = 0; p && k < 1 << 20; k += 4096) p[k] = 1;
		usleep(5000);
	}
	return 0;
}`
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	bin, asan := build(t, harness), build(t, harness, "-fsanitize=fuzzer,address")
	good, empty := file("good", "1234"), file("empty", "")
	for _, test := range []struct {
		name   string
		bin    string
		args   []string
		status int
		said   string
	}{
		{"one file", bin, []string{good}, 0, "Running 1 inputs 1 time(s) each.\nRunning: " + good + "\nran 4\nExecuted " + good + " in "},
		{"two files", bin, []string{"-timeout=5", good, empty}, 0, "ran 0\nExecuted " + empty},
		{"often", bin, []string{good, "-runs=2"}, 0, "ran 4\nran 4\nExecuted"},
		{"statistics", bin, []string{"-print_final_stats=1", "-runs=3", good}, 0, "stat::number_of_executed_units: 3\n"},
		{"standard input", bin, []string{"-"}, 0, "ran 19\n"},
		{"no such file", bin, []string{good, filepath.Join(dir, "none")}, 1, "none: No such file or directory"},
		{"abort", bin, []string{file("abort", "a")}, 77, "ERROR: libFuzzer: deadly signal"},
		{"fault", bin, []string{file("fault", "s"), good}, 77, "ERROR: libFuzzer: deadly signal"},
		{"another status", bin, []string{file("fault", "s"), "-error_exitcode=5"}, 5, "deadly signal"},
		{"exit", bin, []string{file("exit", "e")}, 77, "ERROR: libFuzzer: fuzz target exited"},
		{"timeout", bin, []string{"-timeout=1", file("hang", "h")}, 70, "ERROR: libFuzzer: timeout after 1 seconds"},
		{"memory", bin, []string{"-rss_limit_mb=100", file("memory", "m")}, 71, "ERROR: libFuzzer: out-of-memory (used: "},
		{"memory that is allowed", bin, []string{file("memory", "m")}, 0, "ran 1\nExecuted "},
		{"sanitizer", asan, []string{file("overflow", "over")}, 1, "heap-buffer-overflow"},
		{"no teasel", bin, nil, 1, "hint: put teasel into PATH"},
		{"a directory", bin, []string{"-runs=1", dir}, 1, "fuzzing needs teasel, and teasel cannot be run"},
		{"minimising", bin, []string{"-minimize_crash=1", good}, 1, "fuzzing needs teasel"},
		{"flags only", bin, []string{"-runs=1"}, 1, "fuzzing needs teasel"},
		{"ignored arguments", bin, []string{good, "-ignore_remaining_args=1", dir}, 0, "ran 4\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, said := byHand(t, []string{"PATH=/nowhere", "TEASEL="}, test.bin, test.args...)
			if status != test.status || !strings.Contains(said, test.said) || strings.Contains(said, "unprepared") {
				t.Errorf("status %d, want %d, and %q:\n%s", status, test.status, test.said, said)
			}
		})
	}
}

// TestBecomesTeasel: a harness that is asked to fuzz executes teasel: the one that the environment names, the one that has built
// the harness, or the one in PATH.
func TestBecomesTeasel(t *testing.T) {
	dir := t.TempDir()
	fake := func(name string) string {
		path := filepath.Join(dir, name, "teasel")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\necho "+name+" \"$@\"\nexit 9\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named, builder, inPath := fake("named"), fake("builder"), fake("path")
	src, bin := filepath.Join(dir, "h.c"), filepath.Join(dir, "harness")
	write(t, src, "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return 0; }")
	compile(t, clang.Compiler{Teasel: builder, Cache: t.TempDir()}, "-fsanitize=fuzzer", src, "-o", bin)
	path := "PATH=" + filepath.Dir(inPath) + ":" + os.Getenv("PATH")
	for _, test := range []struct {
		name string
		gone string
		env  []string
	}{{"named", "", []string{path, "TEASEL=" + named}}, {"builder", "", []string{path, "TEASEL="}}, {"path", builder, []string{path, "TEASEL="}}} {
		if test.gone != "" {
			if err := os.Remove(test.gone); err != nil {
				t.Fatal(err)
			}
		}
		status, said := byHand(t, test.env, bin, "-runs=5", dir, "-dict=x")
		if want := test.name + " libfuzzer -- " + bin + " -runs=5 " + dir + " -dict=x\n"; status != 9 || said != want {
			t.Errorf("status %d, %q, want %q", status, said, want)
		}
	}
}
