package native_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

func campaign(bin string, seed uint64) *teasel.Campaign[[]byte] {
	return &teasel.Campaign[[]byte]{
		Target: native.Target{Command: []string{bin}, Timeout: time.Second}, Mutator: &mutate.Bytes{}, Codec: native.Codec{},
		Stages: native.Stages(), NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(native.Detect)} },
		Seeds: [][]byte{make([]byte, 28)}, Calibrate: 2, Seed: seed, Runs: 2_000_000,
	}
}

// TestPuzzles: campaigns solve magic numbers, strings and checksums with any seed.
func TestPuzzles(t *testing.T) {
	for _, name := range []string{"magic", "nested", "string", "checksum", "folded", "switched", "adler", "summed", "long"} {
		puzzle(t, name, build(t, source(t, name+".c")), 0)
	}
}

// TestComputed: campaigns solve, with most seeds, comparisons of numbers that the program computes from its input: in ranges,
// scaled, added, packed into bits, in digits.
func TestComputed(t *testing.T) {
	for _, file := range []string{"ranges.cc", "linear.c", "packed.c", "digits.c", "length.c", "computed.cc"} {
		bin := filepath.Join(t.TempDir(), "target")
		compile(t, clang.Compiler{CXX: filepath.Ext(file) == ".cc"}, filepath.Join("testdata", file), "-o", bin)
		puzzle(t, file, bin, 3)
	}
}

// TestState: campaigns solve, with nine seeds of ten, comparisons with an earlier part of the input.
func TestState(t *testing.T) {
	for _, name := range []string{"sections", "login"} {
		puzzle(t, name, build(t, source(t, name+".c")), 1)
	}
}

// puzzle runs campaigns with ten seeds, which must find the only bug of the program. unlucky is how many of them may fail.
func puzzle(t *testing.T, name, bin string, unlucky int) {
	t.Helper()
	seeds := uint64(10)
	if testing.Short() {
		t.Log("one seed of ten with -short")
		seeds = 1
	}
	for seed := range seeds {
		c := campaign(bin, seed)
		c.StopAfter, c.Runs = 1, 500_000
		s, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if testing.Verbose() {
			t.Logf("%s, seed %d: %d executions", name, seed, s.Executions)
		}
		if len(s.Findings) == 0 && unlucky > 0 {
			unlucky--
			t.Logf("%s, seed %d: unsolved after %d executions, as some may be", name, seed, s.Executions)
		} else if len(s.Findings) != 1 {
			t.Errorf("%s, seed %d: unsolved after %d executions", name, seed, s.Executions)
		} else if f := s.Findings[0]; !f.Confirmed() || f.Rule != "native/trap" {
			t.Errorf("%s, seed %d: %s, reproduced %d of %d times", name, seed, f.Rule, f.Stable, f.Tries)
		}
	}
}

// once is the last stage, which ends the campaign after the first turn of the others.
type once struct{ work *uint64 }

func (once) Name() string { return "once" }

func (o once) Run(_ context.Context, _ *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	*o.work = tc.Work
	return teasel.ErrStop
}

// TestTurns: havoc makes more inputs from fast testcases than from slow ones.
func TestTurns(t *testing.T) {
	loops := strings.Repeat("for (int i = 0; i < 200; i++) sum += i;\n", 40)
	for _, test := range []struct {
		name, body  string
		least, most uint64 // work
		turn        uint64 // executions of a turn, without those that confirm new features
	}{
		{"quick", "", 1, 100, 256},
		{"expensive", loops, 1000, 1e6, 64},
	} {
		var work uint64
		c := campaign(build(t, "static volatile int sum;\nint LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) {\n"+test.body+"return sum & 0; }"), 1)
		c.Stages = []teasel.Stage[[]byte]{native.Havoc{}, once{&work}}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if work < test.least || work > test.most {
			t.Errorf("%s: work of %d, want %d to %d", test.name, work, test.least, test.most)
		}
		made := uint64(0)
		for _, st := range s.Stages {
			if st.Name == "havoc" {
				made = st.Executions
			}
		}
		if made < test.turn || made > test.turn*3/2 {
			t.Errorf("%s: %d executions in a turn, want %d", test.name, made, test.turn)
		}
	}
}

// TestPlanted: a campaign finds each planted bug once and minimises its input, and finds nothing in the clean twin.
func TestPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a complete campaign takes too long for -short")
	}
	flags := []string{"-fsanitize=address", "-DSANITIZED", "-O1"}
	want := map[string]bool{}
	for _, p := range planted {
		if p.onlyUnder == "" || p.onlyUnder == "address" {
			want[p.byte] = true
		}
	}
	c := campaign(build(t, source(t, "planted.c"), flags...), 1)
	c.Seeds, c.StopAfter = [][]byte{[]byte("abc")}, len(want)
	c.Target = native.Target{Command: c.Target.(native.Target).Command, Timeout: 300 * time.Millisecond, Memory: 128 << 20}
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, f := range s.Findings {
		groups = append(groups, fmt.Sprintf("%s %s %q %d/%d", f.Rule, f.Group, f.Input, f.Stable, f.Tries))
		if len(f.Input) != 3 || f.Input[1] != 'x' || !want[string(f.Input[:1])] {
			t.Errorf("%s %s: the input is %q", f.Rule, f.Group, f.Input)
			continue
		}
		delete(want, string(f.Input[:1]))
	}
	if len(want) > 0 {
		t.Errorf("not found: %v\nfound:\n%s", want, strings.Join(groups, "\n"))
	}

	c = campaign(build(t, source(t, "planted.c"), append(flags, "-DCLEAN")...), 1)
	c.Runs = 200_000
	if s, err = c.Run(context.Background()); err != nil || len(s.Findings) > 0 {
		t.Errorf("the clean twin: %v, %v", s.Findings, err)
	}
}

// TestLeaky: a harness that leaks memory in every other run, which nothing in the input tells beforehand, spends its executions on
// something else than on dying of that, and the leak is reported.
func TestLeaky(t *testing.T) {
	c := campaign(build(t, `#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < n; i++) h = (h ^ d[i]) * 16777619;
	if (h >> 15 & 1) *(volatile char *)malloc(10) = 1;
	return 0;
}`, "-g", "-O1", "-fsanitize=fuzzer,address"), 1)
	c.Runs = 20_000
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || s.Findings[0].Rule != native.LeakRule {
		t.Fatalf("%+v, want a leak", s.Findings)
	}
	if n := s.Findings[0].Occurrences; n > c.Runs/20 {
		t.Errorf("%d of %d executions have ended with the leak, want a twentieth at most", n, s.Executions)
	}
}
