package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel/corpus"
)

// campaign runs teasel as somebody does who has read no more than the first page, and returns what its directory has.
func (b *bench) campaign(ctx context.Context, dir, verb string, options, target []string) ([]finding, error) {
	out := filepath.Join(dir, "out")
	args := b.pinned(b.teasel, verb, "--no-ui", "--workers", "1", "--seed", strconv.Itoa(b.seed), "--duration", b.time.String(), "--out", out)
	args = append(append(args, options...), target...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if status := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &status) || status.ExitCode() != 1 || ctx.Err() != nil) {
		return nil, fmt.Errorf("teasel %s: %w\n%s", verb, err, said)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.txt"), said, 0o644); err != nil {
		return nil, err
	}
	return findings(out)
}

// findings reads those of all campaigns below a directory, confirmed or not, by the time at which they were first reported.
func findings(dir string) (all []finding, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		in := filepath.Base(filepath.Dir(path))
		if err != nil || e.IsDir() || in != "findings" && in != "unconfirmed" {
			return err
		}
		file, err := corpus.ReadFinding(path)
		if err != nil {
			return err
		}
		f := &file.Finding
		all = append(all, finding{
			after:     f.Found,
			what:      fmt.Sprintf("%s %s: %s", f.Rule, f.Subject, f.Message),
			text:      fmt.Sprintf("%s %s\n%s\n%s", f.Rule, f.Message, f.Fault, f.Detail),
			confirmed: f.Tries > 0 && f.Stable == f.Tries,
		})
		return nil
	})
	slices.SortFunc(all, func(a, b finding) int { return cmp.Compare(a.after, b.after) })
	return all, err
}
