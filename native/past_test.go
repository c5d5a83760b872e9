package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// stateful keeps a buffer over inputs. Its faults need two or three inputs, of which none is a fault by itself.
const stateful = `#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static char *cache;
static size_t have;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n >= 6 && !memcmp(d, "ALLOC", 5)) {
		free(cache);
		have = d[5] & 15;
		cache = calloc(1, have);
	}
	if (n >= 5 && !memcmp(d, "CLOSE", 5)) {
		free(cache);
#ifdef CLEAN
		cache = 0;
#endif
	}
	if (n >= 5 && !memcmp(d, "WRITE", 5) && cache && have > 3) cache[3]++;
	return 0;
}
`

// TestFaultsOfThePast: a fault that needs what earlier inputs have left behind in the process is found with those that it needs, and its file
// shows it again by hand, with the harness alone. Where state is kept without a fault, nothing is found.
func TestFaultsOfThePast(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags []string
		rules []string
	}{
		{"clean", []string{"-DCLEAN"}, nil},
		{"stale", nil, []string{"native/double-free", "native/use-after-free"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin := build(t, stateful, append(test.flags, "-g", "-O1", "-fsanitize=fuzzer,address")...)
			c := native.Campaign(native.Target{Command: []string{bin}}, &mutate.Bytes{})
			c.Seeds, c.Runs = [][]byte{make([]byte, 16)}, 200_000
			if testing.Short() && test.rules == nil {
				c.Runs /= 4
			}
			s, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, f := range s.Findings {
				found[f.Rule] = true
				if parts := strings.Count(string(f.Input), "ALLOC") + strings.Count(string(f.Input), "CLOSE") + strings.Count(string(f.Input), "WRITE"); parts != 3 {
					t.Errorf("%s takes %d commands: %q", f.Rule, parts, f.Input)
				}
				if !strings.Contains(f.Message, "has run 2 other inputs before") {
					t.Errorf("message %q", f.Message)
				}
				file := filepath.Join(t.TempDir(), "input")
				if err := os.WriteFile(file, f.Input, 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(bin, file).CombinedOutput(); err == nil || !strings.Contains(string(out), "AddressSanitizer") {
					t.Errorf("%s by hand: %v\n%s", f.Rule, err, out)
				}
			}
			for _, r := range test.rules {
				if !found[r] {
					t.Errorf("no %s", r)
				}
			}
			if len(s.Findings)+len(s.Unconfirmed) > 0 && test.rules == nil || len(s.Unconfirmed) > 0 {
				t.Errorf("findings %v, unconfirmed %v", s.Findings, s.Unconfirmed)
			}
		})
	}
}

// distant uses a block that one input has freed, once more than a thousand others have run.
const distant = `#include <stdint.h>
#include <stdlib.h>
static char *cache;
static unsigned long ran, freed;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	ran++;
	if (!cache) cache = calloc(1, 64);
	if (n > 1 && d[0] == 'F' && !freed) { free(cache); freed = ran; }
	if (n > 1 && d[0] == 'U' && freed && ran - freed >= 1500) return cache[d[1] & 15] == 77;
	return 0;
}
`

// TestDistantPast: a fault is confirmed although its cause ran more than a thousand inputs before.
func TestDistantPast(t *testing.T) {
	c := native.Campaign(native.Target{Command: []string{build(t, distant, "-g", "-O1", "-fsanitize=fuzzer,address")}}, &mutate.Bytes{})
	c.Seeds, c.Runs, c.StopAfter, c.MinimizeRuns = [][]byte{make([]byte, 16)}, 1_000_000, 1, -1
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || s.Findings[0].Rule != "native/use-after-free" || s.Findings[0].Stable == 0 {
		t.Errorf("findings %v, unconfirmed %v", s.Findings, s.Unconfirmed)
	}
}
