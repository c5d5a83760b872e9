package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// judge measures what a corpus reaches, by two measures that are none of ours: the edges of one AFL++ binary, and the lines and
// regions of clang's source coverage.
func (m *meter) judge(ctx context.Context, l library, corpus string, s *sample) error {
	if err := m.edges(ctx, l, corpus, s); err != nil {
		return err
	}
	return m.source(ctx, l, corpus, s)
}

// sow adds the seeds to what a fuzzer has kept: libFuzzer keeps only what it has made, and others begin with them.
func sow(seeds, corpus string) error {
	files, err := os.ReadDir(seeds)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(seeds, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(corpus, "seed-"+f.Name()), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("adding the seeds: %w", err)
		}
	}
	return err
}

func output(ctx context.Context, dir string, env []string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", argv[0], err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes(), nil
}

// edges counts those that afl-showmap sees in one binary.
func (m *meter) edges(ctx context.Context, l library, corpus string, s *sample) error {
	program, err := m.builder.program(ctx, l, compilers["afl"])
	if err != nil {
		return err
	}
	// It does not create its output below /dev.
	dir, err := os.MkdirTemp("", "teasel-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "map")
	if _, err := output(ctx, dir, []string{"AFL_QUIET=1"}, "afl-showmap", "-q", "-C", "-t", "5000", "-m", "none", "-i", corpus, "-o", file, "--", program); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	s.edges = float64(bytes.Count(text, []byte("\n")))
	return err
}

// source counts lines and regions that a build with clang's coverage has run.
func (m *meter) source(ctx context.Context, l library, corpus string, s *sample) error {
	program, err := m.builder.program(ctx, l, compilers["cover"])
	if err != nil {
		return err
	}
	raw, merged := filepath.Join(m.tmp, "raw"), filepath.Join(m.tmp, "merged")
	if _, err := output(ctx, m.tmp, []string{"LLVM_PROFILE_FILE=" + raw}, program, corpus); err != nil {
		return err
	}
	if _, err := output(ctx, m.tmp, nil, "llvm-profdata", "merge", "-sparse", raw, "-o", merged); err != nil {
		return err
	}
	text, err := output(ctx, m.tmp, nil, "llvm-cov", "export", "-summary-only", "-instr-profile="+merged, program)
	if err != nil {
		return err
	}
	type count struct{ Covered float64 }
	var summary struct {
		Data []struct {
			Totals struct{ Lines, Regions count }
		}
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		return fmt.Errorf("reading llvm-cov's summary: %w", err)
	}
	for _, d := range summary.Data {
		s.lines += d.Totals.Lines.Covered
		s.regions += d.Totals.Regions.Covered
	}
	return nil
}
