package native_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// zipped builds the harness for compressed inputs.
func zipped(t *testing.T, mutator int, flags ...string) string {
	t.Helper()
	if _, err := os.Stat("/usr/include/zlib.h"); err != nil {
		t.Skip("skipped: zlib is not installed (Debian: apt-get install zlib1g-dev): ", err)
	}
	bin := filepath.Join(t.TempDir(), "zipped")
	compile(t, clang.Compiler{}, append([]string{filepath.Join("testdata", "zipped.c"), fmt.Sprintf("-DMUTATOR=%d", mutator), "-lz", "-o", bin}, flags...)...)
	return bin
}

// TestCustomMutator: a bug that only a harness's own mutator reaches is found with it, and not without it; campaigns with the same
// seed are identical.
func TestCustomMutator(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: campaigns against four builds take too long for -short; TestCustomCrossOver and TestOfferedMutation use custom mutators too")
	}
	for _, test := range []struct {
		mutator int
		flags   []string
		solved  bool
	}{{0, nil, false}, {1, nil, true}, {2, nil, true}, {2, []string{"-fsanitize=fuzzer,address"}, true}} {
		bin := zipped(t, test.mutator, test.flags...)
		for seed := range uint64(2) {
			run := func() teasel.Summary {
				c := campaign(bin, seed)
				c.StopAfter, c.Runs = 1, 50_000
				if test.solved {
					c.Runs *= 10
				}
				s, err := c.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := run()
			if solved := len(s.Findings) == 1 && s.Findings[0].Confirmed(); solved != test.solved {
				t.Errorf("mutator %d %v, seed %d: solved is %v after %d executions", test.mutator, test.flags, seed, solved, s.Executions)
			}
			custom := slices.ContainsFunc(s.Stats.Stages, func(st teasel.StageStats) bool { return st.Name == "custom" && st.Executions > 0 })
			if havoc := slices.ContainsFunc(s.Stats.Stages, func(st teasel.StageStats) bool { return st.Name == "havoc" && st.Executions > 0 }); custom == havoc || custom != test.solved {
				t.Errorf("mutator %d: stages %v", test.mutator, s.Stats.Stages)
			}
			if test.flags == nil && test.solved {
				if again := run(); again.Executions != s.Executions {
					t.Errorf("mutator %d, seed %d: %d executions, and again %d", test.mutator, seed, s.Executions, again.Executions)
				}
			}
		}
	}
}

// TestBadCustomMutator: a mutator that fails is an error of the harness, reported as such, and never a finding.
func TestBadCustomMutator(t *testing.T) {
	for _, test := range []struct {
		mutator int
		want    string
	}{
		{3, "null pointer dereference, write of 0x8 in LLVMFuzzerCustomMutator"},
		{4, "hang in LLVMFuzzerCustomMutator"},
		{5, "longer than the permitted 4096 bytes"},
	} {
		c := campaign(zipped(t, test.mutator, "-g"), 1)
		c.Target = native.Target{Command: c.Target.(native.Target).Command, Timeout: 200 * time.Millisecond}
		s, err := c.Run(context.Background())
		var wrong *native.MutatorError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("mutator %d: %v, want %q", test.mutator, err, test.want)
		}
		if len(s.Findings) > 0 {
			t.Errorf("mutator %d: findings %v", test.mutator, s.Findings)
		}
	}
}

// TestOfferedMutation: LLVMFuzzerMutate changes every input, within the permitted size, and depends on its seed only.
func TestOfferedMutation(t *testing.T) {
	bin := build(t, `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
size_t LLVMFuzzerMutate(uint8_t *, size_t, size_t);
static unsigned wrong;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { if (wrong) abort(); return 0; }
size_t LLVMFuzzerCustomMutator(uint8_t *d, size_t n, size_t most, unsigned seed) {
	size_t room = seed % 40;
	uint8_t *p = malloc(room ? room : 1);
	for (size_t i = 0; i < room; i++) p[i] = (uint8_t)i;
	for (size_t size = room / 2, i = 0; i < 100; i++) {
		size = LLVMFuzzerMutate(p, size, room);
		if (size > room || (room && !size)) wrong++;
	}
	free(p);
	return LLVMFuzzerMutate(d, n, most);
}`, "-fsanitize=fuzzer,address,undefined")
	c := campaign(bin, 1)
	c.Runs = 20_000
	s, err := c.Run(context.Background())
	if err != nil || len(s.Findings) > 0 {
		t.Errorf("%v, %v", s.Findings, err)
	}
	p, err := native.Target{Command: []string{bin}}.Inspect(context.Background())
	if err != nil || !p.Mutator || !strings.Contains(p.String(), "a mutator of its own") {
		t.Errorf("%v, %v", p, err)
	}
}

// TestCustomCrossOver: for a harness that has only a crossover, teasel's own mutations are used too.
func TestCustomCrossOver(t *testing.T) {
	bin := build(t, `#include <stddef.h>
#include <stdint.h>
#include <string.h>
static uint32_t sum(const uint8_t *d, size_t n) { uint32_t s = 1; for (size_t i = 0; i < n; i++) s = (s ^ d[i]) * 16777619; return s; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	uint32_t want;
	if (n < 6 || n > 64) return 0;
	memcpy(&want, d, 4);
	if (d[4] == 'c' && want == sum(d + 4, n - 4) * 31) __builtin_trap();
	return n % 7;
}
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t most, unsigned seed) {
	size_t n = bn < 60 ? bn : 60;
	if (n < 2) return 0;
	memcpy(out + 4, b, n);
	out[4] = 'c';
	uint32_t s = sum(out + 4, n) * 31;
	memcpy(out, &s, 4);
	return n + 4;
}`)
	c := campaign(bin, 1)
	c.Seeds, c.Runs, c.StopAfter = append(c.Seeds, []byte("other seeds")), 8_000, 0
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]uint64{}
	for _, st := range s.Stats.Stages {
		made[st.Name] = st.Executions
	}
	if len(s.Findings) != 1 || made["custom"] == 0 || made["havoc"] == 0 {
		t.Errorf("%d findings after %d executions: %v", len(s.Findings), s.Executions, made)
	}
}

// TestCustomRoom: a mutator may make inputs up to the maximum length that the user has set.
func TestCustomRoom(t *testing.T) {
	bin := build(t, `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { if (n > 100) abort(); return 0; }
size_t LLVMFuzzerCustomMutator(uint8_t *d, size_t n, size_t most, unsigned seed) { for (size_t i = 0; i < most; i++) d[i] = (uint8_t)seed; return most; }`)
	for _, most := range []int{0, 100} {
		c := campaign(bin, 1)
		c.Mutator, c.Runs, c.StopAfter = &mutate.Bytes{MaxLen: most}, 5_000, 1
		if s, err := c.Run(context.Background()); err != nil || (len(s.Findings) == 0) != (most == 100) {
			t.Errorf("at most %d bytes: %v, %v", most, s.Findings, err)
		}
	}
}
