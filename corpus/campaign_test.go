package corpus_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// stairs is a target that reaches one step for each right byte, and that dies at the end of the word.
type stairs string

func (s stairs) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return s, nil }
func (s stairs) Close() error                                                       { return nil }

func (s stairs) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	n := 0
	for n < min(len(s), len(in)) && s[n] == in[n] {
		n++
		o.Features = append(o.Features, teasel.Feature(n))
	}
	o.Exit = teasel.ExitOK
	o.Features = append(o.Features, teasel.Feature(100+min(len(in), 20)))
	if n == len(s) {
		o.Exit, o.Detail = teasel.ExitCrash, "the end of the stairs"
	}
	return nil
}

type letters struct{}

func (letters) Generate(r *teasel.Rand) []byte { return []byte{byte('a' + r.IntN(26))} }
func (letters) Complexity(in []byte) float64   { return float64(len(in)) }

func (letters) Mutate(r *teasel.Rand, dst, src []byte) []byte {
	dst = append(dst[:0], src...)
	if c := byte('a' + r.IntN(26)); len(dst) == 0 || r.IntN(3) == 0 {
		dst = append(dst, c)
	} else {
		dst[r.IntN(len(dst))] = c
	}
	return dst
}

type plain struct{}

func (plain) Encode(in []byte) ([]byte, error)   { return append([]byte{}, in...), nil }
func (plain) Decode(data []byte) ([]byte, error) { return append([]byte{}, data...), nil }

func runStairs(t *testing.T, d *corpus.Dir, word stairs, runs uint64, resume *teasel.Snapshot) teasel.Summary {
	t.Helper()
	c := teasel.Campaign[[]byte]{Target: word, Mutator: letters{}, Codec: plain{}, Seeds: [][]byte{[]byte("x")}, Calibrate: 1,
		Reporters: []teasel.Reporter{d}, Runs: runs, Resume: resume, Seed: 7}
	sum, err := c.Run(context.Background())
	if err == nil {
		err = d.Finish(sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A real campaign is written down as it goes, and the next run of it begins where it was.
func TestCampaignResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	d, err := corpus.Create(path, corpus.Meta{Kind: "test", Seed: 7, Extension: ".txt"})
	if err != nil {
		t.Fatal(err)
	}
	first := runStairs(t, d, "teasel", 3000, nil)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if first.Corpus < 5 {
		t.Fatalf("%d testcases after %d executions", first.Corpus, first.Executions)
	}
	if d, err = corpus.Open(path); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	snap, problems, err := d.Snapshot(nil)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	files, err := os.ReadDir(filepath.Join(path, corpus.Interesting))
	if err != nil || len(files) != first.Corpus || len(snap.Entries) != first.Corpus {
		t.Errorf("%d files and %d entries of %d testcases, %v", len(files), len(snap.Entries), first.Corpus, err)
	}
	if snap.Executions != first.Executions || len(snap.Workers) != 1 || snap.Workers[0].Draws == 0 {
		t.Errorf("snapshot of %d executions, workers %+v; the campaign had %d", snap.Executions, snap.Workers, first.Executions)
	}
	if got := d.Summary(); got.Stopped != first.Stopped || got.Executions != first.Executions || got.Features != first.Features {
		t.Errorf("summary %+v\nwant %+v", got, first)
	}
	second := runStairs(t, d, "teasel", 200000, &snap)
	if second.Executions <= first.Executions || second.Features < first.Features {
		t.Errorf("second run: %d executions and %d features after %d and %d", second.Executions, second.Features, first.Executions, first.Features)
	}
	if len(second.Findings) != 1 {
		t.Fatalf("%d findings", len(second.Findings))
	}
	id := second.Findings[0].ID()
	if in, err := os.ReadFile(filepath.Join(path, corpus.Crashes, id+".txt")); err != nil || string(in) != "teasel" {
		t.Errorf("crash input %q, %v", in, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := corpus.ReadFinding(d.FindingPath(id))
	if err != nil || f.Finding.Occurrences != second.Findings[0].Occurrences || string(f.Finding.Input) != "teasel" {
		t.Errorf("%+v, %v", f, err)
	}
	table, err := os.ReadFile(filepath.Join(path, "stats.csv"))
	if last := fmt.Sprintf(",%d,", second.Executions); err != nil || !strings.Contains(string(table), last) {
		t.Errorf("no %s in stats.csv: %v\n%s", last, err, table)
	}
}
