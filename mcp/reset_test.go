package mcp

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

// TestReset: the server that the campaign runs on lives on, with what it has in flight; and what a reading or a refused
// script was run on serves for another one about something else, but not for the same, nor after anything that a
// server may remember.
func TestReset(t *testing.T) {
	e := open(t, planted(BuildServer(t, plantedtest.Planted), "none"))
	e.quick = false                   // or another process would cost too little for all this
	run := func(in Script) *history { // of the process that ran it: no other has the same
		t.Helper()
		tr, _ := execute(t, e, in)
		return tr.past
	}
	reset := func() {
		t.Helper()
		if err := e.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, refused := lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`), lineScript(`{"jsonrpc":"2.0","id":"@id","method":"no/such"}`)
	odd := lineScript(`{"jsonrpc":"2.0","id":"@id","method":`)
	home := run(lineScript(ping))
	seen := map[*history]bool{home: true}
	before := home
	for _, tt := range []struct {
		name string
		in   Script
		same bool // as the one before
	}{
		{"a first one", lineScript(ping), false},
		{"about something else", list, true},
		{"refused", refused, true},
		{"about the same", list, false},
		{"about something else again", refused, true},
		{"a call", call("check_code", `{"code":"c"}`), true},
		{"after a call", lineScript(ping), false},
		{"no message", odd, true},
		{"after no message", lineScript(ping), false},
	} {
		reset()
		ran := run(tt.in)
		if ran == home || (ran == before) != tt.same || !tt.same && seen[ran] {
			t.Errorf("%s: process %p after %p; the campaign's is %p", tt.name, ran, before, home)
		}
		before, seen[ran] = ran, true
		if got := run(lineScript(ping)); got != home {
			t.Errorf("after %s the campaign goes on in process %p, not %p", tt.name, got, home)
		}
	}
	reset()
	obs := executeBatch(t, e, lineScript(ping), lineScript(ping))
	if ran := obs[0].Evidence.(*Transcript).past; ran == home || ran == before {
		t.Errorf("a batch after a reset ran in process %p", ran)
	}
}
