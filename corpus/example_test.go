package corpus_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// A campaign is written while it runs, and goes on after it was stopped.
func Example() {
	tmp, err := os.MkdirTemp("", "teasel")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	path := filepath.Join(tmp, "teasel-out")

	d, err := corpus.Create(path, corpus.Meta{Kind: "mcp", Name: "node server.js", Seed: 1, Extension: ".json"})
	if err != nil {
		log.Fatal(err)
	}
	in := []byte(`{"n":1}`)
	for _, e := range []teasel.Event{
		{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: teasel.Key(in), Data: in, Runs: 1, Features: teasel.NewFeatureSet(7)}},
		{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: "mcp/server-crash", Severity: teasel.Critical,
			Subject: "tools/call divide", Message: "exit status 2", Input: in, Stable: 3, Tries: 3}},
		{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: time.Second, Executions: 5000}},
	} {
		if err := d.Report(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		log.Fatal(err)
	}

	if d, err = corpus.Open(path); err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	s, problems, err := d.Snapshot(nil)
	fmt.Println(len(s.Entries), "testcase,", len(s.Findings), "finding,", s.Executions, "executions,", len(problems), "problems,", err)
	f, err := corpus.ReadFinding(d.FindingPath(s.Findings[0].ID()))
	fmt.Printf("%s %s %s %v\n", f.Finding.Rule, f.Finding.Subject, f.Finding.Input, err)
	// Output:
	// 1 testcase, 1 finding, 5000 executions, 0 problems, <nil>
	// mcp/server-crash tools/call divide {"n":1} <nil>
}

func ExampleMinimal() {
	entries := []teasel.Entry{
		{Key: "a", Complexity: 9, Features: teasel.NewFeatureSet(1, 2)},
		{Key: "b", Complexity: 1, Features: teasel.NewFeatureSet(1)},
		{Key: "c", Complexity: 2, Features: teasel.NewFeatureSet(2)},
		{Key: "d", Complexity: 3, Features: teasel.NewFeatureSet(2)},
	}
	for _, e := range corpus.Minimal(entries) {
		fmt.Println(e.Key)
	}
	// Output:
	// b
	// c
}
