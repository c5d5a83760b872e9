package netproto

import (
	"context"
	"os"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A program over standard input and output sees their end, which is no fault of it, and no descriptor of ours is left.
func TestStdioEnds(t *testing.T) {
	for _, script := range []string{"exec cat", "cat; exit 3", "read line; echo $line"} {
		e := open(t, Target{Address: "stdio", Command: []string{"/bin/sh", "-c", script}})
		files := 0
		for i := range 20 {
			in := dialogue.Raw([]byte("hello\n"), []byte("again\n"))
			in.Messages[1].Reconnect = i%2 == 1
			o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
			if err := e.Exec(context.Background(), in, &o); err != nil {
				t.Fatal(err)
			}
			if o.Exit > teasel.ExitRejected || len(e.evidence.Talk) == 0 {
				t.Fatalf("%q: exit %v, %s", script, o.Exit, o.Detail)
			}
			if e.server.Running() {
				t.Errorf("%q: the program has not seen the end of its input", script)
			}
			if i == 0 {
				files = conn.OpenFiles(os.Getpid())
			}
		}
		if now := conn.OpenFiles(os.Getpid()); now > files {
			t.Errorf("%q: %d files are open, %d were", script, now, files)
		}
	}
}

// A program that inetd starts for each client may refuse one with an answer and a status. One that ends without an answer, or that
// says what went wrong in it, is found.
func TestStdioRefuses(t *testing.T) {
	const trace = `printf 'Traceback (most recent call last):\n  File "/srv/a.py", line 9, in handle\n    x[1]\nKeyError: 1\n' >&2; `
	for script, want := range map[string]string{
		"read line; echo 400 what; exit 1":            "",
		"read line; exit 1":                           judge.RuleExit,
		"read line; echo 200; read line; exit 1":      judge.RuleExit,
		"read line; echo 400; " + trace + "exit 1":    judge.RulePanic,
		"read line; echo 400; kill -SEGV $$; sleep 9": judge.RuleCrash,
	} {
		e := open(t, Target{Address: "stdio", Command: []string{"/bin/sh", "-c", script}})
		for range 2 {
			o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
			if err := e.Exec(t.Context(), dialogue.Raw([]byte("hello\n"), []byte("again\n")), &o); err != nil {
				t.Fatal(err)
			}
			rule := ""
			for _, f := range judge.Detect(&o) {
				rule = f.Rule
			}
			if rule != want || len(e.evidence.Talk) == 0 {
				t.Errorf("%q: %q, want %q", script, rule, want)
			}
		}
	}
}
