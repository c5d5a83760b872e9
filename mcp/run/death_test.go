package run

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// obedient returns a server that does what its tools are called.
func obedient(t *testing.T) *Target {
	return &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, "obedient")}, Timeout: 5 * time.Second}}
}

// many returns scripts of one call each, all of them echo but for some places.
func many(n int, others map[int]script.Script) []script.Script {
	ins := make([]script.Script, n)
	for i := range ins {
		if in, ok := others[i]; ok {
			ins[i] = in
		} else {
			ins[i] = call("echo", fmt.Sprintf(`{"text":"e%d"}`, i))
		}
	}
	return ins
}

// checkLost checks that what was in flight at a death is lost, from the one that did it on, and that everything else was answered.
func checkLost(t *testing.T, obs []teasel.Observation, guilty int) {
	t.Helper()
	first := slices.IndexFunc(obs, func(o teasel.Observation) bool { return o.Exit == teasel.ExitLost })
	n := 0
	for i := range obs {
		switch o := &obs[i]; o.Exit {
		case teasel.ExitLost:
			if n++; i != first+n-1 {
				t.Errorf("script %d is lost, and one before it is not", i)
			}
			if tr := o.Evidence.(*script.Transcript); len(tr.Sent) > 0 || tr.End.Kind == script.EndInvalid { // what was said belongs to several
				t.Errorf("script %d is lost with %d lines, and the end %+v", i, len(tr.Sent), tr.End)
			}
		case teasel.ExitOK:
			if o.Runs == 0 || o.Evidence == nil || o.Evidence.(*script.Transcript).Sent[0].Answer < 0 {
				t.Errorf("script %d was not answered", i)
			}
		default:
			t.Errorf("script %d ended as %v", i, o.Exit)
		}
	}
	if first != guilty || n < 2 {
		t.Errorf("%d scripts are lost, the first is %d, want %d", n, first, guilty)
	}
}

// Who has ended a server comes out alone, with the end; of many that were in flight, all that got no answer are lost.
func TestDeaths(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Planted)
	for _, tt := range []struct {
		bug    string
		script script.Script
		kind   script.EndKind
		stderr string
	}{
		{"crash-at-int32-max", call("reserve_stock", `{"sku":"washer","quantity":2147483647}`), script.EndExited, "panic"},
		{"crash-after-reply", call("record_rating", `{"stars":3,"weight":0}`), script.EndExited, "panic"},
		{"crash-by-signal", call("render_thumbnail", `{"width":4096,"height":10}`), script.EndSignalled, ""},
		{"silent-exit", call("import_items", `{"format":"legacy","items":[]}`), script.EndExited, ""},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			e := open(t, planted(program, tt.bug))
			tr, obs := execute(t, e, tt.script)
			if obs.Exit != teasel.ExitCrash {
				t.Fatalf("alone it ended as %v: %s", obs.Exit, obs.Detail)
			}
			if tr.End.Kind != tt.kind || !strings.Contains(string(tr.End.Stderr), tt.stderr) {
				t.Errorf("the end was %+v", tr.End)
			}
			ins := slices.Repeat([]script.Script{call("check_code", `{"code":"abc1"}`)}, 60)
			ins[40] = tt.script
			for i, x := range exits(executeBatch(t, e, ins...)) {
				if x != teasel.ExitOK && x != teasel.ExitLost {
					t.Errorf("script %d ended as %v", i, x)
				}
			}
		})
	}
}

// With many in flight all that have no answer are lost, in order, and what comes behind them runs on the next server.
func TestDeathOfMany(t *testing.T) {
	for _, guilty := range []int{0, 5, 20, 90} {
		t.Run(fmt.Sprint(guilty), func(t *testing.T) {
			e := open(t, obedient(t))
			checkLost(t, executeBatch(t, e, many(100, map[int]script.Script{guilty: call("die", `{}`)})...), guilty)
		})
	}
}

// Of several in flight the engine first tries what has waited longest. An unusual call, to which no answer is due, waits like any other that was
// sent at its time.
func TestDeathOfUnusual(t *testing.T) {
	e := open(t, obedient(t))
	const dies = 21
	killer := lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"die","arguments":{}},"more":1}`)
	obs := executeBatch(t, e, many(40, map[int]script.Script{dies: killer})...)
	if obs[dies].Exit != teasel.ExitLost || obs[dies].Elapsed == 0 {
		t.Fatalf("script %d ended as %v and waited for %v", dies, obs[dies].Exit, obs[dies].Elapsed)
	}
	for i := dies + 1; i < len(obs); i++ {
		if obs[i].Exit == teasel.ExitLost && obs[i].Elapsed > obs[dies].Elapsed {
			t.Errorf("script %d waited for %v, and the one before it that the server died of for %v", i, obs[i].Elapsed, obs[dies].Elapsed)
		}
	}
}

// With one in flight there is no doubt.
func TestDeathOfOne(t *testing.T) {
	die := call("die", `{}`)
	for _, ins := range [][]script.Script{{die}, many(10, map[int]script.Script{9: die})} {
		t.Run(fmt.Sprint(len(ins)), func(t *testing.T) {
			e := open(t, obedient(t))
			obs := executeBatch(t, e, ins...)
			for i := range obs[:len(obs)-1] {
				if obs[i].Exit != teasel.ExitOK {
					t.Errorf("script %d ended as %v", i, obs[i].Exit)
				}
			}
			last := &obs[len(obs)-1]
			if len(ins) > 1 { // one that was answered may have done it
				if last.Exit != teasel.ExitLost {
					t.Errorf("the last ended as %v", last.Exit)
				}
				return
			}
			if tr, _ := last.Evidence.(*script.Transcript); last.Exit != teasel.ExitCrash || tr.End.Kind != script.EndExited || tr.End.Code != 9 || tr.Sent[0].Answer >= 0 {
				t.Errorf("the last ended as %v, %s", last.Exit, last.Detail)
			}
		})
	}
}

// What was suspended on a server that is ended by another script is tried again by itself, all of it.
func TestDeathWithPending(t *testing.T) {
	for _, n := range []int{1, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			e := open(t, obedient(t))
			var ins []script.Script
			for i := range n {
				ins = append(ins, call("sleep", fmt.Sprintf(`{"ms":%d}`, 900+i)))
			}
			runs := 0
			for _, o := range executeBatch(t, e, append(ins, call("echo", `{}`))...) {
				runs += int(o.Runs)
			}
			checkLost(t, executeBatch(t, e, many(20, map[int]script.Script{3: call("die", `{}`)})...), 3)
			came := map[string]int{}
			for len(came) < n && t.Context().Err() == nil {
				executeBatch(t, e, call("echo", `{}`))
				for o := (teasel.Observation{}); ; {
					in, ok := e.Late(t.Context(), &o)
					if !ok {
						break
					}
					if came[string(in.Steps[0].Line)]++; o.Exit != teasel.ExitOK {
						t.Errorf("%s ended as %v: %s", in.Steps[0].Line, o.Exit, o.Detail)
					}
					runs += int(o.Runs)
				}
			}
			for _, in := range ins {
				if got := came[string(in.Steps[0].Line)]; got != 1 {
					t.Errorf("%s came back %d times", in.Steps[0].Line, got)
				}
			}
			if runs < n+1 {
				t.Errorf("%d executions, want %d at least", runs, n+1)
			}
		})
	}
}

// What kills the server while it is suspended is found out when it is tried again by itself.
func TestPendingKills(t *testing.T) {
	e := open(t, obedient(t))
	in := lineScript(string(call("hold", `{"key":"a"}`).Steps[0].Line), string(call("die", `{}`).Steps[0].Line))
	obs := executeBatch(t, e, in, call("echo", `{}`))
	if obs[0].Evidence != nil || obs[0].Exit != teasel.ExitOK {
		t.Fatalf("it was not suspended, but ended as %v", obs[0].Exit)
	}
	executeBatch(t, e, call("release", `{"key":"a"}`)) // it goes on, and dies
	for range 10 {
		executeBatch(t, e, call("echo", `{}`))
	}
	for { // the script that was answered last may be handed out before it, if the server dies after the answer
		ins, late := awaitLate(t, e, 1)
		if len(ins[0].Steps) == 2 {
			if late[0].Exit != teasel.ExitHang { // nobody releases it
				t.Errorf("by itself it ended as %v", late[0].Exit)
			}
			return
		}
		if late[0].Exit != teasel.ExitCrash || !bytes.Contains(ins[0].Steps[0].Line, []byte("release")) {
			t.Fatalf("%s is handed out, which ended as %v", ins[0].Steps[0].Line, late[0].Exit)
		}
	}
}

// What is in flight when a suspended script kills the server is not to blame: it runs again.
func TestPendingKillsBeside(t *testing.T) {
	e := open(t, obedient(t))
	in := lineScript(string(call("hold", `{"key":"a"}`).Steps[0].Line), string(call("die", `{}`).Steps[0].Line))
	executeBatch(t, e, in, call("echo", `{}`))
	ins := many(200, map[int]script.Script{0: call("release", `{"key":"a"}`)})
	for i, x := range exits(executeBatch(t, e, ins...)) {
		if x == teasel.ExitLost {
			t.Errorf("script %d is lost", i)
		}
	}
	if tried, _ := awaitLate(t, e, 1); len(tried[0].Steps) != 2 {
		t.Errorf("the one that was suspended is not tried again, but %s", tried[0].Steps[0].Line)
	}
}

// A server that dies when everything has been answered is put down to what it ran, the last of it first.
func TestIdleDeath(t *testing.T) {
	e := open(t, obedient(t))
	later := call("die_later", `{}`)
	for i, x := range exits(executeBatch(t, e, call("echo", `{}`), call("echo", `{}`), later)) {
		if x != teasel.ExitOK {
			t.Fatalf("script %d ended as %v", i, x)
		}
	}
	for s := e.live; s.Running(); {
		time.Sleep(time.Millisecond)
	}
	for i, x := range exits(executeBatch(t, e, many(10, nil)...)) {
		if x != teasel.ExitOK {
			t.Errorf("script %d after it ended as %v", i, x)
		}
	}
	ins, obs := awaitLate(t, e, 1)
	tr := obs[0].Evidence.(*script.Transcript)
	if !bytes.Equal(ins[0].Steps[0].Line, later.Steps[0].Line) || obs[0].Exit != teasel.ExitCrash || tr.End.Code != 9 {
		t.Errorf("%s is blamed, which ended as %v", ins[0].Steps[0].Line, obs[0].Exit)
	}
	if before := e.History(&obs[0]); len(before) != 3 {
		t.Errorf("its history has %d scripts, want 3", len(before))
	}
	if tr, o := execute(t, e, later); o.Exit != teasel.ExitCrash || tr.Sent[0].Answer < 0 {
		t.Errorf("by itself it ended as %v", o.Exit)
	}
}

// A stack trace that came while many scripts were in flight belongs to the one that has caused it, and to no other.
func TestStderrIsAttributed(t *testing.T) {
	e := open(t, obedient(t))
	ins := many(50, map[int]script.Script{33: call("trace", `{}`)})
	for i, o := range executeBatch(t, e, ins...) {
		tr := o.Evidence.(*script.Transcript)
		if got := strings.Contains(string(tr.Stderr), "goroutine 1"); got != (i == 33) || o.Exit != teasel.ExitOK {
			t.Errorf("script %d ended as %v with %q on standard error", i, o.Exit, tr.Stderr)
		}
	}
	for range observe.NoveltyTimes { // it is looked into a few times; after that a batch is a single round trip
		executeBatch(t, e, ins...)
	}
	before := e.live.past.Added()
	if executeBatch(t, e, ins...); e.live.past.Added() != before+len(ins) {
		t.Errorf("%d scripts were run for %d", e.live.past.Added()-before, len(ins))
	}
}

// A server whose connections end some time before its process has not closed them without a response: it has died.
func TestSlowDeath(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, plantedtest.Wicked), "slow-death", "{port}"}, URL: "http://127.0.0.1:{port}/mcp", Timeout: 5 * time.Second}})
	die, wait := call("echo", `{"message":"die"}`), call("echo", `{"message":"wait"}`)
	tr, obs := execute(t, e, die)
	if obs.Exit != teasel.ExitCrash || tr.End.Kind != script.EndExited || tr.Unresponsive {
		t.Errorf("alone it ended as %v: %s, %+v", obs.Exit, obs.Detail, tr.End)
	}
	for _, rule := range []string{judge.RuleHTTPNoResponse, judge.RuleDeaf} {
		for _, f := range told(&obs, rule) {
			t.Errorf("false alarm: %s: %s", f.Rule, f.Message)
		}
	}
	for i, x := range exits(executeBatch(t, e, wait, wait, die, wait)) {
		if x != teasel.ExitLost {
			t.Errorf("script %d ended as %v", i, x)
		}
	}
}

// A server that takes time to die of a line, and has answered the one before, is not left for the next script to be blamed for.
func TestDeathBehindAnswer(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{"python3", "-c", dyingServer}, StartTimeout: time.Minute, Timeout: 10 * time.Second}})
	bad := lineScript(ping, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"\xc0\"}}")
	bad.Steps[0].NoWait, bad.Steps[1].NoWait = true, true
	for range 3 { // what ends it each time is not sent for ever
		obs := executeBatch(t, e, lineScript(ping), bad, lineScript(`{"jsonrpc":"2.0","id":-1.5,"method":"ping"}`, ping))
		if got := exits(obs); !slices.Equal(got, []teasel.Exit{teasel.ExitOK, teasel.ExitCrash, teasel.ExitOK}) {
			t.Errorf("they ended as %v", got)
		}
	}
}

// dyingServer works for a while before it dies of a line that it cannot decode.
const dyingServer = `
import json, sys
for line in sys.stdin.buffer:
    try:
        m = json.loads(line.decode())
    except UnicodeDecodeError:
        sum(range(3000000))
        raise
    if "id" in m:
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "dying", "version": "1"}} if m["method"] == "initialize" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
`
