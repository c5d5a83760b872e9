package fuzztest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// unpack writes the files of an archive to a directory of the test's.
func unpack(t *testing.T, archive string) (dir string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build builds the test binary of the package in dir.
func build(t *testing.T, dir string, f overlay.Flags) (binary string) {
	t.Helper()
	tc, err := overlay.FindToolchain(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := overlay.NewBuilder(tc, cacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	if b.Mode != overlay.ModeFast {
		t.Fatalf("mode %v: %v", b.Mode, b.Why)
	}
	binary = filepath.Join(t.TempDir(), "fuzz.test")
	if err := b.Build(t.Context(), dir, f, binary); err != nil {
		t.Fatal(err)
	}
	return binary
}

// cacheDir is the same for all tests and runs, so that the go command need not build the standard library anew.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "teasel", "go")
}

// judged runs one input in a fresh process and returns the finding it comes to; nil: none.
func judged(t *testing.T, ex teasel.Executor[[]byte], in []byte) *teasel.Finding {
	t.Helper()
	fs, obs, err := teasel.Replay(t.Context(), ex, []teasel.Detector{teasel.DetectorFunc(judge.Detect)}, in)
	if err != nil {
		t.Fatal(err)
	}
	if len(fs) == 0 {
		if obs.Exit != teasel.ExitOK {
			t.Errorf("%q: exit %v without a finding", in, obs.Exit)
		}
		return nil
	}
	return &fs[0]
}

// Every way to fail is judged as plain go test judges the saved finding, and so is every way not to.
func TestZoo(t *testing.T) {
	dir := unpack(t, "zoo.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzZoo", Timeout: time.Minute}
	ex := open(t, target)
	impatient := *target // for what does not end: a stack overflow alone takes seconds
	impatient.Timeout = 2 * time.Second
	hasty := open(t, &impatient)
	plain := filepath.Join(t.TempDir(), "plain.test")
	if out, err := command(dir, "go", "test", "-c", "-o", plain, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct{ in, rule, subject string }{
		{"A", "go/failed", "zoo_test.go:22"},
		{"B", "go/failed", "zoo_test.go:24"},
		{"C", "go/failed", "test"},
		{"D", "go/panic", "example.com/zoo.Parse"},
		{"E", "go/panic", "example.com/zoo.FuzzZoo"},
		{"F", "go/panic", "example.com/zoo.Index"},
		{"G", "go/failed", "zoo_test.go:35"},
		{"H", "go/failed", "zoo_test.go:37"},
		{"I", "go/exit", "example.com/zoo.FuzzZoo"},
		{"J", "go/exit", "example.com/zoo.FuzzZoo"},
		{"K", "go/exit", "example.com/zoo.FuzzZoo"},
		{"L", "go/fatal", ""}, // in whichever goroutine
		{"M", "go/panic", "example.com/zoo.FuzzZoo"},
		{"N", "go/out-of-memory", "example.com/zoo.FuzzZoo"},
		{"O", "go/stack-overflow", "example.com/zoo.Recurse"},
		{"P", "go/hang", "example.com/zoo.Spin"},
		{"Q", "go/deadlock", "example.com/zoo.FuzzZoo"},
		{"R", "go/deadlock", "example.com/zoo.FuzzZoo"},
		{"S", "go/out-of-memory", "example.com/zoo.FuzzZoo"},
		{"T", "go/signal", ""},
		{"U", "go/failed", "example.com/zoo.FuzzZoo"},
		{"V", "go/fatal", "example.com/zoo.FuzzZoo"},
		{"W", "go/panic", "example.com/zoo.FuzzZoo"},
		{"X", "go/panic", "example.com/zoo.FuzzZoo"},
		{"Y", "go/panic", "example.com/zoo.FuzzZoo"},
		{"Z", "go/panic", "example.com/zoo.FuzzZoo"},
		{"1", "go/failed", "zoo_test.go:106"}, // what the test itself says decides no rule
		{"2", "go/failed", "zoo_test.go:110"},
		{"3", "go/exit", "example.com/zoo.FuzzZoo"},
		{"4", "go/panic", "example.com/zoo.FuzzZoo"},
		{"5", "go/out-of-memory", "example.com/zoo.Reserve"},
		{"", "", ""}, {"a", "", ""}, {"b", "", ""}, {"c", "", ""}, {"d", "", ""}, {"e", "", ""}, {"f", "", ""}, {"g", "", ""},
		{"h", "", ""}, {"i", "", ""}, {"j", "", ""}, {"k", "", ""}, {"l", "", ""},
	} {
		t.Run("case-"+c.in, func(t *testing.T) {
			on := ex
			if c.rule == "go/hang" || c.rule == "go/deadlock" || c.in == "l" {
				on = hasty
			}
			f := judged(t, on, []byte(c.in))
			switch {
			case f == nil && c.rule != "":
				t.Errorf("nothing found, want %s", c.rule)
			case f != nil && (f.Rule != c.rule || c.subject != "" && f.Subject != c.subject):
				t.Errorf("%s of %q in group %q, want %s of %q; %s\n%s", f.Rule, f.Subject, f.Group, c.rule, c.subject, f.Message, f.Detail)
			}
			if fails := plainFails(t, dir, plain, target.Name, []byte(c.in)); fails != (c.rule != "") && c.in != "S" && c.in != "5" && c.in != "l" {
				t.Errorf("plain go test fails: %v", fails)
			}
		})
	}
	// The same process goes on after all that may go on, and knows which of a batch is to blame.
	for _, guilty := range []string{"A", "5"} {
		batch := [][]byte{[]byte("a"), []byte("c"), []byte("b"), []byte(guilty), []byte("a")}
		obs := make([]teasel.Observation, len(batch))
		for done := 0; done < 4; {
			n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), batch[done:], obs[done:])
			if done += n; err != nil || done > 4 {
				t.Fatalf("%d of a batch were run: %v", done, err)
			}
		}
		if obs[3].Exit != teasel.ExitCrash || obs[2].Exit != teasel.ExitOK || obs[4].Exit != teasel.ExitInvalid {
			t.Errorf("a batch of which the fourth is %s ended in %v, %v, %v", guilty, obs[2].Exit, obs[3].Exit, obs[4].Exit)
		}
	}
}

// An input of a batch gets a part of the time, once it is known how long others take, and is said to have had no more; with all of it, one
// that only takes longer is no hang.
func TestSlowAfterHang(t *testing.T) {
	dir := unpack(t, "zoo.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzZoo", Timeout: 5 * time.Second}
	ex := open(t, target)
	for _, c := range []struct {
		in   string
		exit teasel.Exit
	}{{"a", teasel.ExitOK}, {"n", teasel.ExitOK}, {"P", teasel.ExitHang}, {"Q", teasel.ExitHang}, {"A", teasel.ExitCrash}} {
		obs := make([]teasel.Observation, 2)
		if n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), [][]byte{[]byte(c.in), []byte("a")}, obs); err != nil || n < 1 || obs[0].Exit != c.exit && !obs[0].Short {
			t.Errorf("%s: %d of a batch, %v, %v, want %v", c.in, n, obs[0].Exit, err, c.exit)
		}
		if obs[0].Short != (obs[0].Exit == teasel.ExitHang) {
			t.Errorf("%s: %v, ended early: %t", c.in, obs[0].Exit, obs[0].Short)
		}
		all := teasel.Observation{}
		if err := ex.Exec(t.Context(), []byte(c.in), &all); err != nil || all.Exit != c.exit || all.Short {
			t.Errorf("%s alone: %v, ended early: %t, %v, want %v", c.in, all.Exit, all.Short, err, c.exit)
		}
	}
}

// What an input allocates counts, and not what earlier ones have left behind, though all of it together is over the limit.
func TestMemoryOfEarlierInputs(t *testing.T) {
	dir := unpack(t, "zoo.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzZoo", Timeout: time.Minute, Memory: 256 << 20}
	ex := open(t, target)
	for range 3 {
		batch := [][]byte{[]byte("a"), []byte("m"), []byte("m"), []byte("m"), []byte("b")}
		for done := 0; done < len(batch); {
			obs := make([]teasel.Observation, len(batch)-done)
			n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), batch[done:], obs)
			if err != nil {
				t.Fatal(err)
			}
			for i := range obs[:n] {
				if obs[i].Exit != teasel.ExitOK {
					t.Errorf("%s: %v", batch[done+i], obs[i].Exit)
				}
			}
			done += n
		}
	}
}

func TestRace(t *testing.T) {
	dir := unpack(t, "zoo.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{Race: true}), Dir: dir, Name: "FuzzRace", Race: true}
	ex := open(t, target)
	for range 2 { // in one process, in which the race detector reports a race once
		if f := judged(t, ex, []byte("r")); f == nil || f.Rule != "go/race" || f.Subject != "example.com/zoo.Races" {
			t.Errorf("%+v, want a race in Races", f)
		}
	}
	if f := judged(t, ex, []byte("q")); f != nil {
		t.Errorf("%+v, want none", f)
	}
}

// open describes and opens a target and sees to it that it is closed.
func open(t *testing.T, target *fuzztest.Target) teasel.Executor[[]byte] {
	t.Helper()
	if _, err := target.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	return ex
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

// plainFails saves an input where go test looks for it and reports whether the plain test fails.
func plainFails(t *testing.T, dir, binary, test string, in []byte) bool {
	t.Helper()
	data, err := fuzztest.Codec{Kinds: []agent.Kind{agent.KindBytes}}.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "testdata", "fuzz", test, teasel.Key(data))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if string(in) == "S" { // it would take all memory of the machine
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^"+test+"$/^"+filepath.Base(file)+"$", "-test.timeout=3s", "-test.paniconexit0")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("plain go test does not end:\n%s", out)
	}
	if err == nil && strings.Contains(string(out), "no tests to run") {
		t.Fatalf("plain go test runs nothing:\n%s", out)
	}
	return err != nil
}

// With a package testing that is not as expected, outcomes are the same, of a testing.T for each input.
func TestSlowMode(t *testing.T) {
	dir := unpack(t, "zoo.txtar")
	tc, err := overlay.FindToolchain(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(tc.Root, "src", "testing", "testing.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "testing.go")
	text = []byte(strings.Replace(string(text), "func (t *T) Parallel() {", "func (t *T) Parallel()  {", 1))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{name: other}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := errors.Join(os.WriteFile(other, text, 0o644), os.WriteFile(file, replace, 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-overlay="+file)
	if tc, err = overlay.FindToolchain(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	b, err := overlay.NewBuilder(tc, cacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	if b.Mode != overlay.ModeSlow {
		t.Fatalf("mode %v: %v", b.Mode, b.Why)
	}
	target := &fuzztest.Target{Binary: filepath.Join(t.TempDir(), "zoo.test"), Dir: dir, Name: "FuzzZoo"}
	if err := b.Build(t.Context(), dir, overlay.Flags{}, target.Binary); err != nil {
		t.Fatal(err)
	}
	ex := open(t, target)
	for in, rule := range map[string]string{"A": "go/failed", "D": "go/panic", "H": "go/failed", "M": "go/panic", "a": "", "b": "", "e": ""} {
		got := ""
		if f := judged(t, ex, []byte(in)); f != nil {
			got = f.Rule
		}
		if got != rule {
			t.Errorf("%s: %q, want %q", in, got, rule)
		}
	}
	var obs teasel.Observation
	obs.Ask.Features = true
	if err := ex.Exec(t.Context(), []byte("a"), &obs); err != nil || len(obs.Features) == 0 {
		t.Errorf("%d features, %v", len(obs.Features), err)
	}
}
