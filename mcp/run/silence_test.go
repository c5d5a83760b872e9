package run

import (
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// How a call ends that is not answered, by itself and beside others.
func TestSilence(t *testing.T) {
	hung := func(tr *script.Transcript) bool {
		return tr.Hung && !tr.Unresponsive && tr.End.Kind == script.EndInvalid
	}
	deaf := func(waits script.Waiting) func(*script.Transcript) bool {
		return func(tr *script.Transcript) bool {
			return tr.Unresponsive && tr.End.Kind == script.EndKilled && tr.Waits == waits
		}
	}
	flood := func(tr *script.Transcript) bool { return tr.Flood && tr.End.Kind == script.EndKilled }
	for _, tt := range []struct {
		name, tool, arguments string
		exit                  teasel.Exit
		looks                 func(*script.Transcript) bool
		detail                string
		suspended             bool // beside others it is suspended, and ends like that later; otherwise they are lost with it
	}{
		{"one call", "never", `{}`, teasel.ExitHang, hung, "idle", true},
		{"deaf, and it sleeps", "deadlock", `{}`, teasel.ExitHang, deaf(script.WaitsInside), "idle", false},
		{"deaf, and it looks at a lock", "poll", `{}`, teasel.ExitHang, deaf(script.WaitsInside), "", false},
		{"deaf, and a child computes", "run_program", `{}`, teasel.ExitHang, deaf(script.WaitsOutside), "", false},
		{"deaf, and it computes", "spin", `{}`, teasel.ExitHang, deaf(script.WaitsInside), "using the processor", false},
		{"it computes, and answers others", "spin_apart", `{}`, teasel.ExitHang, hung, "using the processor", true},
		{"answers without end", "flood", `{"text":"answers"}`, teasel.ExitCrash, flood, "cut off", false},
		{"progress without end", "flood", `{"text":"progress"}`, teasel.ExitCrash, flood, "cut off", false},
		{"noise without end", "flood", `{"text":"noise"}`, teasel.ExitCrash, flood, "cut off", false},
		{"output closed", "close_output", `{}`, teasel.ExitCrash, func(tr *script.Transcript) bool { return tr.End.Closed && !tr.End.EOF }, "closed its standard output", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := obedient(t)
			target.Timeout = 500 * time.Millisecond
			in := call(tt.tool, tt.arguments)
			ends := func(how string, obs *teasel.Observation) {
				t.Helper()
				if tr, _ := obs.Evidence.(*script.Transcript); obs.Exit != tt.exit || tr == nil || !tt.looks(tr) {
					t.Errorf("%s it ended as %v, %q: %+v", how, obs.Exit, obs.Detail, tr)
				}
			}
			e := openBeside(t, target)
			_, alone := execute(t, e, in)
			if ends("alone", &alone); !strings.Contains(alone.Detail, tt.detail) {
				t.Errorf("it is said of it: %s", alone.Detail)
			}
			if tr, o := execute(t, e, call("echo", `{"text":"a"}`)); o.Exit != teasel.ExitOK || tr.Sent[0].Answer < 0 {
				t.Errorf("afterwards a call ended as %v", o.Exit)
			}
			const guilty = 5
			e = openBeside(t, target)
			obs := executeBatch(t, e, many(40, map[int]script.Script{guilty: in})...)
			if !tt.suspended {
				if strings.Contains(tt.arguments, "answers") { // it was answered, so that it is not among those that were not
					for i, x := range exits(obs) {
						if x != teasel.ExitOK && (x != teasel.ExitLost || i <= guilty) {
							t.Errorf("script %d ended as %v", i, x)
						}
					}
					return
				}
				checkLost(t, obs, guilty)
				obs = executeBatch(t, openBeside(t, target), in)
				ends("in a batch of one", &obs[0])
				return
			}
			for i := range obs {
				if obs[i].Exit != teasel.ExitOK || obs[i].Runs != 1 || (obs[i].Evidence == nil) != (i == guilty) {
					t.Errorf("script %d ended as %v after %d executions", i, obs[i].Exit, obs[i].Runs)
				}
			}
			ins, late := awaitLate(t, e, 1)
			if ends("later", &late[0]); string(ins[0].Steps[0].Line) != string(in.Steps[0].Line) || late[0].Runs != 0 {
				t.Errorf("%s is handed out after %d more executions", ins[0].Steps[0].Line, late[0].Runs)
			}
		})
	}
}

// openBeside is open for tests that run side by side: what is left by one cannot be told from what another one uses.
func openBeside(t *testing.T, target *Target) *executor {
	t.Helper()
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	return ex.(*executor)
}

// What stops reading is found out by the next that is sent, be it little or more than a pipe holds.
func TestStopsReading(t *testing.T) {
	for _, text := range []string{"little", strings.Repeat("much", 10_000)} {
		t.Run(text[:4], func(t *testing.T) { testStopsReading(t, text) })
	}
}

func testStopsReading(t *testing.T, text string) {
	target := obedient(t)
	target.Timeout = 500 * time.Millisecond
	e := open(t, target)
	stop := call("stop_reading", `{}`)
	if _, o := execute(t, e, stop); o.Exit != teasel.ExitOK {
		t.Fatalf("the call that was answered ended as %v", o.Exit)
	}
	if o := executeBatch(t, e, call("echo", `{"text":"`+text+`"}`))[0]; o.Exit != teasel.ExitHang || !o.Evidence.(*script.Transcript).Unresponsive {
		t.Errorf("the next call ended as %v", o.Exit)
	}
	if _, o := execute(t, e, stop); o.Exit != teasel.ExitOK {
		t.Fatalf("on the next server it ended as %v", o.Exit)
	}
	sleep := call("sleep", `{"text":"`+text+`"}`)
	checkLost(t, executeBatch(t, e, sleep, sleep), 0)
}

// A server that computes for long before it answers is not silent: others wait for it, and nobody is lost.
func TestWork(t *testing.T) {
	e := open(t, obedient(t))
	before := e.live
	work := call("work", `{"ms":400}`)
	for i, o := range executeBatch(t, e, many(40, map[int]script.Script{5: work, 30: work})...) {
		if o.Exit != teasel.ExitOK || o.Evidence == nil {
			t.Errorf("script %d ended as %v", i, o.Exit)
		}
	}
	if _, o := execute(t, e, work); o.Exit != teasel.ExitOK || e.live != before {
		t.Errorf("alone it ended as %v", o.Exit)
	}
}

// TestSilentAfterUnusual: a server that goes silent at a request which it need not answer is asked whether it lives before it is sent more.
func TestSilentAfterUnusual(t *testing.T) {
	target := obedient(t)
	target.Timeout = 500 * time.Millisecond
	for tool, sent := range map[string]int{"deadlock": 1, "echo": 2} {
		first := `{"jsonrpc":"2.0","id":"ü💥","method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"a"}}}`
		tr, obs := execute(t, openBeside(t, target), lineScript(first, `{"jsonrpc":"2.0","id":"@id","method":"ping"}`))
		if silent := tool == "deadlock"; tr.Unresponsive != silent || len(tr.Sent) != sent {
			t.Errorf("after %s it ended as %v, silent: %v, with %d lines sent", tool, obs.Exit, tr.Unresponsive, len(tr.Sent))
		}
	}
}
