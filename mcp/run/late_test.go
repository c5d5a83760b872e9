package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// calls returns a script of calls, each a tool and its key.
func calls(pairs ...string) (s script.Script) {
	s.Start = script.Shared
	for i := 0; i < len(pairs); i += 2 {
		s.Steps = append(s.Steps, call(pairs[i], `{"key":"`+pairs[i+1]+`","text":"`+pairs[i+1]+`"}`).Steps...)
	}
	return s
}

// Scripts whose answers take long are suspended. The others go on, those of their batch and hundreds of later ones, and each is handed
// out by Late when its answer has come.
func TestSetAside(t *testing.T) {
	e := open(t, obedient(t))
	before := e.live
	const slow = 3
	ins := many(60, map[int]script.Script{7: calls("hold", "a"), 20: calls("hold", "b"), 50: calls("hold", "c")})
	ran, executions := 0, 0
	for i, o := range executeBatch(t, e, ins...) {
		if o.Exit != teasel.ExitOK || o.Runs != 1 {
			t.Errorf("script %d ended as %v after %d executions", i, o.Exit, o.Runs)
		}
		if o.Evidence != nil {
			ran++
		}
		executions += int(o.Runs)
	}
	if ran != 60-slow {
		t.Errorf("%d were answered, want %d", ran, 60-slow)
	}
	for range 5 {
		for i, o := range executeBatch(t, e, many(100, nil)...) {
			if o.Exit != teasel.ExitOK || o.Evidence == nil {
				t.Fatalf("script %d beside them ended as %v", i, o.Exit)
			}
		}
		if in, ok := e.Late(t.Context(), &teasel.Observation{}); ok {
			t.Fatalf("%s is handed out before its answer has come", in.Steps[0].Line)
		}
	}
	for _, key := range []string{"b", "a", "c"} {
		executeBatch(t, e, calls("release", key))
		ins, late := awaitLate(t, e, 1)
		tr := late[0].Evidence.(*script.Transcript)
		if !strings.Contains(string(ins[0].Steps[0].Line), `"key":"`+key) || late[0].Exit != teasel.ExitOK || late[0].Runs != 0 || tr.Sent[0].Answer != 0 || len(late[0].Features) == 0 {
			t.Errorf("%s comes when %s is released, ended as %v after %d more executions", ins[0].Steps[0].Line, key, late[0].Exit, late[0].Runs)
		}
	}
	if executions != 60 || e.live != before || len(e.late) > 0 || len(e.live.flights) > 0 {
		t.Errorf("%d executions; %d scripts are suspended, %d requests in flight", executions, len(e.in(suspended)), len(e.live.flights))
	}
}

// A batch in which nothing is run, since as many calls of a tool wait as may, comes back when one of them is answered.
func TestNothingToRun(t *testing.T) {
	e := open(t, obedient(t))
	slow := slices.Repeat([]script.Script{call("sleep", `{"ms":300}`)}, 2*e.target.window())
	for range 20 {
		if executeBatch(t, e, slow...); len(e.in(suspended)) < e.target.window() {
			continue
		}
		for i, o := range executeBatch(t, e, slow...) {
			if o.Runs > 0 {
				t.Fatalf("script %d was run, though %d wait", i, e.target.window())
			}
		}
		if _, ok := e.Late(t.Context(), &teasel.Observation{}); !ok {
			t.Error("none was answered meanwhile")
		}
		return
	}
	t.Errorf("%d are suspended, want %d", len(e.in(suspended)), e.target.window())
}

// That the server has ended is seen though nothing of a batch is run.
func TestDeathWithNothingToRun(t *testing.T) {
	e := open(t, obedient(t))
	hold := slices.Repeat([]script.Script{call("hold", `{"key":"a"}`)}, 2*e.target.window())
	for range 20 {
		if executeBatch(t, e, hold...); len(e.in(suspended)) >= e.target.window() {
			break
		}
	}
	old := e.live
	executeBatch(t, e, call("die_later", `{"ms":50}`))
	executeBatch(t, e, hold...)
	if slices.ContainsFunc(e.in(suspended), func(k *talk) bool { return k.server == old }) {
		t.Error("scripts wait for a server that has ended")
	}
}

// A tool that takes 200 ms holds up nothing but itself.
func TestSleepBeside(t *testing.T) {
	e := open(t, obedient(t))
	sleep := call("sleep", `{"ms":200}`)
	answered, slept := 0, 0
	const batches = 20
	for range batches {
		for i, o := range executeBatch(t, e, many(50, map[int]script.Script{25: sleep})...) {
			if o.Exit != teasel.ExitOK {
				t.Errorf("script %d ended as %v", i, o.Exit)
			}
			if i == 25 {
				slept += int(o.Runs)
			} else if o.Evidence != nil {
				answered++
			}
		}
	}
	if answered != 49*batches || slept == 0 {
		t.Errorf("%d of %d were answered, and %d slept", answered, 49*batches, slept)
	}
	if slept > batches || len(e.late) == 0 {
		t.Errorf("%d slept, %d are suspended, %d have come back", slept, len(e.in(suspended)), len(e.in(over)))
	}
	_, late := awaitLate(t, e, len(e.late))
	for i := range late {
		if late[i].Exit != teasel.ExitOK || late[i].Runs != 0 {
			t.Errorf("one that slept ended as %v after %d more executions", late[i].Exit, late[i].Runs)
		}
	}
}

// A check that has the server for itself does not wait for a tool that sleeps, though most calls of that are refused at once.
func TestLoneSleepBeside(t *testing.T) {
	e := open(t, obedient(t))
	quick := map[int]script.Script{}
	for i := range 50 {
		quick[i] = call("sleep", `{"ms":"0"}`) // refused
	}
	executeBatch(t, e, many(50, quick)...)
	lone := call("sleep", `{"ms":400}`)
	lone.Check = check.Repeat
	if obs := executeBatch(t, e, lone); obs[0].Evidence != nil || len(e.in(suspended)) != 1 {
		t.Errorf("it ended as %v, %d are suspended", obs[0].Exit, len(e.in(suspended)))
	}
	if _, late := awaitLate(t, e, 1); late[0].Exit != teasel.ExitOK {
		t.Errorf("it ended as %v", late[0].Exit)
	}
}

// A script goes on after it was suspended, to its end, may be suspended again, and is handed back once, with the lines that it has sent
// whatever was sent meanwhile.
func TestGoesOn(t *testing.T) {
	for _, pairs := range [][]string{{"hold", "a", "echo", "x"}, {"hold", "a", "hold", "b"}, {"hold", "a", "hold", "b", "echo", "x"}, {"echo", "x", "hold", "a", "echo", "x", "hold", "b"}} {
		t.Run(strings.Join(pairs, " "), func(t *testing.T) {
			e := open(t, obedient(t))
			obs := executeBatch(t, e, calls(pairs...), calls("echo", "y"))
			steps := len(pairs) / 2
			if obs[0].Evidence != nil || obs[0].Runs != uint32(steps) {
				t.Fatalf("%q was not suspended, or counts as %d executions", pairs, obs[0].Runs)
			}
			other := many(40, nil)
			for _, key := range []string{"a", "b"} {
				executeBatch(t, e, append(other, calls("release", key))...)
				for range 3 {
					executeBatch(t, e, other...)
				}
			}
			_, late := awaitLate(t, e, 1)
			tr := late[0].Evidence.(*script.Transcript)
			if late[0].Exit != teasel.ExitOK || len(tr.Sent) != steps || len(tr.Received) != steps || late[0].Runs != 0 {
				t.Errorf("%q ended as %v with %d of %d lines", pairs, late[0].Exit, len(tr.Sent), steps)
			}
			for i, s := range tr.Sent {
				if m := jsonrpc.Parse(s.Raw); m.ID != s.Message.ID || !strings.Contains(string(s.Raw), `"`+pairs[2*i]+`"`) || s.Answer < 0 {
					t.Errorf("line %d is kept as %s, answered by %d", i, s.Raw, s.Answer)
				}
			}
			if in, ok := e.Late(t.Context(), &teasel.Observation{}); ok {
				t.Errorf("%s is handed out again", in.Steps[0].Line)
			}
		})
	}
}

// Of one tool only so many are suspended at a time: others of it are not run, and others of other tools are.
func TestPendingIsBounded(t *testing.T) {
	e := open(t, obedient(t))
	ins := many(200, nil)
	for i := 0; i < 200; i += 2 {
		ins[i] = calls("hold", fmt.Sprint(i))
	}
	held := 0
	for i, o := range executeBatch(t, e, ins...) {
		if i%2 == 0 {
			held += int(o.Runs)
		} else if o.Exit != teasel.ExitOK || o.Evidence == nil {
			t.Errorf("script %d ended as %v", i, o.Exit)
		}
	}
	if held == 0 || held != len(e.in(suspended)) || held > 2*e.target.window() {
		t.Errorf("%d are held, %d suspended", held, len(e.in(suspended)))
	}
}

// A script that needs a process of its own does not wait in the batch until one has loaded, and what it has shown is not lost.
func TestFreshBesideTheBatch(t *testing.T) {
	for _, check := range []string{check.Lifecycle, ""} {
		t.Run(check, func(t *testing.T) {
			e := open(t, obedient(t))
			fresh := script.Script{Start: script.Fresh, Check: check, Steps: append(script.Handshake(session.Versions[len(session.Versions)-1]), script.SendText(ping))}
			const scripts = 3
			runs := 0
			for range scripts {
				obs := executeBatch(t, e, lineScript(ping), fresh)
				if obs[0].Exit != teasel.ExitOK || obs[1].Exit != teasel.ExitOK || obs[1].Evidence != nil {
					t.Errorf("they ended as %v", exits(obs))
				}
				runs += int(obs[1].Runs)
			}
			for came := 0; came < scripts && t.Context().Err() == nil; {
				executeBatch(t, e, lineScript(ping))
				var o teasel.Observation
				in, ok := e.Late(t.Context(), &o)
				if !ok {
					continue
				}
				came++
				runs += int(o.Runs)
				tr := o.Evidence.(*script.Transcript)
				if in.Start != script.Fresh || o.Exit != teasel.ExitOK || len(tr.Received) != 2 || !o.Expensive || (len(o.Features) > 0) != (check == "") {
					t.Errorf("it ended as %v, with %d answers and %d features", o.Exit, len(tr.Received), len(o.Features))
				}
			}
			if runs != 2*scripts {
				t.Errorf("%d executions, want %d", runs, 2*scripts)
			}
		})
	}
}

// What has run in the background and nobody has asked for is bounded, since long lines are held in it; none of it is lost.
func TestBackgroundWaits(t *testing.T) {
	e := open(t, obedient(t))
	const scripts = 20
	for range scripts {
		executeBatch(t, e, script.Script{Start: script.Fresh, Check: check.Lifecycle, Steps: append(script.Handshake(session.Versions[len(session.Versions)-1]), script.SendText(ping))})
	}
	for len(e.in(postponed)) > scripts-maxOver-1-ahead && t.Context().Err() == nil {
		executeBatch(t, e, lineScript(ping))
	}
	for range 50 { // batches, while the next one has all the time that it needs
		time.Sleep(10 * time.Millisecond)
		executeBatch(t, e, lineScript(ping))
	}
	if n := len(e.in(over)); n != maxOver {
		t.Errorf("%d wait to be handed out, want %d", n, maxOver)
	}
	for came := 0; came < scripts && t.Context().Err() == nil; executeBatch(t, e, lineScript(ping)) {
		for _, ok := e.Late(t.Context(), &teasel.Observation{}); ok; _, ok = e.Late(t.Context(), &teasel.Observation{}) {
			came++
		}
	}
}

// A batch that is broken off in the middle of its conversations leaves nothing of them to the next one.
func TestBrokenOff(t *testing.T) {
	target := obedient(t)
	target.Exact = true // it waits for the answers, which do not come
	e := open(t, target)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var ins []script.Script
	for i := range 4 {
		key := fmt.Sprint(i)
		ins = append(ins, calls("hold", key, "hold", key, "hold", key))
	}
	if n, err := e.ExecBatch(ctx, ins, make([]teasel.Observation, len(ins))); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the batch that is broken off: %d, %v", n, err)
	}
	for range 2 { // the memory of a batch is that of the one after the next
		for i, o := range executeBatch(t, e, many(4, nil)...) {
			if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitOK || len(tr.Sent) != 1 || tr.Sent[0].Answer != 0 {
				t.Errorf("script %d of a later batch ended as %v, after %d lines", i, o.Exit, len(tr.Sent))
			}
		}
	}
}

// A script that is suspended in the batch that its server does not outlive is tried again, and handed out.
func TestSetAsideAsServerDies(t *testing.T) {
	e := open(t, obedient(t))
	const last = 199
	obs := executeBatch(t, e, many(last+1, map[int]script.Script{3: call("sleep", `{"ms":900}`), last: call("die", `{}`)})...)
	if obs[3].Exit != teasel.ExitOK || obs[3].Evidence != nil {
		t.Fatalf("the script that is suspended ended as %v", obs[3].Exit)
	}
	if x := obs[last].Exit; x != teasel.ExitLost && x != teasel.ExitCrash { // it runs again, alone if all others are over
		t.Fatalf("the script that ends the server ended as %v", obs[last].Exit)
	}
	executeBatch(t, e, call("echo", `{}`))
	ins, late := awaitLate(t, e, 1)
	if !strings.Contains(string(ins[0].Steps[0].Line), `"ms":900`) || late[0].Exit != teasel.ExitOK || late[0].Evidence.(*script.Transcript).Sent[0].Answer != 0 {
		t.Errorf("%s ended as %v", ins[0].Steps[0].Line, late[0].Exit)
	}
}

// TestDeadlyChecks: checks that are about what has killed servers often run in the background, so that the campaign goes on meanwhile.
func TestDeadlyChecks(t *testing.T) {
	e := openBeside(t, obedient(t))
	die := call("die", `{}`)
	die.Check = "deadly"
	const checks = 8
	now := 0
	for range checks {
		if o := executeBatch(t, e, die)[0]; o.Exit == teasel.ExitCrash {
			now++
		} else if o.Runs > 0 {
			t.Errorf("a check ended as %v", o.Exit)
		}
	}
	if now == 0 || now > firstTimes+2 { // fewer than firstTimes where servers start slowly
		t.Errorf("%d of %d checks were run at once", now, checks)
	}
	_, late := awaitLate(t, e, checks-now)
	for i := range late {
		if late[i].Exit != teasel.ExitCrash {
			t.Errorf("check %d ended as %v in the background", now+i, late[i].Exit)
		}
	}
}

// What a suspended call can be reproduced with is what the server had got before it, and the call itself, however much is sent until its time is
// over.
func TestHistoryOfSuspended(t *testing.T) {
	target := obedient(t)
	target.Timeout = 2 * time.Second
	e := open(t, target)
	executeBatch(t, e, call("shut_gate", `{}`))
	refers := calls("echo", "a", "pass_gate", "@{0:/content/0/text}", "echo", "c")
	executeBatch(t, e, call("pass_gate", `{}`), refers)
	for range 2 * history.MaxInputs / 100 {
		executeBatch(t, e, many(100, nil)...)
	}
	ins, obs := awaitLate(t, e, 2)
	for i := range obs {
		past := e.History(&obs[i])
		if n := len(past); obs[i].Exit != teasel.ExitHang || n < 2 || !slices.ContainsFunc(past, func(s script.Script) bool { return strings.Contains(string(s.Steps[0].Line), "shut_gate") }) ||
			string(past[n-1].Steps[0].Line) != string(ins[i].Steps[0].Line) {
			t.Errorf("%s ended as %v with a history of %d scripts", ins[i].Steps[0].Line, obs[i].Exit, n)
		}
	}
}

// A script that was run in the background has a history too, whatever runs there after it. What is not answered is no part of the next one's.
func TestHistoryOfBackground(t *testing.T) {
	target := obedient(t)
	target.Timeout = time.Second
	e := open(t, target)
	want := []script.Script{call("echo", `{}`), call("shut_gate", `{}`), call("pass_gate", `{}`), call("echo", `{}`)}
	for i := range want {
		e.late = append(e.late, &talk{in: &want[i], state: postponed})
	}
	_, obs := awaitLate(t, e, len(want))
	for i := range obs {
		if n := len(e.History(&obs[i])); n != min(i+1, 3) || (obs[i].Exit == teasel.ExitHang) != (i == 2) {
			t.Errorf("%s ended as %v with a history of %d scripts", want[i].Steps[0].Line, obs[i].Exit, n)
		}
	}
}
