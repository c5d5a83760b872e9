package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"
)

const (
	puzzleSeeds = 10
	puzzleTime  = 20 * time.Second // after which a puzzle counts as not solved
)

// puzzleNames are programs in native/testdata.
var puzzleNames = []string{"magic", "nested", "string", "checksum", "adler", "crcs", "folded", "long", "summed", "switched", "linear", "packed", "digits", "length", "sections", "login"}

// puzzles measures how long it takes from the start of the process to a confirmed and minimised finding, on the programs of the
// tests of package native: magic numbers, texts, checksums, numbers that are computed, state that earlier lines have set. The only
// seed is 28 zeros.
func (m *meter) puzzles(ctx context.Context, w io.Writer) error {
	seeds := filepath.Join(m.tmp, "seeds")
	if err := os.MkdirAll(seeds, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(seeds, "zeros"), make([]byte, 28), 0o644); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\npuzzle\tsolved of %d seeds\tseconds of the solved\texecutions\t\n", puzzleSeeds)
	for _, name := range puzzleNames {
		f := filepath.Join(m.builder.root, "..", "..", "native", "testdata", name+".c")
		program, err := m.builder.build(ctx, name, []string{f}, flags, nil, compilers["teasel"])
		if err != nil {
			return err
		}
		var times, runs []float64
		for seed := range puzzleSeeds {
			s, solved, err := m.puzzle(ctx, program, seeds, seed)
			if err != nil {
				return err
			}
			if solved {
				times, runs = append(times, s.wall), append(runs, s.executions)
			}
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t\n", name, len(times), spreadOf(times).text("%.2f"), spreadOf(runs).text("%.0f"))
	}
	return tw.Flush()
}

func (m *meter) puzzle(ctx context.Context, program, seeds string, seed int) (s sample, solved bool, err error) {
	j := job{log: filepath.Join(m.tmp, "puzzle.log")}
	if j.self, err = os.Executable(); err != nil {
		return s, false, err
	}
	argv := []string{j.self, "campaign", "-program", program, "-seeds", seeds, "-time", puzzleTime.String(), "-stop", "1", "-seed", strconv.Itoa(seed)}
	if s, err = m.pinned(ctx, argv, nil, j.log, strconv.Itoa(m.cpu), nil); err != nil {
		return s, false, err
	}
	r, err := j.report()
	s.executions = float64(r.Executions)
	return s, r.Findings > 0, err
}
