package corpus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// writerChild resumes a campaign, reports events as fast as it can, and prints which were reported, until it is killed.
func writerChild(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	d, err := Open(dir)
	fail(err)
	before := d.Summary()
	for n := before.Executions; ; n++ {
		name := fmt.Sprintf("%d of process %d", n, os.Getpid())
		in := fmt.Sprintf(`{"n":%q}`, name)
		e := teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: teasel.Key([]byte(in)), Data: []byte(in),
			Features: teasel.NewFeatureSet(teasel.Feature(n))}}
		fail(d.Report(e))
		fmt.Println("entry", e.Entry.Key)
		if n%3 == 0 {
			f := teasel.Finding{Rule: "test/crash", Severity: teasel.High, Subject: name, Message: "m", Input: []byte(in), Stable: 3, Tries: 3}
			fail(d.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}))
			fmt.Println("finding", f.ID())
		}
		if n%7 == 0 {
			p := progress(time.Duration(n)*time.Millisecond, n)
			p.Workers = []teasel.WorkerState{{Number: 0, Draws: n}}
			fail(d.Report(p))
			fmt.Println("draws", n)
		}
		if n%50 == 49 {
			fail(d.change(d.Meta(), func() {})) // which writes campaign.json anew
		}
	}
}

// A process that is killed at any moment loses nothing that it has printed, and the next one resumes the campaign.
func TestKill(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := create(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	reported := map[string]string{}
	var draws uint64
	for round := range 20 {
		cmd, out := child(t, "writer", d.Path())
		lines := 1 + r.IntN(50) // after which it is killed; in every fourth round it may not get that far
		kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if round%4 == 0 {
			kill.Reset(time.Duration(r.IntN(100)) * time.Millisecond)
		}
		for out.Scan() {
			if lines--; lines == 0 {
				cmd.Process.Kill()
			}
			kind, rest, ok := strings.Cut(out.Text(), " ")
			if !ok {
				continue
			}
			if kind == "draws" {
				fmt.Sscan(rest, &draws)
			} else if len(rest) == 16 { // not cut off
				reported[rest] = kind
			}
		}
		kill.Stop()
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: the writer ended by itself: %v", round, err)
		}
		view, err := OpenReadOnly(d.Path())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		s, problems := snapshot(t, view)
		for _, p := range problems {
			if p.File != view.path+"/"+journalName || !strings.Contains(p.Text, "cut off") {
				t.Errorf("round %d: %v", round, p)
			}
		}
		have := map[string]string{}
		for _, e := range s.Entries {
			have[e.Key] = "entry"
		}
		for _, f := range s.Findings {
			have[f.ID()] = "finding"
		}
		for id, kind := range reported {
			if have[id] != kind {
				t.Errorf("round %d: %s %s is lost", round, kind, id)
			}
		}
		if draws > 0 && (len(s.Workers) != 1 || s.Workers[0].Draws < draws) {
			t.Errorf("round %d: workers %+v after %d draws", round, s.Workers, draws)
		}
	}
	if len(reported) < 100 {
		t.Errorf("only %d events were reported in 20 rounds", len(reported))
	}
	last, err := Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	if _, problems := snapshot(t, last); len(problems) > 0 {
		t.Errorf("after all: %v", problems)
	}
	t.Logf("%d testcases and findings, none lost", len(reported))
}
