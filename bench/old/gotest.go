package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// module is a folder of testdata/tests.txtar, with one fuzz test, Fuzz.
type module string

//go:embed testdata/tests.txtar
var tests []byte

// unpack writes the module into a directory, in which only findings come to it.
func (m module) unpack(ctx context.Context, dir string) error {
	for _, f := range txtar.Parse(tests).Files {
		name, ok := strings.CutPrefix(f.Name, string(m)+"/")
		if !ok {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return command(ctx, dir, nil, "go", "mod", "tidy")
}

func (m module) teasel(ctx context.Context, b *bench, dir string) ([]finding, error) {
	if err := m.unpack(ctx, dir); err != nil {
		return nil, err
	}
	// Built once before, so that what is timed is the campaign.
	if _, err := b.campaign(ctx, dir, "go", []string{"--dry-run"}, nil); err != nil {
		return nil, err
	}
	return b.campaign(ctx, dir, "go", nil, nil)
}

// rival runs go test -fuzz again and again: it ends at the first fault. What it has kept is there each time, the input that failed is not.
func (m module) rival(ctx context.Context, b *bench, dir string) (found []finding, err error) {
	if err := m.unpack(ctx, dir); err != nil {
		return nil, err
	}
	if err := command(ctx, dir, nil, "go", "test", "-c", "-fuzz=^Fuzz$", "-o", "fuzz.test", "."); err != nil {
		return nil, err
	}
	for start := time.Now(); ; {
		left := b.time - time.Since(start)
		if left < time.Second {
			return found, nil
		}
		f, err := m.once(ctx, b, dir, left)
		if err != nil || f == nil {
			return found, err
		}
		f.after += b.time - left
		found = append(found, *f)
		if err := os.RemoveAll(filepath.Join(dir, "testdata")); err != nil {
			return nil, err
		}
	}
}

// failed is the first line from which one knows that an input fails, before it was minimised.
var failed = regexp.MustCompile(`minimizing|^--- FAIL|hung or terminated`)

// once runs go test -fuzz to its end. It returns nil if no input has failed.
func (m module) once(ctx context.Context, b *bench, dir string, left time.Duration) (*finding, error) {
	args := b.pinned("./fuzz.test", "-test.run=^$", "-test.fuzz=^Fuzz$", "-test.parallel=1", fmt.Sprintf("-test.fuzztime=%.0fs", left.Seconds()), "-test.fuzzcachedir="+filepath.Join(dir, "cache"))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var f finding
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if f.after == 0 && failed.MatchString(lines.Text()) {
			f.after = time.Since(start)
		}
		said.WriteString(lines.Text() + "\n")
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		return nil, nil
	}
	f.text = said.String()
	f.what = f.text
	if _, after, ok := strings.Cut(f.text, "--- FAIL"); ok {
		f.what = strings.Join(strings.Fields(after), " ")
	}
	f.what = f.what[:min(len(f.what), 160)]
	return &f, nil
}
