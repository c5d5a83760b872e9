package netproto

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

const sessionModel = `
teasel-model: 1
meta: {id: session}
messages:
  list: {seq: [{id: verb, type: str, terminator: "\n", value: LIST, valid: LIST}]}
  quit: {seq: [{id: verb, type: str, terminator: "\n", value: QUIT, valid: QUIT}]}
responses:
  reply: {code: code, seq: [{id: code, type: dec}, {contents: "\n"}]}
  bye: {seq: [{contents: "bye\n"}]}
states:
  start:
    - {send: list, expect: reply, to: ready}
  ready:
    - {send: quit, expect: bye, else: start}
teardown: [quit]
seeds:
  one: ["LIST\n"]
`

// The answer to a message that is not fuzzed is not taken for one to the message that was sent before.
func TestTeardownAnswer(t *testing.T) {
	m := loadText(t, sessionModel)
	e := open(t, Target{Address: "stdio", Command: []string{"/bin/sh", "-c", "while read line; do echo 200; done"}, Model: m, Strict: true})
	var o teasel.Observation
	if err := e.Exec(context.Background(), dialogue.Seeds(m)[0], &o); err != nil {
		t.Fatal(err)
	}
	if o.Exit != teasel.ExitOK || o.Evidence != nil {
		t.Errorf("exit %v, %s", o.Exit, o.Detail)
	}
	for _, step := range []struct {
		from, message, to string
		want              bool
	}{{"start", "list", "ready", true}, {"ready", "quit", "start", true}, {"ready", "list", "start", false}} {
		if got := slices.Contains(e.responses.all, stepFeature(step.from, step.message, step.to)); got != step.want {
			t.Errorf("%s in %s leads to %s: %v", step.message, step.from, step.to, got)
		}
	}
}
