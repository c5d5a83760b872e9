package native_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestAnswers: neither a child that dies between two batches, nor a process that the target has forked and in which the harness
// returns, leaves an answer that is taken for the answer to a later command.
func TestAnswers(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	bin := build(t, `#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *later(void *unused) { usleep(300000); abort(); return unused; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 0) return 0;
	if (d[0] == 'k') {
		pthread_t t;
		FILE *f = fopen(NOTE, "w");
		fprintf(f, "%d", (int)getpid());
		fclose(f);
		pthread_create(&t, 0, later, 0);
		pthread_detach(t);
	}
	if (d[0] == 'f') fork();
	if (d[0] == 't') __builtin_trap();
	return 0;
}`, "-pthread", "-DNOTE=\""+note+"\"")
	for _, first := range []string{"k", "f"} {
		ex := open(t, native.Target{Command: []string{bin}})
		if o := run(t, ex, teasel.Ask{}, first); o.Exit != teasel.ExitOK {
			t.Errorf("%q: %v: %s", first, o.Exit, o.Detail)
		}
		if first == "k" {
			pid, err := os.ReadFile(note)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the process is gone", func() bool { _, err := os.Stat("/proc/" + string(pid)); return err != nil })
		}
		for i := range 10 {
			if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
				t.Errorf("%q, round %d: %v: %s", first, i, o.Exit, o.Detail)
			}
			if o := run(t, ex, teasel.Ask{}, "t"); o.Exit != teasel.ExitCrash {
				t.Errorf("%q, round %d: a trap: %v", first, i, o.Exit)
			}
		}
	}
}
