package fuzztest_test

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// An input that fails when it runs a second time in one process, and not in a fresh one, as plain go test has it, is not reproduced by itself,
// whether or not it reaches anything new and is run again for that.
func TestStateOfTheSameInput(t *testing.T) {
	dir := unpack(t, "leftover.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzOpen", Timeout: time.Minute}
	if f := judged(t, open(t, target), []byte("Z")); f != nil {
		t.Errorf("one Z in a fresh process: %s %s", f.Rule, f.Message)
	}
	if f := judged(t, open(t, target), []byte("ZZ")); f == nil || f.Rule != "go/failed" {
		t.Errorf("two of them: %+v, want go/failed", f)
	}
}

// A process that has ended between two batches has said why, which is not lost.
func TestPanicBetweenBatches(t *testing.T) {
	dir := unpack(t, "leftover.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzLate", Timeout: time.Minute}
	ex := open(t, target)
	var o teasel.Observation
	for _, in := range []string{"P", "a"} {
		o = teasel.Observation{Ask: teasel.Ask{Features: true}} // which runs it once
		if err := ex.Exec(t.Context(), []byte(in), &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit == teasel.ExitCrash { // on a busy machine, at once
			break
		}
		time.Sleep(time.Second)
	}
	if fs := judge.Detect(&o); len(fs) != 1 || fs[0].Rule != "go/panic" || fs[0].Subject != "example.com/leftover.fall" {
		t.Errorf("%+v, want a panic in fall", fs)
	}
}

// What is called when an input has ended is a part of it: its coverage and its comparisons count.
func TestCleanupIsSeen(t *testing.T) {
	dir := unpack(t, "leftover.txtar")
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzCleanup", Timeout: time.Minute}
	ex := open(t, target)
	runs := func(in string) map[teasel.Feature]int { // of a feature, how many of three runs reach it
		reached := map[teasel.Feature]int{}
		for range 3 {
			o := teasel.Observation{Ask: teasel.Ask{Features: true}}
			if err := ex.Exec(t.Context(), []byte(in), &o); err != nil {
				t.Fatal(err)
			}
			for _, f := range o.Features {
				reached[f]++
			}
		}
		return reached
	}
	shallow, deep := runs("a"), runs("loga")
	for f, n := range deep {
		if n == 3 && shallow[f] == 0 {
			return
		}
	}
	t.Errorf("an input that goes further in a cleanup reaches %v, another one %v", deep, shallow)
}
