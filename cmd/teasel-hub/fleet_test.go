package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// TestMain is teasel-hub if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("TEASEL_HUB_TEST") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// command runs a program to its end.
func command(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// copyFiles copies files of the project to a directory.
func copyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFleet has teasel and the hub work together as users start them.
func TestFleet(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "teasel")
	command(t, ".", "go", "build", "-o", program, "../teasel")
	t.Run("Kills", func(t *testing.T) { t.Parallel(); testKills(t, program) })
	t.Run("Stopped", func(t *testing.T) { t.Parallel(); testStopped(t, program) })
	t.Run("Orders", func(t *testing.T) { t.Parallel(); testOrders(t, program) })
	t.Run("StopGo", func(t *testing.T) { t.Parallel(); testStopGo(t, program) })
	t.Run("Reports", func(t *testing.T) { t.Parallel(); testReports(t, program) })
	t.Run("Errands", func(t *testing.T) { t.Parallel(); testErrands(t, program) })
}

// startHub starts a hub, and connects to a campaign on it.
func startHub(t *testing.T, campaign string) (url string, l *fleet.Link) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var stderr buffer
	ended := make(chan int, 1)
	dir := t.TempDir()
	go func() { ended <- run(ctx, []string{"--dir", dir, "--listen", "127.0.0.1:0"}, &stderr, &stderr) }()
	t.Cleanup(func() { stop(); <-ended })
	for url == "" {
		select {
		case status := <-ended:
			ended <- status
			t.Fatalf("the hub ended with status %d: %s", status, stderr.String())
		case <-time.After(20 * time.Millisecond):
			url = regexp.MustCompile(`nats://[0-9.:]+`).FindString(stderr.String())
		}
	}
	l, err := fleet.Dial(fleet.Config{URL: url, Campaign: campaign, Machine: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	return url, l
}

// A machine does not begin in a fleet that was told to stop, and says what to do.
func testStopped(t *testing.T, program string) {
	ctx, dir := t.Context(), t.TempDir()
	url, l := startHub(t, "c")
	if err := l.Give(ctx, fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	demo := func(state fleet.State, status int, words string) {
		c := exec.CommandContext(ctx, program, "demo", "--no-ui", "--hub", url, "--hub-name", "c", "--duration", "1s", "--out", filepath.Join(dir, string(state)))
		out, _ := c.CombinedOutput() // its status says how it was
		if c.ProcessState.ExitCode() != status || !bytes.Contains(out, []byte(words)) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", state, c.ProcessState.ExitCode(), status, words, out)
		}
	}
	demo(fleet.Stopped, 2, "hint: 'teasel fleet "+url+" resume --hub-name c'")
	if err := l.Give(ctx, fleet.Order{State: fleet.Running}); err != nil {
		t.Fatal(err)
	}
	demo(fleet.Running, 1, "part of campaign c")
}

// A budget stays when machines pause and go on, and does not let those go on that were told to stop. A command that lacks something changes nothing.
func testOrders(t *testing.T, program string) {
	ctx := t.Context()
	url, l := startHub(t, "c")
	for _, c := range []struct {
		args   string
		status int
		words  string
		state  fleet.State
		runs   uint64
	}{
		{"budget --runs 1000", 0, "budget is stored", fleet.Running, 1000},
		{"pause", 0, "pause is stored", fleet.Paused, 1000},
		{"budget", 2, "needs --runs", fleet.Paused, 1000},
		{"resume --runs 5", 2, "--runs goes with budget", fleet.Paused, 1000},
		{"resume", 0, "the budget of 1000 executions stands", fleet.Running, 1000},
		{"stop", 0, "no machine begins", fleet.Stopped, 1000},
		{"budget --runs 0", 0, "budget is stored", fleet.Stopped, 0},
		{"findings", 2, "findings needs a directory", fleet.Stopped, 0},
		{"resume now", 2, "resume takes nothing more", fleet.Stopped, 0},
		{"resume --hub-name d", 2, "has no campaign d; it has c", fleet.Stopped, 0},
	} {
		command := exec.CommandContext(ctx, program, append([]string{"fleet", url}, strings.Fields(c.args)...)...)
		out, _ := command.CombinedOutput() // its status says how it was
		o, err := l.Order(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if status := command.ProcessState.ExitCode(); status != c.status || !bytes.Contains(out, []byte(c.words)) || o.State != c.state || o.Runs != c.runs {
			t.Errorf("%s: status %d, order %s with %d executions; want %d, %q, %s with %d:\n%s", c.args, status, o.State, o.Runs, c.status, c.words, c.state, c.runs, out)
		}
	}
}

// A fuzz test in Go ends when its fleet is told to stop, and the others of its run go on.
func testStopGo(t *testing.T, program string) {
	dir := t.TempDir()
	const test = "package m\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) { f.Fuzz(func(*testing.T, []byte) {}) }\n\nfunc FuzzB(f *testing.F) { f.Fuzz(func(*testing.T, []byte) {}) }\n"
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": test} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	url, a := startHub(t, "c-FuzzA")
	b, err := fleet.Dial(fleet.Config{URL: url, Campaign: "c-FuzzB", Machine: "boss"})
	if err == nil {
		_, err = b.Streams(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var stdout, stderr buffer
	c := exec.CommandContext(t.Context(), program, "go", "--no-ui", "--hub", url, "--hub-name", "c", "--hub-every", "100ms", "--out", "out", "--format", "json")
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	state := func(l *fleet.Link) fleet.State {
		ms, err := l.Machines(t.Context(), "")
		if err != nil || len(ms) == 0 {
			return ""
		}
		return ms[0].State
	}
	await := func(what string, ok func() bool) {
		for deadline := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
			if len(ended) > 0 || time.Now().After(deadline) {
				_ = c.Process.Kill()
				t.Fatalf("%s: it has not come to that\n%s", what, stderr.String())
			}
		}
	}
	await("both run", func() bool { return state(a) == fleet.Running && state(b) == fleet.Running })
	if err := a.Give(t.Context(), fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	await("one has ended", func() bool {
		s, _ := corpus.OpenReadOnly(filepath.Join(dir, "out", "example.com", "m", "FuzzA"))
		return s != nil && s.Summary().Stopped == "fleet"
	})
	if s := state(b); s != fleet.Running {
		t.Errorf("the other is %q", s)
	}
	if err := b.Give(t.Context(), fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(stdout.String(), `"stopped":"fleet"`) {
		t.Errorf("it ended with %v\n%s%s", err, stdout.String(), stderr.String())
	}
}

// What a fleet has found is reported in each format in which a campaign is.
func testReports(t *testing.T, program string) {
	ctx := t.Context()
	url, l := startHub(t, "c")
	if _, err := l.Meet(ctx, fleet.About{Kind: "native", Target: "./parser"}); err != nil {
		t.Fatal(err)
	}
	f := corpus.FindingFile{Kind: "native", Finding: teasel.Finding{Rule: "native/abort", Severity: teasel.High, Subject: "parse_header", Message: "it has aborted",
		Input: []byte("x"), Stable: 3, Tries: 3, Occurrences: 1}}
	id := f.Finding.ID()
	if err := l.Find(ctx, &f); err != nil {
		t.Fatal(err)
	}
	if err := l.Beat(ctx, &fleet.Machine{Every: time.Hour, Executions: 70, Seen: map[string]uint64{id: 7}}); err != nil {
		t.Fatal(err)
	}
	for format, words := range map[string][]string{
		"text": {"parse_header"}, "json": {id, `"occurrences":7`}, "sarif": {`"version": "2.1.0"`, `"occurrenceCount": 7`, "native/abort"},
		"junit": {"<failure", "parse_header"}, "html": {"<html", id, "boss"}, "markdown": {"parse_header", "teasel fleet " + url + " findings from-fleet --hub-name c", "from-fleet/" + id + ".json"},
	} {
		out, err := exec.CommandContext(ctx, program, "show", "--format", format, url).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", format, err, out)
		}
		for _, w := range words {
			if !bytes.Contains(out, []byte(w)) {
				t.Errorf("%s: there is no %q in\n%.4000s", format, w, out)
			}
		}
	}
}

// lucky crashes of one input that nothing leads to.
const lucky = `#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint64_t h = 14695981039346656037u;
	for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 1099511628211u;
	if (h == 0x%xu) __builtin_trap();
	return 0;
}
`

// findLucky builds a harness in a directory and returns its finding, which a campaign has confirmed.
func findLucky(t *testing.T, program, dir string) corpus.FindingFile {
	t.Helper()
	h := fnv.New64a()
	_, _ = h.Write([]byte("the one input"))
	for name, text := range map[string]string{"lucky.c": fmt.Sprintf(lucky, h.Sum64()), "seeds/one": "the one input"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	command(t, dir, program, "cc", "-g", "-O1", "-fsanitize=fuzzer", "lucky.c", "-o", "lucky")
	c := exec.CommandContext(t.Context(), program, "native", "--no-ui", "--runs", "100", "--corpus", "seeds", "--out", "first", "--", "./lucky")
	c.Dir = dir
	out, _ := c.CombinedOutput() // its status says that there is a finding
	files, err := filepath.Glob(filepath.Join(dir, "first", "findings", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("findings %q, %v\n%s", files, err, out)
	}
	f, err := corpus.ReadFinding(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What one machine had no time to confirm, another confirms; what it cannot reproduce is known to the fleet, too.
func testErrands(t *testing.T, program string) {
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("clang is not installed")
	}
	ctx, dir := t.Context(), t.TempDir()
	f := findLucky(t, program, dir)
	url, l := startHub(t, "c")
	f.Finding.Stable, f.Finding.Tries, f.Finding.Minimal = 0, 0, false
	other := f
	other.Finding.Fault, other.Finding.Input = "elsewhere", []byte("another input")
	for _, f := range []corpus.FindingFile{f, other} {
		if err := l.Find(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}
	second := exec.CommandContext(ctx, program, "native", "--no-ui", "--hub", url, "--hub-name", "c", "--hub-every", "100ms", "--out", "second", "--", "./lucky")
	second.Dir = dir
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = second.Process.Signal(os.Interrupt)
		_ = second.Wait() // its status says that there is a finding
	}()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		best, err := l.Best(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, b := range best {
			stable := 0
			if b.Finding.ID() == f.Finding.ID() {
				stable = b.Finding.Tries
			}
			if b.Finding.Tries > 0 && b.Finding.Stable == stable {
				tried++
			}
		}
		if len(best) == 2 && tried == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the hub has %+v", best)
		}
	}
	out, err := exec.CommandContext(ctx, program, "fleet", url, "--hub-name", "c").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^findings +1\nunconfirmed +1, 0 of them for want of time$`).Match(out) {
		t.Errorf("teasel fleet says, %v:\n%s", err, out)
	}
}
