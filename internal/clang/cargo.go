package clang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Cargo is Rust's build tool with teasel's coverage and runtime. It builds programs, and the fuzz targets of cargo-fuzz, that the
// native kind can run. Any stable compiler will do. The zero value builds for this machine.
type Cargo struct {
	Compiler Compiler // links the program and compiles the C code in crates; CXX is ignored
	Triple   string   // target triple, such as "x86_64-unknown-linux-gnu"; "": CARGO_BUILD_TARGET, or this machine
}

// emptyArchive replaces libFuzzer in crate libfuzzer-sys: the linker adds teasel's runtime.
const emptyArchive = "libteasel_nofuzzer.a"

// rustFlags are the flags for rustc. A panic aborts the process, as under cargo-fuzz, so that its stack can be read. With the default
// of max-loads-per-memcmp, comparisons of short strings would become loads, which have no hook.
var rustFlags = [...]string{
	"-Cpasses=sancov-module",
	"-Cllvm-args=-sanitizer-coverage-level=3",
	"-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
	"-Cllvm-args=-sanitizer-coverage-pc-table",
	"-Cllvm-args=-simplifycfg-branch-fold-threshold=0", // otherwise conditions that are joined by && become one edge
	"-Cllvm-args=-max-loads-per-memcmp=0",
	"-Ccodegen-units=1",
	"-Cdebuginfo=1",
	"-Cstrip=none",
	"-Cdebug-assertions=on",
	"-Coverflow-checks=on",
	"-Cpanic=abort",
	"-Cforce-unwind-tables=yes",
	"-Clink-arg=-Wl,-u,LLVMFuzzerTestOneInput", // the symbol may be in an archive from which nothing else is linked
	"--cfg=fuzzing",
}

// Environment returns env with the variables added that make an ordinary cargo build for teasel. Flags for rustc in env are kept;
// those in cargo's configuration files are ignored. The target triple is set, so that macros and build scripts are not
// instrumented; cargo then builds in target/TRIPLE. The methods of a Cargo may be called concurrently.
func (c Cargo) Environment(ctx context.Context, env []string) ([]string, error) {
	clang, err := c.Compiler.find(ctx)
	if err != nil {
		return nil, err
	}
	if c.Compiler.Teasel == "" {
		if c.Compiler.Teasel, err = exec.LookPath("teasel"); err != nil {
			return nil, fmt.Errorf("looking for the linker: %w", err)
		}
	}
	rt, err := c.Compiler.runtime(ctx, clang, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"teasel-cc", "teasel-c++"} {
		if err := os.Symlink(c.Compiler.Teasel, rt.file(name)); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	e := environment{slices.Clone(env)}
	triple := c.Triple
	if triple == "" {
		triple = e.value("CARGO_BUILD_TARGET")
	}
	if triple == "" {
		if triple, err = host(ctx, e); err != nil {
			return nil, err
		}
	}
	flags := append([]string{"-Clinker=" + rt.file("teasel-cc")}, rustFlags[:]...)
	if !c.Compiler.NoHooks {
		flags = append(flags, "-Cllvm-args=-sanitizer-coverage-trace-compares")
	}
	const separator = "\x1f" // of CARGO_ENCODED_RUSTFLAGS, which takes precedence over RUSTFLAGS
	if own := e.value("CARGO_ENCODED_RUSTFLAGS"); own != "" {
		flags = append(flags, own)
	} else {
		flags = append(flags, strings.Fields(e.value("RUSTFLAGS"))...)
	}
	e.set("CARGO_ENCODED_RUSTFLAGS", strings.Join(flags, separator))
	e.set("CARGO_BUILD_TARGET", triple)
	e.set("CUSTOM_LIBFUZZER_PATH", rt.file(emptyArchive))
	e.set("CUSTOM_LIBFUZZER_STD_CXX", "none")
	e.add("CARGO_INCREMENTAL", "0")
	e.add("CARGO_PROFILE_DEV_OPT_LEVEL", "2")
	e.add("CARGO_PROFILE_DEV_LTO", "off") // link-time optimisation would run after the counters were added
	e.add("CARGO_PROFILE_RELEASE_LTO", "off")
	suffix := strings.ReplaceAll(triple, "-", "_")
	for _, v := range [...]struct{ name, file string }{{"CC", "teasel-cc"}, {"CXX", "teasel-c++"}} { // read by crate cc
		if e.value(v.name) == "" && e.value("TARGET_"+v.name) == "" && e.value(v.name+"_"+triple) == "" {
			e.add(v.name+"_"+suffix, rt.file(v.file))
		}
	}
	return e.list, nil
}

// host returns the target triple for which rustc builds by default.
func host(ctx context.Context, e environment) (string, error) {
	rustc := e.value("RUSTC")
	if rustc == "" {
		rustc = "rustc"
	}
	cmd := exec.CommandContext(ctx, rustc, "-vV")
	cmd.Env = e.list
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", filepath.Base(rustc), err)
	}
	for l := range strings.Lines(string(out)) {
		if h, ok := strings.CutPrefix(l, "host: "); ok {
			return strings.TrimSpace(h), nil
		}
	}
	return "", fmt.Errorf("asking %s for its version: it names no host", filepath.Base(rustc))
}

// environment is a list of NAME=value; the last value of a name counts.
type environment struct{ list []string }

func (e *environment) value(name string) string {
	for _, v := range slices.Backward(e.list) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (e *environment) set(name, value string) { e.list = append(e.list, name+"="+value) }

// add sets a variable that is not set yet.
func (e *environment) add(name, value string) {
	if e.value(name) == "" {
		e.set(name, value)
	}
}
