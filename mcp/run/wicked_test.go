package run

import (
	"context"
	"errors"
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
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mutate"
)

// TestWickedStart starts servers that cannot be used and looks at the messages to the user.
func TestWickedStart(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Wicked)
	for _, tt := range []struct{ mode, what, stderr, hint string }{
		{"exit", "exited with status 3 before it had answered initialize", "cannot open the database", "by hand"},
		{"garbage", `wrote "Welcome to wicked 1.0!" instead of an answer to initialize`, "", "standard output"},
		{"mute", "did not answer initialize within 1s", "", "--start-timeout"},
		{"init-mute", "did not answer initialize within 1s", "", "--start-timeout"},
		{"init-error", `refused initialize: {"code":-32603,"message":"no licence"}`, "", "--protocol-version"},
		{"init-exit", "exited with status 1 before it had answered initialize", "", "by hand"},
		{"flood-garbage", `wrote "garbage garbage`, "", "standard output"},
		{"flood-own", "flooded its standard output", "", "standard output"},
		{"flood-line", "flooded its standard output", "", "standard output"},
		{"flood-brackets", "flooded its standard output", "", "standard output"},
		{"no-newline", "did not answer initialize within 1s", "", ""},
		{"pretty", `wrote "{\"jsonrpc\":\"2.0\"," instead of an answer`, "", "standard output"},
		{"close-stdout", "closed its standard output before it had answered tools/list", "", "writes its answers there"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			before := runtime.NumGoroutine()
			target := &Target{Command: server.Command{Args: []string{program, tt.mode}, StartTimeout: time.Second}}
			ex, err := target.Open(t.Context(), teasel.Role{})
			var start *server.StartError
			if !errors.As(err, &start) {
				if err == nil {
					ex.Close()
				}
				t.Fatalf("the error is %v", err)
			}
			if !strings.Contains(start.Error(), tt.what) || !strings.Contains(start.Stderr, tt.stderr) || !strings.Contains(start.Hint, tt.hint) {
				t.Errorf("the messages: %v\n%s\nhint: %s", start, start.Stderr, start.Hint)
			}
			checkNothingLeft(t, before)
		})
	}
}

// TestWickedClosesInput: whether the server is found out before or after it has been opened is a race that it decides.
func TestWickedClosesInput(t *testing.T) {
	before := runtime.NumGoroutine()
	target := &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, plantedtest.Wicked), "close-stdin"}, Timeout: 500 * time.Millisecond}}
	ex, err := target.Open(t.Context(), teasel.Role{})
	if err != nil {
		if !strings.Contains(err.Error(), "closed its standard input") {
			t.Errorf("the error is %v", err)
		}
		checkNothingLeft(t, before)
		return
	}
	tr, obs := execute(t, ex.(*executor), call("echo", `{"message":"hi"}`))
	if obs.Exit != teasel.ExitHang || !tr.Unresponsive {
		t.Errorf("it ended as %v: %+v", obs.Exit, tr.End)
	}
	if err := ex.Close(); err != nil {
		t.Error(err)
	}
	checkNothingLeft(t, before)
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.py")
	if err := os.WriteFile(file, []byte("print()"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command   []string
		dir, what string
	}{
		{nil, "", "no command was given"},
		{[]string{"teasel-no-such-server"}, "", "command not found: teasel-no-such-server"},
		{[]string{"/no/such/server"}, "", "no such file or directory: /no/such/server"},
		{[]string{file}, "", "not executable: " + file},
		{[]string{"cat"}, "/no/such/directory", "no such file or directory"},
		{[]string{"cat"}, "", `wrote "{\"jsonrpc\"`},
	} {
		target := &Target{Command: server.Command{Args: tt.command, Dir: tt.dir, StartTimeout: time.Second}}
		_, err := target.Discover(t.Context())
		var start *server.StartError
		if !errors.As(err, &start) || !strings.Contains(err.Error(), tt.what) {
			t.Errorf("%q: the error is %v, want %q in it", tt.command, err, tt.what)
		}
	}
}

func TestStartIsCancelled(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	target := &Target{Command: server.Command{Args: []string{"sleep", "1000"}}}
	if _, err := target.Open(ctx, teasel.Role{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	checkNothingLeft(t, before)
}

// TestWickedRun runs calls on servers that misbehave later. Whatever they do, all that was started is gone afterwards.
func TestWickedRun(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Wicked)
	all := func(exit teasel.Exit) map[teasel.Exit]bool { return map[teasel.Exit]bool{exit: true} }
	ok := all(teasel.ExitOK)
	fine := func(tr *script.Transcript) bool {
		return len(tr.Received) == 1 && tr.Sent[0].Answer == 0 && tr.Noisy == 0
	}
	deaf := func(tr *script.Transcript) bool { return tr.Unresponsive && tr.End.Kind == script.EndKilled }
	hung := func(tr *script.Transcript) bool {
		return tr.Hung && !tr.Unresponsive && tr.End.Kind == script.EndInvalid
	}
	for _, tt := range []struct {
		mode   string
		alone  teasel.Exit
		looks  func(*script.Transcript) bool
		batch  map[teasel.Exit]bool // what may come of 40 calls; true: what must
		faulty string               // in the session's trouble
	}{
		{"plain", teasel.ExitOK, fine, ok, ""},
		{"banner", teasel.ExitOK, fine, ok, ""},
		{"init-version", teasel.ExitOK, fine, ok, ""},
		{"init-no-info", teasel.ExitOK, fine, ok, ""},
		{"init-wrong-types", teasel.ExitOK, fine, ok, "no protocolVersion"},
		{"flood-stderr", teasel.ExitOK, fine, ok, ""},
		{"flood-stderr-line", teasel.ExitOK, fine, ok, ""},
		{"flood-requests", teasel.ExitOK, func(tr *script.Transcript) bool { return tr.Sent[0].Answer >= 0 }, ok, ""},
		{"flood-replies", teasel.ExitOK, func(tr *script.Transcript) bool { return len(tr.Received) > 90 }, ok, ""},
		{"crlf", teasel.ExitOK, fine, ok, ""},
		{"stop-reading", teasel.ExitHang, deaf, map[teasel.Exit]bool{teasel.ExitLost: true, teasel.ExitOK: false}, "no answer"},
		{"partial", teasel.ExitOK, fine, map[teasel.Exit]bool{teasel.ExitOK: true, teasel.ExitLost: false}, ""}, // it is the number of requests
		{"killed", teasel.ExitOK, fine, map[teasel.Exit]bool{teasel.ExitOK: true, teasel.ExitCrash: false, teasel.ExitLost: false}, ""},
		{"exit-each-100", teasel.ExitOK, fine, ok, ""},
		{"deep", teasel.ExitOK, func(tr *script.Transcript) bool { return tr.Received[0].Message.Root == nil && tr.Sent[0].Answer == 0 }, ok, ""},
		{"stubborn", teasel.ExitOK, fine, ok, ""},
		{"fork", teasel.ExitOK, fine, ok, ""},
		{"fork-session", teasel.ExitOK, fine, ok, ""},
		{"many-tools", teasel.ExitOK, fine, ok, ""},
		{"endless-pages", teasel.ExitOK, fine, ok, `the cursor "more" comes again`},
		{"fresh-pages", teasel.ExitOK, fine, ok, "does not end"},
		{"bad-schema", teasel.ExitOK, fine, ok, "without a name"},
		{"null-tools", teasel.ExitOK, fine, ok, `no array "tools"`},
		{"twice", teasel.ExitOK, func(tr *script.Transcript) bool { return len(tr.Received) == 2 && tr.Received[1].Sent == 0 }, ok, ""},
		{"out-of-order", teasel.ExitOK, fine, ok, ""},
		{"wrong-id", teasel.ExitHang, hung, ok, ""},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{program, tt.mode}, Timeout: 500 * time.Millisecond, StartTimeout: 10 * time.Second}})
			if trouble := strings.Join(e.session.Trouble, "; "); !strings.Contains(trouble, tt.faulty) || tt.faulty == "" && trouble != "" {
				t.Errorf("trouble: %s", trouble)
			}
			echo := call("echo", `{"message":"hi"}`)
			tr, obs := execute(t, e, echo)
			if obs.Exit != tt.alone || !tt.looks(tr) {
				t.Errorf("alone it ended as %v, %q: %+v", obs.Exit, obs.Detail, tr)
			}
			ins := make([]script.Script, 40)
			for i := range ins {
				ins[i] = echo
			}
			seen := map[teasel.Exit]int{}
			for _, x := range exits(executeBatch(t, e, ins...)) {
				seen[x]++
				if _, may := tt.batch[x]; !may {
					t.Fatalf("in a batch one ended as %v", x)
				}
			}
			for x, must := range tt.batch {
				if must && seen[x] == 0 {
					t.Errorf("in a batch they ended as %v", seen)
				}
			}
		})
	}
}

// TestWickedFlood: a server that never stops writing is cut off, and its pipes do not hold us up.
func TestWickedFlood(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Wicked)
	// On one processor little more than a pipe holds is written between a call and its answer.
	many := slices.Repeat([]string{string(call("echo", `{"message":"hi"}`).Steps[0].Line)}, 1000)
	for _, mode := range []string{"flood-notifications", "huge"} {
		t.Run(mode, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{program, mode}, Timeout: 20 * time.Second}})
			tr, obs := execute(t, e, lineScript(many...))
			if !tr.Flood || obs.Exit != teasel.ExitCrash || tr.End.Kind != script.EndKilled || obs.Elapsed <= 0 {
				t.Errorf("it ended as %v after %v: %+v", obs.Exit, obs.Elapsed, tr.End)
			}
		})
	}
}

// TestLargeAnswers: of many answers of a megabyte only so many are kept as fit into the memory of a call, with their trees, or one; nobody is
// called silent for it, and later batches are smaller.
func TestLargeAnswers(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, plantedtest.Wicked), "large"}, Timeout: 20 * time.Second}})
	ins := slices.Repeat([]script.Script{call("echo", `{"message":"hi"}`)}, 64)
	obs := make([]teasel.Observation, len(ins))
	n, err := e.ExecBatch(t.Context(), ins, obs)
	if err != nil || n != len(ins) {
		t.Fatalf("%d ran, %v", n, err)
	}
	judge := judge.Detectors(judge.DetectorConfig{})[0]
	kept, most, whole := 0, 0, 0
	for i := range obs {
		tr := obs[i].Evidence.(*script.Transcript)
		if !tr.Cut {
			whole++
			weight := 2 * len(tr.Received[0].Raw)
			tr.Received[0].Message.Root.Walk(func(string, *mutate.JSON) bool {
				weight += nodeBytes
				return true
			})
			kept, most = kept+weight, max(most, weight)
		}
		if obs[i].Exit != teasel.ExitOK || obs[i].Runs != 1 || tr.Sent[0].Answer != 0 {
			t.Fatalf("one ended as %v after %d executions, answered by %d", obs[i].Exit, obs[i].Runs, tr.Sent[0].Answer)
		}
		if found := judge.Detect(&obs[i]); len(found) > 0 {
			t.Errorf("cut %v: %s", tr.Cut, found[0].Message)
		}
	}
	if kept > max(maxKeptBytes, most) || whole == 0 || whole == len(obs) {
		t.Errorf("answers and trees of %d bytes were kept, all of %d answers, of which the largest has %d", kept, whole, most)
	}
	if n, err = e.ExecBatch(t.Context(), ins, obs); err != nil || n > len(ins)/8 {
		t.Errorf("the next time %d ran, %v", n, err)
	}
}

// TestWickedSlow: a slow tool holds up nothing but itself.
func TestWickedSlow(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, plantedtest.Wicked), "slow-tool-apart"}, Timeout: 10 * time.Second}})
	var slow string
	for _, tool := range e.session.Tools {
		if tool.Name != "echo" {
			slow = tool.Name
		}
	}
	if slow == "" {
		t.Fatal("there is no slow tool")
	}
	var ins []script.Script
	for range 30 {
		ins = append(ins, call(slow, `{"message":"a"}`), call("echo", `{"message":"b"}`))
	}
	ran := 0
	for range 3 {
		obs := executeBatch(t, e, ins...)
		for i := range obs {
			switch {
			case i%2 == 0:
				ran += int(obs[i].Runs)
			case obs[i].Runs != 1 || obs[i].Evidence == nil:
				t.Fatalf("echo was not run: %v", obs[i].Exit)
			}
		}
	}
	if ran == 0 || ran > 3*e.target.window() {
		t.Errorf("%d slow scripts were run", ran)
	}
	_, late := awaitLate(t, e, ran)
	for i := range late {
		if tr := late[i].Evidence.(*script.Transcript); late[i].Exit != teasel.ExitOK || tr.Sent[0].Answer != 0 || late[i].Runs != 0 {
			t.Errorf("a slow call ended as %v after %d more executions", late[i].Exit, late[i].Runs)
		}
	}
}
