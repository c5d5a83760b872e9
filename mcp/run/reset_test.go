package run

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestBackground: the servers of an executor in the background yield the processor, those kept ready included, and the executor can
// release what it keeps of earlier scripts.
func TestBackground(t *testing.T) {
	target := planted(mcptest.BuildServer(t, plantedtest.Planted), "none")
	usual := open(t, target)
	ex, err := target.Open(t.Context(), teasel.Role{Background: true})
	if err != nil {
		t.Fatal(err)
	}
	e := ex.(*executor)
	t.Cleanup(func() { e.Close() })
	priority := func(s *server) int {
		t.Helper()
		p, err := unix.Getpriority(unix.PRIO_PROCESS, s.Proc.PID())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	cpus, err := proc.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	yields := func(nice int) {
		t.Helper()
		for _, s := range append(e.spares, e.live) {
			if got, want := priority(s), max(priority(usual.live)-nice, 1); got != want {
				t.Errorf("its priority is %d, want %d", got, want)
			}
			want := len(cpus)
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(s.Proc.PID(), &set); err != nil || set.Count() != want {
				t.Errorf("it has %d processors of %d, %v, want %d", set.Count(), len(cpus), err, want)
			}
		}
	}
	yields(niceness)
	for range 2 {
		if tr, _ := execute(t, e, lineScript(ping)); len(tr.Received) != 1 {
			t.Errorf("%d answers to a ping", len(tr.Received))
		}
		if e.release(); len(e.lanes)+len(e.before) != 0 {
			t.Errorf("%d and %d scripts are kept", len(e.lanes), len(e.before))
		}
	}
}

// awaitBusy returns when a server has work to do, or has none.
func awaitBusy(t *testing.T, s *server, busy bool) {
	t.Helper()
	for s.busy() != busy && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

// A server in the background that has not been able to start for long is replaced by one that gives way by less, and so are
// all that follow.
func TestStarvedSpare(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none").aside(pettyNiceness))
	idle := e.spares[0]
	defer idle.Close()
	awaitBusy(t, idle, false) // it has started when it has nothing to do
	idle.born = time.Now().Add(-starveTime)
	if s, err := e.takeSpare(); err != nil || s != idle || e.pressed {
		t.Fatalf("one that has started is not taken, %v", err)
	}
	busy, err := launch(proc.Command{Args: []string{"sh", "-c", "while :; do :; done"}})
	if err != nil {
		t.Fatal(err)
	}
	e.spares, busy.born = append(e.spares, busy), time.Now().Add(-starveTime)
	awaitBusy(t, busy, true)
	s, err := e.takeSpare()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s == busy || busy.Proc.Running() || e.target.yields != niceness {
		t.Errorf("it is taken: %v, and the next ones give way by %d", s == busy, e.target.yields)
	}
}

// A script says one long line twice: its tree is made once.
func TestLongLineTwice(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
	long := script.Send([]byte(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"teasel":"` + script.LongText(maxSharedLine) + `"}}`))
	other := script.Send([]byte(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"teasel":"` + script.LongText(maxSharedLine-1) + `"}}`))
	tr, _ := execute(t, e, script.Script{Steps: []script.Step{long, other, long}})
	if len(tr.Sent) != 3 || len(tr.Received) != 3 {
		t.Fatalf("%d lines were sent, %d came", len(tr.Sent), len(tr.Received))
	}
	if a, b, c := tr.Sent[0].Message, tr.Sent[1].Message, tr.Sent[2].Message; a.Root != c.Root || a.Root == b.Root || a.ID == c.ID {
		t.Errorf("trees %p, %p, %p, ids %s and %s", a.Root, b.Root, c.Root, a.ID, c.ID)
	}
}

// TestReset: the server that the campaign runs on lives on, with what it has in flight; and what a reading or a refused
// script was run on serves for another one about something else, but not for the same, nor after anything that a
// server may remember.
func TestReset(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
	e.quick = false                                 // or another process would cost too little for all this
	run := func(in script.Script) *script.History { // of the process that ran it: no other has the same
		t.Helper()
		tr, _ := execute(t, e, in)
		return tr.Past
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
	seen := map[*script.History]bool{home: true}
	before := home
	for _, tt := range []struct {
		name string
		in   script.Script
		Same bool // as the one before
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
		if ran == home || (ran == before) != tt.Same || !tt.Same && seen[ran] {
			t.Errorf("%s: process %p after %p; the campaign's is %p", tt.name, ran, before, home)
		}
		before, seen[ran] = ran, true
		if got := run(lineScript(ping)); got != home {
			t.Errorf("after %s the campaign goes on in process %p, not %p", tt.name, got, home)
		}
	}
	reset()
	obs := executeBatch(t, e, lineScript(ping), lineScript(ping))
	if ran := obs[0].Evidence.(*script.Transcript).Past; ran == home || ran == before {
		t.Errorf("a batch after a reset ran in process %p", ran)
	}
}

// TestStarving: a server in the campaign is given up on when its time is over, but not while it is loading and others have
// the processors, nor in the background.
func TestStarving(t *testing.T) {
	busy, err := launch(proc.Command{Args: []string{"sh", "-c", "while :; do :; done"}})
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	awaitBusy(t, busy, true)
	idle, err := launch(proc.Command{Args: []string{"sh", "-c", "read -r line"}})
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	awaitBusy(t, idle, false)
	const ever = 1000 * time.Hour
	for _, tt := range []struct {
		what   string
		server *server
		mute   bool
		yields int
		limit  time.Duration // which is more than it has had of the processor
		quiet  time.Duration
		want   bool
	}{
		{"loading", busy, true, 0, ever, 19 * time.Second, true},
		{"loading for as long as that may take", busy, true, 0, ever, 20 * time.Second, false},
		{"loading, and it does nothing", idle, true, 0, ever, time.Second, false},
		{"loading, and it had the processor", busy, true, 0, 0, time.Second, false},
		{"in the campaign", busy, false, 0, ever, time.Second, false},
		{"beside it", busy, false, niceness, ever, 7 * time.Second, true},
		{"beside it for eight times as long", busy, false, niceness, ever, 8 * time.Second, false},
	} {
		e := &executor{target: &Target{Timeout: time.Second, StartTimeout: 20 * time.Second, yields: tt.yields}}
		if got := e.starving(&round{server: tt.server, mute: tt.mute}, tt.limit, tt.quiet); got != tt.want {
			t.Errorf("%s: starving is %v", tt.what, got)
		}
	}
}
