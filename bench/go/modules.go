package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// realModules compares the two on fuzz tests of other modules: executions a second, and what one and the same binary covers with
// what each has kept.
func (b *bench) realModules(ctx context.Context) error {
	if len(b.modules) == 0 {
		return nil
	}
	fmt.Printf("\nfuzz tests of other modules, %d rounds of %v: executions a second of processor time and ratio; blocks covered and ratio\n", b.rounds, b.time)
	for _, name := range b.modules {
		dir, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			return err
		}
		t := test{dir, filepath.Base(name)}
		var ours, theirs, faster, blocks, otherBlocks, more []float64
		for round := range b.rounds {
			r, mine, n, other, err := b.round(ctx, t, round)
			if err != nil {
				return err
			}
			ours, theirs, faster = append(ours, r.rate()), append(theirs, n.rate()), append(faster, r.rate()/n.rate())
			blocks, otherBlocks, more = append(blocks, float64(mine)), append(otherBlocks, float64(other)), append(more, float64(mine)/float64(max(other, 1)))
		}
		fmt.Printf("%-50s %s %s %.1fx; %s %s %.2fx\n", name, spread(ours), spread(theirs), median(faster), spread(blocks), spread(otherBlocks), median(more))
	}
	return nil
}

// round runs both once and replays what they have kept.
func (b *bench) round(ctx context.Context, t test, round int) (r result, mine int, n result, other int, err error) {
	fail := func(err error) (result, int, result, int, error) { return r, 0, n, 0, err }
	out, err := os.MkdirTemp(b.dir, "out")
	if err != nil {
		return fail(err)
	}
	cache, err := os.MkdirTemp(b.dir, "cache")
	if err != nil {
		return fail(err)
	}
	if r, err = b.ours(ctx, t, round, out, "--duration", b.time.String()); err != nil {
		return fail(err)
	}
	if n, err = b.native(ctx, t, cache); err != nil {
		return fail(err)
	}
	if mine, err = b.covered(ctx, t, inputs(out, "interesting")); err != nil {
		return fail(err)
	}
	other, err = b.covered(ctx, t, inputs(cache, t.name))
	return r, mine, n, other, err
}

// inputs returns the first directory of that name.
func inputs(top, name string) (dir string) {
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == name {
			dir = path
			return fs.SkipAll
		}
		return err
	})
	return dir
}

// covered returns how many blocks of the module the test covers with its seeds and the inputs in a directory. It puts the
// inputs into the package's testdata while it runs.
func (b *bench) covered(ctx context.Context, t test, dir string) (blocks int, err error) {
	binary, profile := filepath.Join(b.dir, t.name+".cover"), filepath.Join(b.dir, t.name+".out")
	name, err := t.command(ctx, "go", "list", "-m").Output()
	if err != nil {
		return 0, fmt.Errorf("asking for the module: %w", err)
	}
	if out, err := t.command(ctx, "go", "test", "-c", "-cover", "-coverpkg="+strings.TrimSpace(string(name))+"/...", "-o", binary, ".").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building for coverage: %w\n%s", err, out)
	}
	saved := filepath.Join(t.dir, "testdata", "fuzz", t.name)
	if _, err := os.Stat(saved); errors.Is(err, os.ErrNotExist) {
		defer os.RemoveAll(saved)
	}
	if dir != "" {
		if err := os.MkdirAll(saved, 0o755); err != nil {
			return 0, err
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			return 0, err
		}
		for _, f := range files {
			to := filepath.Join(saved, "kept-"+f.Name())
			defer os.Remove(to)
			data, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err == nil {
				err = os.WriteFile(to, data, 0o644)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	cmd := t.command(ctx, binary, "-test.run=^"+t.name+"$", "-test.coverprofile="+profile)
	out, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, fmt.Errorf("replaying what was kept: %w\n%s", runErr, out)
	}
	reached := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if block, count, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasSuffix(count, " 0") && !strings.HasPrefix(line, "mode:") {
			reached[block] = true
		}
	}
	return len(reached), os.Remove(profile)
}
