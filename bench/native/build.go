package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// compiler is one way of building a library and its harness.
type compiler struct {
	name string
	env  []string
	// command returns the whole command line for these arguments.
	command func(ctx context.Context, args []string) ([]string, error)
	link    []string // what the program needs on top
	archive string   // a runtime that is linked too; "": none
	extra   []string // sources of ours beside the harness
}

// plain names the program by its path, so that builds by another version of a compiler, elsewhere in PATH, are other builds.
func plain(program string, flags ...string) func(context.Context, []string) ([]string, error) {
	return func(_ context.Context, args []string) ([]string, error) {
		path, err := exec.LookPath(program)
		return slices.Concat([]string{path}, flags, args), err
	}
}

const sourceCoverage = "-fprofile-instr-generate"

var compilers = map[string]compiler{
	"teasel":    {name: "teasel", command: clang.Compiler{}.Command, link: []string{"-fsanitize=fuzzer"}},
	"afl":       {name: "afl", command: plain("afl-clang-fast"), env: []string{"AFL_QUIET=1"}, link: []string{"-fsanitize=fuzzer"}},
	"cmplog":    {name: "cmplog", command: plain("afl-clang-fast"), env: []string{"AFL_QUIET=1", "AFL_LLVM_CMPLOG=1"}, link: []string{"-fsanitize=fuzzer"}},
	"libfuzzer": {name: "libfuzzer", command: plain("clang", "-fsanitize=fuzzer-no-link"), link: []string{"-fsanitize=fuzzer"}},
	"libafl": {name: "libafl", command: plain("clang", "-fsanitize=fuzzer-no-link"), extra: []string{"counted.c"},
		link: []string{"-Wl,--strip-debug", "-lstdc++", "-lm", "-lpthread", "-ldl"}},
	"cover": {name: "cover", command: plain("clang", sourceCoverage, "-fcoverage-mapping"), extra: []string{"replay.c"}},
}

// flags are the same for everybody. afl-clang-fast would take -O3 otherwise.
var flags = []string{"-O2", "-g", "-w", "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"}

// builder builds programs into a cache. One goroutine at a time uses it.
type builder struct {
	cache string
	root  string // of this program's sources
	log   io.Writer

	libafl string // archive of its runtime
}

// compiler returns one of the compilers, with what only this machine knows.
func (b *builder) compiler(name string) compiler {
	c := compilers[name]
	if name == "libafl" {
		c.archive = b.libafl
	}
	return c
}

// program returns the harness of a library, built by a compiler.
func (b *builder) program(ctx context.Context, l library, c compiler) (string, error) {
	dir, err := b.unpacked(ctx, l)
	if err != nil {
		return "", err
	}
	files, err := l.sources(dir)
	if err != nil {
		return "", err
	}
	harness, err := l.source(b.root, dir)
	if err != nil {
		return "", err
	}
	args := slices.Clone(flags)
	for _, i := range l.include {
		args = append(args, "-I"+filepath.Join(dir, i))
	}
	for _, d := range l.define {
		args = append(args, "-D"+d)
	}
	return b.build(ctx, l.name, append(files, harness), args, l.link, c)
}

// build compiles files and links them; what is there already, from the same sources by the same commands, is used again.
func (b *builder) build(ctx context.Context, name string, files, args, link []string, c compiler) (string, error) {
	for _, f := range c.extra {
		files = append(files, filepath.Join(b.root, "harness", f))
	}
	key := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		probe, err := c.command(ctx, append(args, "-c", f))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(key, "%q %s\x00", probe, text)
	}
	probe, err := c.command(ctx, append([]string{"x.o"}, append(c.link, link...)...)) // names the runtime by its content
	if err != nil {
		return "", err
	}
	fmt.Fprintf(key, "%q", probe)
	if c.archive != "" {
		info, err := os.Stat(c.archive)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(key, "%s %d %v", c.archive, info.Size(), info.ModTime())
		c.link = append([]string{c.archive}, c.link...)
	}
	dir := filepath.Join(b.cache, "build", name+"-"+c.name+"-"+hex.EncodeToString(key.Sum(nil)[:6]))
	bin := filepath.Join(dir, name)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	fmt.Fprintf(b.log, "building %s for %s\n", name, c.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	objects, err := b.compile(ctx, dir, files, args, c)
	if err != nil {
		return "", err
	}
	tmp := bin + ".new"
	if err := c.run(ctx, slices.Concat(objects, c.link, link, []string{"-o", tmp})); err != nil {
		return "", err
	}
	return bin, os.Rename(tmp, bin)
}

// compile makes an object of each file, as many at a time as there are processors.
func (b *builder) compile(ctx context.Context, dir string, files, args []string, c compiler) ([]string, error) {
	objects, errs := make([]string, len(files)), make([]error, len(files))
	free := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, f := range files {
		objects[i] = filepath.Join(dir, fmt.Sprintf("%d-%s.o", i, strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))))
		all.Go(func() {
			free <- struct{}{}
			errs[i] = c.run(ctx, append(slices.Clone(args), "-c", f, "-o", objects[i]))
			<-free
		})
	}
	all.Wait()
	return objects, errors.Join(errs...)
}

func (c compiler) run(ctx context.Context, args []string) error {
	if c.name == "cover" && !slices.Contains(args, "-c") {
		args = append(slices.Clone(args), sourceCoverage)
	}
	argv, err := c.command(ctx, args)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// unpacked returns a copy of the source in which the headers that a build system would make are there.
func (b *builder) unpacked(ctx context.Context, l library) (string, error) {
	found, err := filepath.Glob(filepath.Join(b.cache, "src", l.folder))
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(f string) bool {
		i, err := os.Stat(f)
		return err != nil || !i.IsDir()
	})
	if len(found) != 1 {
		return "", fmt.Errorf("%d folders %s in %s/src (run.sh fetches the source)", len(found), l.folder, b.cache)
	}
	dir := filepath.Join(b.cache, "ready", filepath.Base(found[0]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp := dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	script := fmt.Sprintf("mkdir -p '%s' && cp -a '%s/.' '%s' && cd '%s' && %s", tmp, found[0], tmp, tmp, max(l.prepare, ":"))
	if out, err := exec.CommandContext(ctx, "sh", "-c", script).CombinedOutput(); err != nil {
		return "", fmt.Errorf("preparing %s: %w\n%s", l.name, err, out)
	}
	return dir, os.Rename(tmp, dir)
}

// sources lists the files of the library.
func (l library) sources(dir string) (files []string, err error) {
	for _, pattern := range l.files {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		return slices.ContainsFunc(l.leave, func(pattern string) bool {
			ok, _ := filepath.Match(pattern, filepath.Base(f))
			return ok
		})
	})
	if len(files) == 0 {
		return nil, fmt.Errorf("no sources in %s", dir)
	}
	return files, nil
}
