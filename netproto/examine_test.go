package netproto

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A dialogue is repeated no longer than it takes to see that the server keeps what it is sent and leaks nothing.
func TestStoreIsNotRepeatedForLong(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "store.c", "clang"), "{port}"}, Thorough: true})
	o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
	if err := e.Exec(context.Background(), dialogue.Raw(bytes.Repeat([]byte("k"), 2048)), &o); err != nil {
		t.Fatal(err)
	}
	if o.Evidence != nil || o.Runs < leastRepetitions || o.Runs > repetitions/4 {
		t.Errorf("repeated %d times, %+v", o.Runs, o.Evidence)
	}
}

// Who interrupts does not wait for the repetitions, also where the server sleeps at once after each.
func TestInterruptedRepetitions(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "collects.c", "clang"), "{port}"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var o teasel.Observation
	if err := e.repeat(ctx, dialogue.Raw([]byte("k")), &o, firstPart, true); !errors.Is(err, context.Canceled) || o.Runs > 0 {
		t.Errorf("%v after %d repetitions, want %v at once", err, o.Runs, context.Canceled)
	}
}

// What a garbage collector has not collected yet is no leak, nor is a heap that grows to its working size.
func TestLateCollectionIsNoLeak(t *testing.T) {
	for _, flags := range [][]string{nil, {"-DWARMS"}} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "collects.c", "clang", flags...), "{port}"}, Thorough: true})
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw([]byte("k")), &o); err != nil {
			t.Fatal(err)
		}
		if o.Evidence != nil || o.Runs < leastRepetitions {
			t.Errorf("%v: repeated %d times, %+v", flags, o.Runs, o.Evidence)
		}
	}
}

// The health check runs as often on a server that is started anew every few dialogues.
func TestHealthOfRestartedServer(t *testing.T) {
	target := plantedTarget(t, planted(t, "clang", "-DCLEAN"))
	target.Restart = 100
	e := open(t, target)
	e.target.Health = []string{"/bin/false"} // it was well when it was started
	for range 2 * examineEvery {
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw(request(1, "me")), &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit > teasel.ExitRejected {
			return
		}
	}
	t.Error("the health check has not run")
}

// A crash that takes several dialogues is another finding where repetitions show it than where the dialogue itself does, so that
// the one does not confirm the other, and each says what it takes.
func TestCrashInRepetition(t *testing.T) {
	target := Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "rules.c", "clang"), "{port}", "{dir}"}, Thorough: true}
	e := open(t, target)
	once, thrice := dialogue.Raw([]byte("third\n")), dialogue.Raw([]byte("third\n"), []byte("third\n"), []byte("third\n"))
	thrice.Messages[1].Reconnect, thrice.Messages[2].Reconnect = true, true
	found := map[string]teasel.Finding{}
	for text, in := range map[string]*dialogue.Dialogue{"in repetition 2 of the dialogue": once, "after message 3 on connection 3": thrice} {
		if err := e.Reset(context.Background()); err != nil {
			t.Fatal(err)
		}
		fs, _, err := teasel.Replay(context.Background(), e, Detectors(), in)
		if err != nil || len(fs) != 1 || !strings.Contains(fs[0].Message, text) {
			t.Fatalf("%+v, %v; want %q", fs, err, text)
		}
		found[text] = fs[0]
		if got, want := Repetitions(&fs[0]) > 1, in == once; got != want {
			t.Errorf("%s: the script repeats %v, want %v", text, got, want)
		}
		showsInPython(t, target, in, Repetitions(&fs[0]))
	}
	ids := map[string]bool{}
	for _, f := range found {
		ids[f.ID()] = true
	}
	if len(ids) != 2 {
		t.Errorf("both are finding %v", ids)
	}
}

// showsInPython runs the program in Python that holds a dialogue, of which the server is to die.
func showsInPython(t *testing.T, target Target, in *dialogue.Dialogue, times int) {
	t.Helper()
	text, err := target.Script(in, "a crash", times, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "repro.py")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python(t), file).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("the server has died")) {
		t.Errorf("%d times: %v\n%s", times, err, out)
	}
}
