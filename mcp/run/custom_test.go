package run

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// oddCall calls a tool with a member that no request has.
func oddCall(tool, arguments string) script.Script {
	return lineScript(`{"jsonrpc":"2.0","extra":1,"id":"@id","method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
}

// accustomed returns an executor that knows what its server does with odd calls.
func accustomed(t *testing.T, program, bug string) *executor {
	e := open(t, planted(program, bug))
	innocent := oddCall("check_code", `{"code":"abc1"}`)
	for range customKnown {
		executeBatch(t, e, innocent)
		if e.lanes[0].guest {
			t.Fatal("a script is a guest of a server that is not known yet")
		}
	}
	slow := func() bool { // on a busy machine
		for _, c := range e.customs {
			if c.took >= oddGrace {
				return true
			}
		}
		return false
	}
	for slow() && t.Context().Err() == nil {
		executeBatch(t, e, innocent)
	}
	return e
}

func TestGuests(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Planted)
	innocent := oddCall("check_code", `{"code":"abc1"}`)
	batch := func(guest script.Script) []script.Script {
		ins := make([]script.Script, 60)
		for i := range ins {
			ins[i] = lineScript(ping)
		}
		ins[20], ins[40] = innocent, guest
		return ins
	}
	t.Run("answered", func(t *testing.T) {
		e := accustomed(t, program, "none")
		obs := executeBatch(t, e, batch(innocent)...)
		for i, o := range obs {
			tr := o.Evidence.(*script.Transcript)
			if o.Exit != teasel.ExitOK || len(tr.Received) != 1 || tr.Sent[0].Answer != 0 || tr.Sent[0].Regular != (i != 20 && i != 40) {
				t.Errorf("script %d ended as %v, with %d answers", i, o.Exit, len(tr.Received))
			}
		}
		if !e.lanes[20].guest || !e.lanes[40].guest {
			t.Error("they had the server for themselves")
		}
		if _, alone := execute(t, e, innocent); alone.Work != obs[20].Work {
			t.Errorf("as a guest it is as much work as %d bytes, alone as %d", obs[20].Work, alone.Work)
		}
	})
	for _, tt := range []struct {
		bug  string
		call script.Script
	}{
		{"crash-at-int32-max", oddCall("reserve_stock", `{"sku":"washer","quantity":2147483647}`)},
		{"crash-after-reply", oddCall("record_rating", `{"stars":3,"weight":0}`)},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			e := accustomed(t, program, tt.bug)
			for i, o := range executeBatch(t, e, batch(tt.call)...) {
				if (o.Exit == teasel.ExitCrash) != (i == 40) {
					t.Errorf("script %d ended as %v", i, o.Exit)
				}
			}
		})
	}
	t.Run("surprise", func(t *testing.T) {
		e := accustomed(t, program, "none")
		for _, c := range e.customs {
			c.answers = false
		}
		o := executeBatch(t, e, batch(innocent)...)[20]
		if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitOK || tr.Sent[0].Answer != 0 || e.lanes[20].guest {
			t.Errorf("it was not run by itself, and ended as %v", o.Exit)
		}
		for topic, c := range e.customs {
			if !c.answers || c.times > 2 {
				t.Errorf("%v: %+v", topic, *c)
			}
		}
	})
}

// settled makes a server one that is known to drop the odd lines of a script without a word.
func settled(e *executor, script script.Script) {
	l := newLane(e, &script)
	for i := range l.plan {
		if l.plan[i].odd != "" {
			*e.custom(&l.plan[i]) = custom{times: customKnown}
		}
	}
}

// Lines that do not show which answer would be their own may be guests where they are dropped. What a server does with one
// all the same is put down to it.
func TestNamelessGuests(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Planted)
	notJSON := lineScript(`{"jsonrpc":"2.0","id":`)
	oddID := lineScript(`{"jsonrpc":"2.0","id":{},"method":"ping"}`)
	ins := make([]script.Script, 60)
	for i := range ins {
		ins[i] = lineScript(ping)
	}
	t.Run("dropped", func(t *testing.T) {
		e := open(t, &Target{Command: realServer(t, "everything")})
		for range customKnown {
			if executeBatch(t, e, notJSON); e.lanes[0].guest {
				t.Fatal("a script is a guest of a server that is not known yet")
			}
		}
		ins[20] = notJSON
		for i, o := range executeBatch(t, e, ins...) {
			if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitOK || (len(tr.Received) == 1) != (i != 20) {
				t.Errorf("script %d ended as %v, with %d answers", i, o.Exit, len(tr.Received))
			}
		}
		if !e.lanes[20].guest {
			t.Error("it had the server for itself")
		}
	})
	run := func(t *testing.T, bug string, guest script.Script) (*executor, []teasel.Observation) {
		e := open(t, planted(program, bug))
		settled(e, guest)
		ins[20] = guest
		return e, executeBatch(t, e, ins...)
	}
	t.Run("answered", func(t *testing.T) {
		e, obs := run(t, "none", notJSON)
		for i, o := range obs {
			tr := o.Evidence.(*script.Transcript)
			if o.Exit > teasel.ExitRejected || len(tr.Received) != 1 || i == 20 && tr.Received[0].Message.ID != "null" {
				t.Errorf("script %d ended as %v, with %d answers", i, o.Exit, len(tr.Received))
			}
		}
		if e.lanes[20].guest {
			t.Error("it was not run by itself")
		}
	})
	t.Run("answered by a number of ours", func(t *testing.T) {
		e, _ := run(t, "none", lineScript(`{"jsonrpc":"2.0","id":5,"method":"ping","id":"@id"}`))
		if e.lanes[20].guest {
			t.Error("it was not run by itself")
		}
	})
	t.Run("deadly", func(t *testing.T) {
		_, obs := run(t, "exit-on-odd-id", oddID)
		for i, o := range obs {
			if (o.Exit == teasel.ExitCrash) != (i == 20) {
				t.Errorf("script %d ended as %v", i, o.Exit)
			}
		}
	})
}

// A server that drops what is odd is a good host as well, and so is found out one that no longer answers it.
func TestSilentGuests(t *testing.T) {
	e := open(t, &Target{Command: realServer(t, "everything")})
	odd := lineScript(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":[]}`)
	ins := []script.Script{lineScript(ping), odd, lineScript(ping)}
	run := func() {
		for i, o := range executeBatch(t, e, ins...) {
			if tr := o.Evidence.(*script.Transcript); o.Exit > teasel.ExitRejected || (tr.Sent[0].Answer < 0) != (i == 1) {
				t.Fatalf("script %d ended as %v, with answer %d", i, o.Exit, tr.Sent[0].Answer)
			}
		}
	}
	for range customKnown + 1 {
		run()
	}
	if !e.lanes[1].guest {
		t.Error("what is dropped has the server for itself")
	}
	for _, c := range e.customs {
		c.answers = true
	}
	run()
	if e.lanes[1].guest {
		t.Error("what got no answer was not run by itself")
	}
}

// What a server does with an odd line says nothing of what it does with lines that are odd in another way.
func TestSorts(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
	request := func(rest string) string { return `{"jsonrpc":"2.0","method":"ping",` + rest + `}` }
	token := func(token string) string {
		return request(`"id":"@id","params":{"_meta":{"progressToken":` + token + `}}`)
	}
	seen := map[topic]string{}
	for _, line := range []string{
		token(`""`), token("null"), token("0"), token("9007199254740993"), request(`"id":"@id","params":{"_meta":5}`),
		request(`"id":"a"`), request(`"id":5`), request(`"id":9007199254740993`), request(`"id":"@id","id":5`),
		request(`"id":"@id","method":"ping"`), request(`"id":"@id","params":{},"params":{}`), request(`"id":"@id","params":{"a":1,"a":2}`),
		request(`"id":"@id","params":{"a":"` + "\xff" + `"}`), request(`"id":"@id","params":{"a":1e9}`), request(`"id":"@id","extra":1`),
	} {
		script := lineScript(line)
		l := newLane(e, &script)
		sort := e.sort(&l.plan[0])
		if other, ok := seen[sort]; ok || !l.odd {
			t.Errorf("%s is of the sort of %s: %+v", line, other, sort)
		}
		seen[sort] = line
	}
}

// That what was cancelled gets no answer says nothing of what a server does with odd lines.
func TestCancelledGuest(t *testing.T) {
	e := open(t, &Target{Command: realServer(t, "everything")})
	const call = `,"method":"tools/call","params":{"name":"echo","arguments":{"message":"` + "\xff" + `"}}}`
	unreadable := lineScript(`{"jsonrpc":"2.0","id":"@id"` + call)
	known := func() *custom { return e.custom(&newLane(e, &unreadable).plan[0]) }
	for range customKnown {
		if tr, _ := execute(t, e, unreadable); tr.Sent[0].Answer < 0 {
			t.Fatal("there was no answer")
		}
	}
	if times := known().times; times < customKnown {
		t.Fatalf("it is known after %d times", times)
	}
	cancelled := lineScript(`{"jsonrpc":"2.0","id":"@id"`+call, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"@id:0"}}`)
	cancelled.Steps[0].NoWait = true
	if tr, _ := execute(t, e, cancelled); tr.Sent[0].Answer >= 0 || known().times < customKnown {
		t.Errorf("after a cancellation with answer %d it is known after %d times", tr.Sent[0].Answer, known().times)
	}
}
