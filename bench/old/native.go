package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// library is one in C whose source is in a package of crates.io.
type library struct {
	name           string // of the files in harness and seeds
	crate, version string
	folder         string   // of its source in the package
	cmake          []string // what configures it; nil: files are all of it
	files          []string
	include, link  []string
	seeds          string // in folder; "": ours
}

// The same for both. Without -w old code fills the screen.
const flags = "-g -O1 -w -fsanitize=address"

// source fetches the package, unless it is there, and returns the folder of the library.
func (l library) source(ctx context.Context, b *bench) (string, error) {
	dir := filepath.Join(b.dir, "crates", l.crate+"-"+l.version)
	folder := filepath.Join(dir, "vendor", l.crate+"-"+l.version, l.folder)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	manifest := fmt.Sprintf("[package]\nname = \"old\"\nversion = \"0.0.0\"\nedition = \"2018\"\n[workspace]\n[dependencies]\n%s = \"=%s\"\n", l.crate, l.version)
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"Cargo.toml": manifest, "src/lib.rs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return folder, command(ctx, dir, nil, "cargo", "vendor", "--quiet", "--versioned-dirs", "vendor")
}

// build compiles library and harness in a directory, unless that was done, and returns the program and the directory of its seeds.
func (l library) build(ctx context.Context, b *bench, dir, cc, flags string) (program, seeds string, err error) {
	source, err := l.source(ctx, b)
	if err != nil {
		return "", "", err
	}
	seeds = filepath.Join(b.source, "bench", "old", "seeds", l.name)
	if l.seeds != "" {
		seeds = filepath.Join(source, l.seeds)
	}
	program = filepath.Join(dir, l.name)
	if _, err := os.Stat(program); err == nil {
		return program, seeds, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", err
	}
	words := append(strings.Fields(cc), strings.Fields(flags)...)
	words = append(words, "-fsanitize=fuzzer", "-o", program, filepath.Join(b.source, "bench", "old", "harness", l.name+".c"))
	for _, i := range l.include {
		words = append(words, "-I"+filepath.Join(source, i))
	}
	for _, f := range l.files {
		words = append(words, filepath.Join(source, f))
	}
	if l.cmake != nil {
		built := filepath.Join(dir, "build")
		configure := append([]string{"cmake", "-S", source, "-B", built}, l.cmake...)
		for _, step := range [][]string{configure, {"cmake", "--build", built}} {
			if err := command(ctx, dir, []string{"CC=" + cc, "CFLAGS=" + flags}, step...); err != nil {
				return "", "", err
			}
		}
		archives, err := archives(built)
		if err != nil {
			return "", "", err
		}
		words = append(append(words, "-I"+built), archives...)
	}
	return program, seeds, command(ctx, dir, nil, append(words, l.link...)...)
}

// archives returns the libraries below a directory.
func archives(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".a" {
			all = append(all, path)
		}
		return err
	})
	if err == nil && all == nil {
		err = fmt.Errorf("no library was built in %s", dir)
	}
	return all, err
}

func (l library) teasel(ctx context.Context, b *bench, dir string) ([]finding, error) {
	program, seeds, err := l.build(ctx, b, filepath.Join(b.dir, "programs", l.name, "teasel"), b.teasel+" cc", flags)
	if err != nil {
		return nil, err
	}
	return b.campaign(ctx, dir, "native", []string{"--corpus", seeds}, []string{"--", program})
}

// rival runs libFuzzer again and again: it ends at the first fault. What it has kept and the seeds are there each time. Leaks, which
// may be in most of the inputs and of which it does not know two from one, do not end it.
func (l library) rival(ctx context.Context, b *bench, dir string) (found []finding, err error) {
	program, seeds, err := l.build(ctx, b, filepath.Join(b.dir, "programs", l.name, "clang"), "clang", flags+" -fsanitize=fuzzer-no-link")
	if err != nil {
		return nil, err
	}
	corpus := filepath.Join(dir, "corpus")
	if err := os.Mkdir(corpus, 0o755); err != nil {
		return nil, err
	}
	for start, seed := time.Now(), b.seed; ; seed++ {
		left := b.time - time.Since(start)
		if left < time.Second {
			return found, nil
		}
		args := b.pinned(program, "-timeout=1", "-detect_leaks=0", "-seed="+strconv.Itoa(seed), "-max_total_time="+strconv.Itoa(int(left.Seconds())), "-artifact_prefix="+dir+"/", corpus, seeds)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			return found, nil
		}
		if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || ctx.Err() != nil {
			return nil, err
		}
		found = append(found, finding{after: time.Since(start), what: summary(out), text: string(out)})
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("output-%d.txt", seed)), out, 0o644); err != nil {
			return nil, err
		}
	}
}

var summarised = regexp.MustCompile(`(?m)^SUMMARY: (.*)$`)

// summary returns the line in which a sanitizer or libFuzzer says what has happened.
func summary(out []byte) string {
	if m := summarised.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return "it ended without a summary"
}
