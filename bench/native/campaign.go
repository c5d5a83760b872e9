package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// writer leaves each testcase in a folder, as the other fuzzers do.
type writer struct{ dir string }

// Report implements [teasel.Reporter].
func (w writer) Report(e teasel.Event) error {
	if e.Kind != teasel.EventAdded {
		return nil
	}
	return os.WriteFile(filepath.Join(w.dir, e.Entry.Key), e.Entry.Data, 0o644)
}

// campaignMain is our own contestant: a process of its own, as the others are.
func campaignMain(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("campaign", flag.ContinueOnError)
	program := fs.String("program", "", "the target, built by teasel's compiler")
	seeds := fs.String("seeds", "", "folder")
	out := fs.String("out", "", "folder for testcases")
	limit := fs.Duration("time", time.Minute, "how long")
	stop := fs.Int("stop", 0, "after so many findings")
	seed := fs.Uint64("seed", 1, "of all randomness")
	workers := fs.Int("workers", 1, "how many")
	timeout := fs.Duration("timeout", time.Second, "of an execution")
	length := fs.Int("max-len", 0, "of an input; 0: as teasel native has it")
	bind := fs.Bool("bind", true, "bind workers to processors, as teasel native does")
	if err := fs.Parse(args); err != nil {
		return err
	}
	target := native.Target{Command: []string{*program}, Timeout: *timeout}
	if *bind {
		var warning string
		if target.Cores, warning = native.NewCores(*workers); warning != "" {
			fmt.Fprintln(os.Stderr, warning)
		}
	}
	runtime.GOMAXPROCS(native.Procs(*workers))
	c := native.Campaign(target, &mutate.Bytes{MaxLen: *length})
	c.Seed, c.Workers, c.Duration, c.StopAfter = *seed, *workers, *limit, *stop
	if *out != "" {
		c.Reporters = []teasel.Reporter{writer{*out}}
	}
	given, _, err := corpus.Load(*seeds, nil)
	if err != nil {
		return err
	}
	for _, s := range given {
		c.Seeds = append(c.Seeds, s.Data)
	}
	s, err := c.Run(ctx)
	if err != nil {
		return err
	}
	r := report{Executions: s.Executions, Testcases: s.Corpus, Findings: len(s.Findings), Stages: map[string]portion{}}
	for _, st := range s.Stats.Stages {
		r.Stages[st.Name] = portion{st.Executions, st.Kept}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
