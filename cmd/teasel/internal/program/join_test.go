package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// needTool skips a test where a program is missing, unless all have to be there.
func needTool(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err == nil {
			continue
		} else if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatalf("%v: scripts/setup-test.sh installs it", err)
		} else {
			t.Skipf("%v: scripts/setup-test.sh installs it", err)
		}
	}
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// teaselCC builds a program as teasel cc does.
func teaselCC(t *testing.T, c clang.Compiler, args ...string) {
	t.Helper()
	argv, err := c.Command(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	command(t, argv[0], argv[1:]...)
}

// passwords is a harness with two doors. Their keys are hashes, so that no fuzzer finds them.
const passwords = `#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	volatile int door = 0;
	uint64_t h = 0xcbf29ce484222325;
	for (size_t i = 0; i < n; i++) h = (h ^ d[i]) * 0x100000001b3;
	if (h == HASH_AFL) door = 1;
	if (h == HASH_US) door = 2;
	return 0;
}`

// fnv is FNV-1a, 64 bits.
func fnv(s string) string {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return fmt.Sprintf("%#x", h)
}

// queueFile returns the name of the file in an instance's queue that has this content.
func queueFile(t *testing.T, instance, content string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(instance, corpus.Queue, "id:*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && string(data) == content {
			return filepath.Base(f)
		}
	}
	return ""
}

// What one side alone can know reaches the other while afl-fuzz and teasel run side by side, and AFL++'s tools take our
// directory for one of theirs.
func TestJoin(t *testing.T) {
	t.Parallel()
	needTool(t, "clang", "afl-fuzz", "afl-clang-fast", "afl-whatsup", "afl-showmap")
	const theirs, ours = "known to afl-fuzz", "known to teasel"
	dir := t.TempDir()
	out, bin, aflBin := filepath.Join(dir, "sync"), filepath.Join(dir, "harness"), filepath.Join(dir, "harness-afl")
	buildFlags := []string{"-fsanitize=fuzzer", "-DHASH_AFL=" + fnv(theirs), "-DHASH_US=" + fnv(ours), put(t, filepath.Join(dir, "h.c"), passwords)}
	teaselCC(t, clang.Compiler{}, append(buildFlags, "-o", bin)...)
	command(t, "afl-clang-fast", append(buildFlags, "-o", aflBin)...)
	put(t, filepath.Join(dir, "in", "a"), "a")
	put(t, filepath.Join(dir, "in", "b"), theirs)

	var log bytes.Buffer
	afl := exec.Command("afl-fuzz", "-S", "other", "-i", filepath.Join(dir, "in"), "-o", out, "--", aflBin)
	afl.Env = append(os.Environ(), "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1", "AFL_SKIP_CPUFREQ=1", "AFL_NO_AFFINITY=1", "AFL_NO_UI=1")
	afl.Stdout, afl.Stderr = &log, &log
	if err := afl.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- afl.Wait() }()
	t.Cleanup(func() {
		afl.Process.Signal(os.Interrupt)
		<-ended
		if t.Failed() {
			t.Logf("afl-fuzz said:\n%s", log.Bytes())
		}
	})
	other, us := filepath.Join(out, "other"), filepath.Join(out, "teasel")
	until(t, "afl-fuzz to begin", func() bool { return queueFile(t, other, theirs) != "" })

	to, err := joinDir(out)
	if err != nil {
		t.Fatal(err)
	}
	p := &campaign.Plan[[]byte]{Campaign: native.Campaign(native.Target{Command: []string{bin}}, &mutate.Bytes{}),
		Options: &flags.Options{Workers: 1, Seed: 1, Out: to, NoUI: true, Format: "text"}, Kind: Kind()}
	p.Meta = corpus.Meta{Kind: "native", Name: bin, Crashes: native.CrashRules(), Hangs: native.HangRules(), Edges: 100}
	p.Seeds = []campaign.Seed[[]byte]{{Input: []byte("b")}, {Input: []byte(ours)}}
	join(p)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	var said bytes.Buffer
	cmd.SetOut(&said)
	cmd.SetErr(&said)
	var running sync.WaitGroup
	var ran error
	running.Go(func() { ran = p.Begin(cmd) })
	defer running.Wait() // before it, cancel: a failure leaves early
	defer cancel()
	until(t, "both to have what the other had", func() bool { return queueFile(t, us, theirs) != "" && queueFile(t, other, ours) != "" })
	if name := queueFile(t, other, ours); !strings.Contains(name, "sync:teasel") {
		t.Errorf("afl-fuzz has ours as %s", name)
	}
	status := command(t, "afl-whatsup", out)
	if !strings.Contains(status, "Fuzzers alive : 2") {
		t.Errorf("afl-whatsup does not see two:\n%s", status)
	}
	until(t, "how far it has read to be noted", func() bool {
		data, err := os.ReadFile(filepath.Join(us, ".synced", "other"))
		return err == nil && len(data) == 4
	})
	cancel()
	running.Wait()
	if !errors.As(ran, new(*exit.Error)) {
		t.Errorf("the campaign ended with %v: %s", ran, said.Bytes())
	}
	if _, err := exec.LookPath("gnuplot"); err != nil {
		t.Logf("afl-plot was not tried: %v (Debian: apt-get install gnuplot-nox)", err)
	} else if shown := command(t, "afl-plot", us, filepath.Join(dir, "plots")); !strings.Contains(shown, "All done") {
		t.Errorf("afl-plot: %s", shown)
	}
	if shown := command(t, "afl-showmap", "-C", "-i", filepath.Join(us, corpus.Queue), "-o", filepath.Join(dir, "map"), "--", aflBin); !strings.Contains(shown, "coverage of") {
		t.Errorf("afl-showmap: %s", shown)
	}
}

// until waits for what other processes do.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("waited five minutes in vain for %s", what)
}

func TestJoinDir(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "main", "queue", "id:000000,orig:x"), "x")
	for _, test := range []struct{ text, name, wrong string }{
		{dir, "teasel", ""},
		{dir + ":b_1-x", "b_1-x", ""},
		{dir + ":..", "", "our name"},
		{dir + ":", "", "our name"},
		{dir + ":a/b", "", "our name"},
		{filepath.Join(dir, "nowhere"), "", "no directory"},
		{filepath.Join(dir, "main"), "", "one instance"},
	} {
		var text string
		f := pflag.NewFlagSet("native", pflag.ContinueOnError)
		addJoin(f, &text)
		if err := f.Parse([]string{"--join", test.text}); err != nil {
			t.Fatal(err)
		}
		got, err := joinDir(text)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %q", test.text, err, test.wrong)
			}
			continue
		}
		if err != nil || got != filepath.Join(dir, test.name) {
			t.Errorf("%s: %v, %v", test.text, got, err)
		}
	}
}
