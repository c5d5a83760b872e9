package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// open starts an executor and checks at the end of the test that no process and no goroutine of it is left.
func open(t *testing.T, target *Target) *executor {
	t.Helper()
	e, end := begin(t, target)
	t.Cleanup(end)
	return e
}

// begin is open for a test that ends the executor itself.
func begin(t *testing.T, target *Target) (e *executor, end func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	return ex.(*executor), func() {
		t.Helper()
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
		checkNothingLeft(t, before)
	}
}

func checkNothingLeft(t *testing.T, goroutines int) {
	t.Helper()
	if n := ourProcesses(t); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

// ourProcesses counts what carries our marker, by the number of this process in it.
func ourProcesses(t *testing.T) (n int) {
	t.Helper()
	marker := fmt.Appendf(nil, "%s=%010d", proc.Marker, os.Getpid())
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if environ, err := os.ReadFile(name); err == nil && bytes.Contains(environ, marker) {
			n++
		}
	}
	return n
}

// call returns a script of one call.
func call(tool, arguments string) script.Script {
	return lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
}

func lineScript(lines ...string) script.Script {
	s := script.Script{Start: script.Shared}
	for _, l := range lines {
		s.Steps = append(s.Steps, script.Step{Line: []byte(l)})
	}
	return s
}

func execute(t *testing.T, e *executor, in script.Script) (*script.Transcript, teasel.Observation) {
	t.Helper()
	obs := teasel.Observation{Runs: 1}
	if err := e.Exec(t.Context(), in, &obs); err != nil {
		t.Fatal(err)
	}
	tr, _ := obs.Evidence.(*script.Transcript)
	return tr, obs
}

// told returns the findings of one rule.
func told(obs *teasel.Observation, rule string) []teasel.Finding {
	found := judge.Detectors(judge.DetectorConfig{})[0].Detect(obs)
	return slices.DeleteFunc(found, func(f teasel.Finding) bool { return f.Rule != rule })
}

func executeBatch(t *testing.T, e *executor, ins ...script.Script) []teasel.Observation {
	t.Helper()
	obs := make([]teasel.Observation, len(ins))
	for i := range obs {
		obs[i].Runs = 1
	}
	for done := 0; done < len(ins); {
		n, err := e.ExecBatch(t.Context(), ins[done:], obs[done:])
		if err != nil {
			t.Fatal(err)
		}
		done += n
	}
	return obs
}

func exits(obs []teasel.Observation) (list []teasel.Exit) {
	for i := range obs {
		list = append(list, obs[i].Exit)
	}
	return list
}

// awaitLate waits until as many scripts as are wanted were suspended and have come to their end.
func awaitLate(t *testing.T, e *executor, want int) (ins []script.Script, obs []teasel.Observation) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(ins) < want; {
		o := teasel.Observation{Runs: 1}
		if in, ok := e.Late(t.Context(), &o); ok {
			ins, obs = append(ins, in), append(obs, o)
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d have come, want %d", len(ins), want)
		}
		time.Sleep(time.Millisecond)
	}
	return ins, obs
}

func planted(program string, bugs string) *Target {
	return &Target{Command: server.Command{Args: []string{program, "-bugs", bugs}, Timeout: time.Second}}
}

const ping = `{"jsonrpc":"2.0","id":"@id","method":"ping"}`

func TestExecutor(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Planted)
	t.Run("answers", func(t *testing.T) { testAnswers(t, program) })
	t.Run("reproduced", func(t *testing.T) { testReproduced(t, program) })
	t.Run("hangs", func(t *testing.T) { testHangs(t, program) })
	t.Run("captures", func(t *testing.T) { testCaptures(t, program) })
	t.Run("large batch", func(t *testing.T) { testLargeBatch(t, program) })
	t.Run("fresh", func(t *testing.T) { testFresh(t, program) })
	t.Run("odd", func(t *testing.T) { testOdd(t, program) })
	t.Run("parts", func(t *testing.T) { testParts(t, program) })
	t.Run("history", func(t *testing.T) { testHistory(t, program) })
	t.Run("many lines", func(t *testing.T) { testManyLines(t, program) })
	t.Run("repeated", func(t *testing.T) { testRepeated(t, program) })
	t.Run("blocked", func(t *testing.T) { testBlocked(t, program) })
	t.Run("growth", func(t *testing.T) { testGrowth(t, program) })
}

func testAnswers(t *testing.T, program string) {
	e := open(t, planted(program, "none"))
	var ins []script.Script
	for i := range 300 {
		ins = append(ins, call("check_code", fmt.Sprintf(`{"code":"a%d"}`, i)))
	}
	ins = append(ins, lineScript(ping, `{"jsonrpc":"2.0","id":"@id","method":"nothing/here"}`))
	obs := executeBatch(t, e, ins...)
	for i := range obs {
		tr := obs[i].Evidence.(*script.Transcript)
		if tr.Script.Steps[0].Line == nil || len(tr.Sent) != len(ins[i].Steps) || obs[i].Runs != uint32(len(ins[i].Steps)) {
			t.Fatalf("script %d: %d lines were sent, %d runs counted", i, len(tr.Sent), obs[i].Runs)
		}
		for j := range tr.Sent {
			s := &tr.Sent[j]
			if !s.Regular || s.Answer < 0 {
				t.Fatalf("script %d: %s was not answered", i, s.Raw)
			}
			if r := &tr.Received[s.Answer]; r.Message.ID != s.Message.ID || r.Sent != j || r.Loose {
				t.Errorf("script %d: %s was answered by %s", i, s.Raw, r.Raw)
			}
		}
		if len(obs[i].Features) == 0 {
			t.Errorf("script %d has no features", i)
		}
	}
	last := obs[len(obs)-1]
	if last.Exit != teasel.ExitRejected {
		t.Errorf("an unknown method ended as %v", last.Exit)
	}
	if got := exits(obs[:3]); !slices.Equal(got, []teasel.Exit{teasel.ExitOK, teasel.ExitOK, teasel.ExitOK}) {
		t.Errorf("the first ended as %v", got)
	}
}

// What is shown again time after time does not keep other scripts about the same from being run.
func testReproduced(t *testing.T, program string) {
	e := open(t, planted(program, "crash-at-int32-max"))
	for range 8 {
		if _, o := execute(t, e, call("reserve_stock", `{"sku":"washer","quantity":2147483647}`)); o.Exit != teasel.ExitCrash {
			t.Fatalf("it ended as %v", o.Exit)
		}
	}
	innocent := call("reserve_stock", `{"sku":"washer","quantity":1}`)
	for i, o := range executeBatch(t, e, innocent, innocent, innocent) {
		if o.Exit != teasel.ExitOK || o.Runs != 1 {
			t.Errorf("script %d ended as %v after %d executions", i, o.Exit, o.Runs)
		}
	}
}

// Of a script of many lines each is known, so that the one that did it is blamed.
func testManyLines(t *testing.T, program string) {
	many := lineScript(slices.Repeat([]string{ping}, maxKept+100)...)
	for _, tt := range []struct {
		bug, rule, subject, line string
	}{
		{"secret-leak", judge.RuleSecret, "tools/call quote_price", `{"jsonrpc":"2.0","id":7000000001.0,"method":"tools/call","params":{"name":"quote_price","arguments":{"currency":"XXX"}}}`},
		{"crash-at-int32-max", judge.RuleCrash, "tools/call reserve_stock", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"reserve_stock","arguments":{"sku":"washer","quantity":2147483647}}}`},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			in := many
			in.Steps = append(slices.Clone(in.Steps), script.Step{Line: []byte(tt.line)}, script.Step{Line: []byte(ping)})
			e := open(t, planted(program, tt.bug))
			_, obs := execute(t, e, in)
			if got := told(&obs, tt.rule); len(got) != 1 || got[0].Subject != tt.subject {
				t.Errorf("%s was told of %+v, want %q", tt.rule, got, tt.subject)
			}
		})
	}
}

// A large line that is sent many times is sent as often as it says, and does not take its size as often of memory.
func testRepeated(t *testing.T, program string) {
	const times = 1500
	long := `{"jsonrpc":"2.0","id":"@id","method":"nothing/here","params":{"a":"` + strings.Repeat("a", 30_000) + `"}}`
	e := open(t, planted(program, "none"))
	in := lineScript(ping, long, ping)
	in.Steps[1].Times = times
	tr, obs := execute(t, e, in)
	if obs.Exit != teasel.ExitOK || obs.Runs != times+2 || e.live.sent != times+2 {
		t.Errorf("it ended as %v after %d executions; %d lines were sent", obs.Exit, obs.Runs, e.live.sent)
	}
	kept := 0
	for i := range tr.Sent {
		kept += len(tr.Sent[i].Raw)
	}
	if last := &tr.Sent[len(tr.Sent)-1]; kept > maxRepeated+2*len(long) || last.Step != 2 || last.Answer < 0 || tr.Received[last.Answer].Message.Result == nil {
		t.Errorf("%d bytes of lines are kept, the last one is %.60s", kept, last.Raw)
	}
	for i := range tr.Sent {
		if s := &tr.Sent[i]; !bytes.HasPrefix(s.Raw, []byte(`{"jsonrpc":"2.0","id":`+s.Message.ID+`,`)) {
			t.Fatalf("line %d is overwritten: %.60s", i, s.Raw)
		}
	}
}

func testHangs(t *testing.T, program string) {
	hang := call("find_route", `{"from":"depot","to":"depot"}`)
	loop := call("sample_series", `{"start":0,"end":10,"step":0}`)
	innocent := call("check_code", `{"code":"abc1"}`)

	t.Run("one call", func(t *testing.T) {
		e := open(t, planted(program, "hang-one-call"))
		tr, obs := execute(t, e, hang)
		if obs.Exit != teasel.ExitHang || !tr.Hung || tr.Unresponsive || obs.Runs != 1 {
			t.Errorf("alone it ended as %v, %s: %+v", obs.Exit, obs.Detail, tr.End)
		}
		obsv := executeBatch(t, e, innocent, hang, innocent)
		if got, want := exits(obsv), []teasel.Exit{1, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("in a batch they ended as %v, want %v", got, want)
		}
		if obsv[1].Evidence != nil || len(obsv[1].Features) > 0 || obsv[1].Runs != 1 {
			t.Errorf("what is suspended was judged: %+v", obsv[1])
		}
		ins, late := awaitLate(t, e, 1)
		if late[0].Exit != teasel.ExitHang || !bytes.Equal(ins[0].Steps[0].Line, hang.Steps[0].Line) || late[0].Runs != 0 {
			t.Errorf("%s ended as %v", ins[0].Steps[0].Line, late[0].Exit)
		}
		if tr := late[0].Evidence.(*script.Transcript); !tr.Hung || len(tr.Sent) != 1 || !bytes.Contains(tr.Sent[0].Raw, []byte("depot")) {
			t.Errorf("its transcript is %+v", tr)
		}
	})
	t.Run("deaf", func(t *testing.T) {
		e := open(t, planted(program, "endless-loop"))
		tr, obs := execute(t, e, loop)
		if obs.Exit != teasel.ExitHang || !tr.Unresponsive || tr.End.Kind != script.EndKilled || !strings.Contains(obs.Detail, "using the processor") {
			t.Errorf("alone it ended as %v, %q: %+v", obs.Exit, obs.Detail, tr.End)
		}
		obsv := executeBatch(t, e, innocent, loop, innocent, innocent)
		if got, want := exits(obsv), []teasel.Exit{teasel.ExitOK, teasel.ExitLost, teasel.ExitLost, teasel.ExitLost}; !slices.Equal(got, want) {
			t.Errorf("in a batch they ended as %v, want %v", got, want)
		}
		e.record(script.Topic{Method: "tools/call", Name: "sample_series"}).spent += firstTimes * deathPrice
		if obsv := executeBatch(t, e, innocent, loop); obsv[1].Exit != teasel.ExitOK || obsv[1].Runs != 0 {
			t.Errorf("once it had cost its share it ended as %v", obsv[1].Exit)
		}
	})
	t.Run("slow", func(t *testing.T) {
		e := open(t, planted(program, "none"))
		slow := call("run_report", `{"steps":10,"delay_ms":50}`)
		obsv := executeBatch(t, e, slow, innocent)
		if obsv[0].Evidence != nil || obsv[1].Evidence == nil {
			t.Fatal("the slow call was waited for, or the quick one was not")
		}
		_, late := awaitLate(t, e, 1)
		if late[0].Exit > teasel.ExitRejected || late[0].Evidence.(*script.Transcript).Sent[0].Answer != 0 {
			t.Errorf("it ended as %v: %s", late[0].Exit, late[0].Detail)
		}
		if len(e.late) > 0 || len(e.live.flights) > 0 {
			t.Errorf("%d scripts are suspended, %d requests are in flight", len(e.late), len(e.live.flights))
		}
	})
}

func testCaptures(t *testing.T, program string) {
	e := open(t, planted(program, "use-after-close"))
	in := lineScript(
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"open_document","arguments":{"name":"x"}}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"close_document","arguments":{"handle":"@{0:/structuredContent/handle}"}}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"append_document","arguments":{"handle":"@{0:/structuredContent/handle}","text":"y"}}}`)
	tr, obs := execute(t, e, in)
	if obs.Exit != teasel.ExitCrash {
		for i := range tr.Sent {
			t.Logf("%s -> %s", tr.Sent[i].Raw, tr.Received[tr.Sent[i].Answer].Raw)
		}
		t.Errorf("it ended as %v", obs.Exit)
	}
	if obsv := executeBatch(t, e, in); obsv[0].Exit != teasel.ExitCrash {
		t.Errorf("in a batch it ended as %v", obsv[0].Exit)
	}
}

func testFresh(t *testing.T, program string) {
	e := open(t, planted(program, "tools-before-initialize"))
	before := e.live
	tr, obs := execute(t, e, script.Script{Start: script.Fresh, Steps: []script.Step{
		{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`)},
		{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)},
		{Line: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)},
		{Line: []byte(ping)},
	}})
	if obs.Exit != teasel.ExitOK || len(tr.Received) != 3 || tr.End.Kind != script.EndInvalid {
		t.Errorf("it ended as %v, %s, with %d answers: %+v", obs.Exit, obs.Detail, len(tr.Received), tr.End)
	}
	if tr.Sent[0].Answer < 0 || tr.Received[tr.Sent[0].Answer].Message.Result == nil {
		t.Errorf("the call before initialize was not answered with a result")
	}
	if e.live != before {
		t.Error("the session that was up has ended")
	}
	tr, obs = execute(t, e, script.Script{Start: script.Fresh, Steps: []script.Step{{Line: []byte(ping), Close: true}}})
	if obs.Exit != teasel.ExitOK || tr.End.Kind != script.EndExited || !tr.End.EOF || tr.End.Code != 0 {
		t.Errorf("after the end of its input it ended as %v: %+v", obs.Exit, tr.End)
	}
}

func testOdd(t *testing.T, program string) {
	e := open(t, planted(program, "id-as-string,null-id,stdout-noise,reply-twice"))
	for _, tt := range []struct {
		line  string
		check func(tr *script.Transcript) bool
	}{
		{`{"jsonrpc":"2.0","id":"abc","method":"ping"}`, func(tr *script.Transcript) bool {
			return tr.Sent[0].Answer == 0 && tr.Received[0].Message.ID == `"abc"` && !tr.Sent[0].Regular
		}},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, func(tr *script.Transcript) bool {
			return len(tr.Received) == 1 && tr.Received[0].Message.ID == "null" && tr.Received[0].Message.Result != nil
		}},
		{`{bad`, func(tr *script.Transcript) bool {
			return len(tr.Received) == 1 && tr.Received[0].Message.Error != nil && tr.Received[0].Sent == 0
		}},
		{`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"run_report","arguments":{"steps":1}}}`, func(tr *script.Transcript) bool {
			return len(tr.Received) == 1 && tr.Received[0].Loose && tr.Received[0].Sent == 0 && tr.Sent[0].Answer == 0
		}},
		{`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"search_items","arguments":{"query":"b","limit":0}}}`, func(tr *script.Transcript) bool {
			return tr.Noisy == 1 && len(tr.Noise) == 1
		}},
		{`{"jsonrpc":"2.0","id":"@id","method":"prompts/get","params":{"name":"daily_digest","arguments":{"style":"brief"}}}`, func(tr *script.Transcript) bool {
			return len(tr.Received) == 2 && tr.Received[1].Sent == 0 && tr.Sent[0].Answer == 0
		}},
	} {
		in := lineScript(tt.line)
		tr, obs := execute(t, e, in)
		if obs.Exit > teasel.ExitRejected {
			t.Errorf("%s: ended as %v", tt.line, obs.Exit)
		}
		if !tt.check(tr) {
			t.Errorf("%s: ended as %v with %d lines, %q", tt.line, obs.Exit, len(tr.Received), tr.Noise)
			for i := range tr.Received {
				t.Logf("\t%s (of %d)", tr.Received[i].Raw, tr.Received[i].Sent)
			}
		}
		obsv := executeBatch(t, e, lineScript(ping), in, lineScript(ping))
		if tr, ok := obsv[1].Evidence.(*script.Transcript); !ok || !tt.check(tr) {
			t.Errorf("%s: in a batch it ended as %v: %+v", tt.line, obsv[1].Exit, tr)
		}
	}
}

// testParts sends one line in several parts, and lines that a strict parser cannot read.
func testParts(t *testing.T, program string) {
	e := open(t, planted(program, "none"))
	half := `{"jsonrpc":"2.0","id":"@id","method":"pi`
	for _, tt := range []struct {
		in     script.Script
		answer string // to the last line: its id, and what it is
		result bool
	}{
		{script.Script{Start: script.Shared, Steps: []script.Step{{Line: []byte(half), NoNewline: true}, {Line: []byte(`ng"}`)}}}, "10000", true},
		{script.Script{Start: script.Shared, Steps: []script.Step{{Line: []byte(half), NoNewline: true}, {Line: []byte(ping)}}}, "null", false},
		{script.Script{Start: script.Shared, Steps: []script.Step{{Line: []byte(half), NoNewline: true}}}, "null", false},
		{lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"` + "\xff" + `"}}}`), "null", false},
	} {
		tr, obs := execute(t, e, tt.in)
		if obs.Exit > teasel.ExitRejected || len(tr.Received) != 1 {
			t.Errorf("%s ended as %v with %d answers", tt.in.Steps[0].Line, obs.Exit, len(tr.Received))
			continue
		}
		last := &tr.Sent[len(tr.Sent)-1]
		if m := &tr.Received[0].Message; last.Answer != 0 || !strings.HasPrefix(m.ID, tt.answer) || (m.Result != nil) != tt.result {
			t.Errorf("%s was answered with %s", last.Raw, tr.Received[0].Raw)
		}
		if obsv := executeBatch(t, e, lineScript(ping), tt.in); obsv[1].Exit != obs.Exit || obsv[1].Evidence == nil {
			t.Errorf("%s ended as %v in a batch", tt.in.Steps[0].Line, obsv[1].Exit)
		}
	}
}

func testHistory(t *testing.T, program string) {
	e := open(t, planted(program, "crash-by-signal"))
	var want []string
	var last teasel.Observation
	for i := range 5 {
		in := call("check_code", fmt.Sprintf(`{"code":"c%d"}`, i))
		want = append(want, string(in.Steps[0].Line))
		_, last = execute(t, e, in)
	}
	check := func(what string, obs teasel.Observation, want []string) {
		t.Helper()
		var got []string
		for _, in := range e.History(&obs) {
			got = append(got, string(in.Steps[0].Line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s the history is %q, want %q", what, got, want)
		}
	}
	check("after five calls", last, want)
	deadly := call("render_thumbnail", `{"width":4096,"height":10}`)
	_, last = execute(t, e, deadly)
	check("after a death", last, append(want, string(deadly.Steps[0].Line)))
	_, last = execute(t, e, lineScript(ping))
	check("on the next process", last, []string{ping})
	if err := e.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	both := executeBatch(t, e, lineScript(ping), lineScript(ping))
	check("after a reset", both[0], []string{ping})
	check("after another of the batch", both[1], []string{ping, ping})
	_, last = execute(t, e, lineScript(ping))
	check("after one more", last, []string{ping, ping, ping})
	check("of one that ran earlier", both[1], []string{ping, ping})
}

func testBlocked(t *testing.T, program string) {
	marker := filepath.Join(t.TempDir(), "destroyed")
	target := planted(program, "none")
	target.Env = []string{"TEASEL_DESTROYED=" + marker}
	target.Blocked = func(name string) bool {
		return strings.Contains(name, "delete") || strings.Contains(name, "wipe") || strings.Contains(name, "purge")
	}
	session, err := target.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var name string
	for _, tool := range session.Tools {
		if target.Blocked(tool.Name) {
			name = tool.Name
			break
		}
	}
	if name == "" {
		t.Fatal("the server has no destructive tool")
	}
	target.Session = session
	e := open(t, target)
	escaped := fmt.Sprintf(`\u%04x%s`, name[0], name[1:])
	line := func(name string) string {
		return `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`
	}
	half := line(name)
	cut := strings.Index(half, name) + 3
	for _, in := range []script.Script{
		lineScript(line(name)), lineScript(line(escaped)), lineScript(line(strings.ToUpper(name))), lineScript("[" + line(name) + "]"),
		lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","name":"` + name + `"}}`),
		{Start: script.Shared, Steps: []script.Step{{Line: []byte(half[:cut]), NoNewline: true}, {Line: []byte(half[cut:])}}},
		{Start: script.Fresh, Steps: append(script.Handshake("2025-11-25"), script.Step{Line: []byte(line(name))})},
	} {
		if _, obs := execute(t, e, in); obs.Runs != 0 || obs.Exit != teasel.ExitOK || obs.Evidence != nil {
			t.Errorf("%s was run: %v", in.Steps[0].Line, obs.Exit)
		}
		if obsv := executeBatch(t, e, lineScript(ping), in); obsv[1].Runs != 0 || obsv[0].Runs != 1 {
			t.Errorf("%s was run in a batch, or what was with it was not", in.Steps[0].Line)
		}
	}
	// The name comes out of an answer, which is an echo of its two halves.
	capturing := lineScript(
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"`+name[:3]+`"}}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"@{0:/content/0/text#0}`+name[3:]+`","arguments":{}}}`)
	if tr, obs := execute(t, e, capturing); len(tr.Sent) != 1 || obs.Runs != 1 {
		t.Errorf("after the capture %d lines were sent, the last %s", len(tr.Sent), tr.Sent[len(tr.Sent)-1].Raw)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the destructive tool was called")
	}
}

func testGrowth(t *testing.T, program string) {
	e := open(t, planted(program, "memory-leak,quadratic-time"))
	in := call("define_word", `{"word":"a"}`)
	in.Check, in.Steps[0].Times = check.GrowthMemory, 200
	tr, obs := execute(t, e, in)
	g := tr.Growth
	if g == nil || len(g.Sizes) != 5 || !slices.IsSorted(g.Sizes) || g.Sizes[4] != 200 || obs.Runs != 200 {
		t.Fatalf("it ended as %v after %d runs: %+v", obs.Exit, obs.Runs, g)
	}
	if rise := g.Values[4] - g.Values[0]; rise < 20<<20 {
		t.Errorf("200 calls that leak 256 KiB each add %v bytes", rise)
	}
	in = script.Script{Start: script.Shared, Check: check.GrowthTime}
	for n := 1 << 10; n <= 16<<10; n *= 2 {
		in.Steps = append(in.Steps, call("check_filter", `{"filter":"`+strings.Repeat("a", n)+`"}`).Steps...)
	}
	tr, _ = execute(t, e, in)
	if g = tr.Growth; g == nil || len(g.Sizes) != 5 || g.What != "time" {
		t.Fatalf("growth is %+v", g)
	}
	if g.Values[4] < 4*g.Values[2] {
		t.Errorf("quadratic time shows as %v for %v bytes", g.Values, g.Sizes)
	}
}

// TestCancelled: what is broken off leaves nothing behind, and the executor is of use afterwards.
func TestCancelled(t *testing.T) {
	target := planted(mcptest.BuildServer(t, plantedtest.Planted), "hang-one-call")
	target.Timeout, target.Exact = time.Minute, true // it is waited for
	e := open(t, target)
	hang := call("find_route", `{"from":"depot","to":"depot"}`)
	for _, in := range [][]script.Script{{hang}, {lineScript(ping), hang, lineScript(`{"jsonrpc":"2.0","id":"odd","method":"ping"}`)}} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		obs := make([]teasel.Observation, len(in))
		var err error
		if len(in) == 1 {
			err = e.Exec(ctx, in[0], &obs[0])
		} else {
			_, err = e.ExecBatch(ctx, in, obs)
		}
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if tr, obs := execute(t, e, lineScript(ping)); obs.Exit != teasel.ExitOK || len(tr.Received) != 1 {
			t.Errorf("afterwards a ping ends as %v", obs.Exit)
		}
	}
}

// What was said to a process that is no more is not said to the next one.
func TestCancelledFresh(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
	in := script.Script{Start: script.Fresh, Steps: append(script.Handshake(session.Versions[len(session.Versions)-1]), script.SendText(ping))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var obs teasel.Observation
	if err := e.Exec(ctx, in, &obs); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	if tr, obs := execute(t, e, in); obs.Exit != teasel.ExitOK || len(tr.Received) != 2 {
		t.Errorf("two requests ended as %v with %d answers", obs.Exit, len(tr.Received))
	}
}

// Large scripts are not all held at once.
func testLargeBatch(t *testing.T, program string) {
	e := open(t, planted(program, "none"))
	large := script.Script{Steps: []script.Step{{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"x":"` + strings.Repeat("y", maxBatchBytes/2) + `"}}`)}}}
	small := script.Script{Steps: []script.Step{{Line: []byte(ping)}}}
	for _, tt := range []struct {
		ins  []script.Script
		want int
	}{{[]script.Script{small, small}, 2}, {[]script.Script{large, large, large}, 2}, {[]script.Script{small, large, large, small}, 3}} {
		obs := make([]teasel.Observation, len(tt.ins))
		n, err := e.ExecBatch(t.Context(), tt.ins, obs)
		if err != nil || n != tt.want {
			t.Errorf("%d of %d scripts were run, expected %d: %v", n, len(tt.ins), tt.want, err)
		}
	}
}

// A long line of a check is sent in the background.
func TestBulk(t *testing.T) {
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
	large := lineScript(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"teasel":"` + script.LongText(1<<20) + `"}}`)
	large.Check = check.Large
	executeBatch(t, e, large)
	for o := (teasel.Observation{}); ; executeBatch(t, e, lineScript(ping)) {
		if _, ok := e.Late(t.Context(), &o); ok {
			if o.Exit != teasel.ExitOK || o.Evidence == nil {
				t.Errorf("the check ended as %v", o.Exit)
			}
			break
		}
	}
}

// TestHugeLine: a server that reads lines of any length answers one of 17 MiB.
func TestHugeLine(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, "orderly"), "echo"}}})
	tr, obs := execute(t, e, script.NewShared(check.Large, script.Send(jsonrpc.RequestLine("ping", jsonrpc.Object("a", script.HugeText))), script.SendText(session.PingLine)))
	if obs.Exit != teasel.ExitOK || len(tr.Sent) != 2 || len(tr.Sent[0].Raw) < 16<<20 || tr.Sent[0].Answer < 0 {
		t.Errorf("it ended as %v: %s", obs.Exit, obs.Detail)
	}
}
