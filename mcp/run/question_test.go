package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

const sampling = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"trigger-sampling-request","arguments":{"prompt":"a"}}}`

// TestAnswersQuestions has a real server ask for a sample, and answers in turn as every client, as the script says, late, and not at all.
func TestAnswersQuestions(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: realServer(t, "everything")}})
	result := func(text string) string {
		return `{"jsonrpc":"2.0","id":"@asked","result":{"role":"assistant","content":{"type":"text","text":"` + text + `"},"model":"m"}}`
	}
	asked := func(line string) script.Step {
		return script.Step{Asked: "sampling/createMessage", Line: []byte(line)}
	}
	onHold := script.SendOn([]byte(sampling))
	for _, tt := range []struct {
		name  string
		steps []script.Step
		want  string // in the answer to the call; "": none comes
	}{
		{"as every client", []script.Step{script.SendText(sampling)}, `"text\": \"teasel\"`},
		{"as the script says", []script.Step{asked(result("hallo")), script.SendText(sampling)}, `hallo`},
		{"each once, in their order", []script.Step{script.SendText(sampling), asked(result("one")), script.SendText(sampling), asked(result("two"))}, `two`},
		{"refused", []script.Step{asked(`{"jsonrpc":"2.0","id":"@asked","error":{"code":-1,"message":"refused by the user"}}`), script.SendText(sampling)}, `refused by the user`},
		{"malformed", []script.Step{asked(`{"jsonrpc":"2.0","id":"@asked","result":{"role":"robot"}}`), script.SendText(sampling)}, `isError`},
		{"part of what was asked", []script.Step{asked(result("@{asked:/maxTokens}")), script.SendText(sampling)}, `100`},
		{"never", []script.Step{asked(""), script.SendText(sampling), script.SendText(ping)}, ""},
		{"of somebody else", []script.Step{asked(`{"jsonrpc":"2.0","id":"x","result":{}}`), script.SendText(sampling)}, ""},
		{"late", []script.Step{asked(""), onHold, script.SendText(ping), script.SendText(result("late"))}, `late`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr, obs := execute(t, e, script.NewShared("", tt.steps...))
			got := ""
			for i := range tr.Sent {
				if s := &tr.Sent[i]; strings.Contains(string(s.Raw), "tools/call") && s.Answer >= 0 {
					got = string(tr.Received[s.Answer].Raw)
				}
			}
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("the call was answered with %q, want %q in it", got, tt.want)
			}
			if obs.Exit > teasel.ExitRejected {
				t.Errorf("it ended as %v: %s", obs.Exit, obs.Detail)
			}
			if tr.AwaitsClient != (tt.want == "" || tt.want == "late") {
				t.Errorf("awaits the client: %t", tr.AwaitsClient)
			}
			if tr, obs := execute(t, e, lineScript(ping)); obs.Exit != teasel.ExitOK {
				t.Errorf("then a ping ended as %v: %+v", obs.Exit, tr)
			}
		})
	}
}

// TestLearnsWhatAsks has scripts in flight together, one of which has the server ask something: it is run again by itself, and what was
// asked is noted. So it is of one that is suspended because its answer takes long, as any may be on a busy machine.
func TestLearnsWhatAsks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target *Target
		asks   string
	}{
		{"at once", &Target{Command: server.Command{Args: realServer(t, "everything")}}, sampling},
		{"answered late", obedient(t), string(call("ask", `{"ms":300}`).Steps[0].Line)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, tt.target)
			for range 2 {
				obs := make([]teasel.Observation, 3)
				for i := range obs {
					obs[i].Ask.Features = true
				}
				if _, err := e.ExecBatch(t.Context(), []script.Script{lineScript(ping), script.NewShared("", script.SendText(tt.asks)), lineScript(ping)}, obs); err != nil {
					t.Fatal(err)
				}
				for i := range obs {
					if obs[i].Evidence == nil { // it was suspended
						obs[i] = lateBeside(t, e)
					}
					var asked []observe.Question
					if note, ok := obs[i].Note.(*observe.Note); ok {
						asked = note.Asked
					}
					// It asks for the roots by itself, some time after it was started.
					asked = slices.DeleteFunc(slices.Clone(asked), func(q observe.Question) bool { return q.Method == session.AsksForRoots })
					if (len(asked) > 0) != (i == 1) {
						t.Errorf("script %d: what was asked is noted as %+v", i, asked)
					}
				}
			}
		})
	}
}

// lateBeside returns the observation of a script that was suspended, and is run again beside batches.
func lateBeside(t *testing.T, e *executor) teasel.Observation {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		o := teasel.Observation{Runs: 1, Ask: teasel.Ask{Features: true}}
		if _, ok := e.Late(t.Context(), &o); ok {
			return o
		}
		executeBatch(t, e, lineScript(ping))
	}
	t.Fatal("it does not come")
	return teasel.Observation{}
}
