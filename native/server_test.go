package native_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestFileServerKilled: a program that reads its inputs from a file can be run again after its server was killed, whatever has
// happened to the file.
func TestFileServerKilled(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	write(t, victim, "precious")
	bin := build(t, `#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
	char c = 0, inside[256];
	int fd = open(argv[argc - 1], O_RDONLY);
	if (fd < 0 || read(fd, &c, 1) != 1) return 9;
	if (c == 'l' || c == 'm') { // a link in its place
		unlink(argv[1]);
		if (symlink(VICTIM, argv[1])) return 8;
	}
	if (c == 'd' || c == 'e') { // a folder
		unlink(argv[1]);
		mkdir(argv[1], 0700);
		snprintf(inside, sizeof inside, "%s/file", argv[1]);
		close(creat(inside, 0600));
	}
	if (c == 'k' || c == 'm' || c == 'e') kill(getppid(), SIGKILL), sleep(5);
	if (c == 'g') kill(0, SIGKILL);
	return 0;
}`, "-DVICTIM=\""+victim+"\"")
	ex := open(t, native.Target{Command: []string{bin, "@@"}})
	for _, in := range []string{"a", "k", "g", "k", "l", "d", "m", "e"} {
		want := teasel.ExitOK
		if strings.Contains("kgme", in) {
			want = teasel.ExitCrash
		}
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
		for _, a := range []teasel.Ask{{}, {Operands: true}, {}} { // the second run is in another process, which shares the file
			if o := run(t, ex, a, "a"); o.Exit != teasel.ExitOK {
				t.Errorf("after %q: %v: %s", in, o.Exit, o.Detail)
			}
		}
	}
	if b, err := os.ReadFile(victim); string(b) != "precious" {
		t.Errorf("the file that a link referred to contains %q, %v", b, err)
	}
}

// TestRunsNearTimeLimit: a run that ends just when its time limit expires may or may not be a hang. Later runs are not affected.
func TestRunsNearTimeLimit(t *testing.T) {
	bin := build(t, `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
int main(int argc, char **argv) {
	char s[16] = {0};
	FILE *f = fopen(argv[argc - 1], "r");
	if (!f || !fgets(s, sizeof s, f)) return 9;
	if (s[0] == 't') abort();
	for (long end = now() + atoi(s); now() < end;);
	return 0;
}`)
	for ms := 96; ms < 132; ms += 2 {
		t.Run(fmt.Sprint(ms), func(t *testing.T) { // in subtests, since a known hang has a lower limit
			ex := open(t, native.Target{Command: []string{bin, "@@"}, Timeout: 100 * time.Millisecond})
			obs := []teasel.Observation{{Runs: 1}, {Runs: 1}}
			n, err := ex.ExecBatch(context.Background(), [][]byte{[]byte(fmt.Sprint(ms)), []byte("t")}, obs)
			if err != nil {
				t.Fatal(err)
			}
			if e := obs[0].Exit; e != teasel.ExitHang && (e != teasel.ExitOK || n != 2 || obs[1].Exit != teasel.ExitCrash) {
				t.Errorf("%d done, %v and %v: %s", n, e, obs[1].Exit, obs[0].Detail)
			}
			if o := run(t, ex, teasel.Ask{}, "1"); o.Exit != teasel.ExitOK {
				t.Errorf("afterwards: %v: %s", o.Exit, o.Detail)
			}
		})
	}
}

// TestServerStopped: a stopped server, and its batch, are given up after the time limit, and also when the context is cancelled.
func TestServerStopped(t *testing.T) {
	t.Parallel() // it waits for timeouts
	bin := build(t, `#include <signal.h>
#include <stdint.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 0) return 0;
	if (d[0] == 's') kill(getppid(), SIGSTOP), sleep(1000);
	if (d[0] == 'g') kill(0, SIGSTOP), sleep(1000);
	if (d[0] == 'q') kill(getppid(), SIGSTOP);
	if (d[0] == 't') __builtin_trap();
	return 0;
}`)
	ex := open(t, native.Target{Command: []string{bin}, Timeout: 50 * time.Millisecond})
	for _, in := range []string{"a", "s", "a", "g", "a"} {
		want := teasel.ExitHang
		if in == "a" {
			want = teasel.ExitOK
		}
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
	}
	run(t, ex, teasel.Ask{}, "q")
	run(t, ex, teasel.Ask{}, "t") // its death is not reported
	if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
		t.Errorf("after a death that was not reported: %v: %s", o.Exit, o.Detail)
	}
	run(t, ex, teasel.Ask{}, "q")
	for range 2 { // the second time there is no child
		if err := ex.Reset(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
		t.Errorf("after two calls of Reset: %v: %s", o.Exit, o.Detail)
	}

	ex = open(t, native.Target{Command: []string{bin}, Timeout: time.Hour})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var o teasel.Observation
	if err := ex.Exec(ctx, []byte("s"), &o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v, %v", o.Exit, err)
	}
	if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
		t.Errorf("after that: %v: %s", o.Exit, o.Detail)
	}
}
