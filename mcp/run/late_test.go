package run

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestLateServer is not a test but the server of the next ones: it does things some time after it has answered.
func TestLateServer(t *testing.T) {
	if os.Getenv("TEASEL_TEST_SERVER") == "" {
		t.Skip("it is the server of other tests")
	}
	defer os.Exit(0)
	delays := map[string]time.Duration{"slow": 200 * time.Millisecond, "slower": 400 * time.Millisecond}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		m := jsonrpc.Parse(in.Bytes())
		if m.Class != jsonrpc.ClassRequest {
			continue
		}
		switch message, _ := m.Params.Get("arguments").Get("message").Str(); {
		case m.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"late","version":"1"}}}`+"\n", m.ID)
		case message == "never":
		case message == "die":
			os.Exit(9)
		case message == "stop":
			time.Sleep(time.Hour)
		case message == "block":
			time.Sleep(1500 * time.Millisecond)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
		case message == "work":
			work(lateWork)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
		case message == "nap":
			time.Sleep(5 * time.Millisecond)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
		case delays[message] > 0:
			time.AfterFunc(delays[message], func() {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
			})
		case strings.HasPrefix(message, "endless "):
			repeat(strings.TrimPrefix(message, "endless "), m.ID)
		case message == "die slowly":
			time.AfterFunc(600*time.Millisecond, func() { panic("slowly") })
		case message == "trace":
			fmt.Fprintln(os.Stderr, "panic: recovered\n\ngoroutine 1 [running]:")
			fallthrough
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`+"\n", m.ID, message)
			if message == "die loudly" {
				fmt.Fprintln(os.Stderr, "panic: loudly\n\ngoroutine 1 [running]:")
				time.AfterFunc(60*time.Millisecond, func() { os.Exit(9) })
			}
			switch message {
			case "die soon":
				time.AfterFunc(time.Millisecond, func() { os.Exit(9) })
			case "die later":
				time.AfterFunc(30*time.Millisecond, func() { os.Exit(9) })
			}
		}
	}
}

// lateWork is how much of a processor the server uses when it is to work.
const lateWork = 150 * time.Millisecond

// work uses a processor for so long, however long that takes.
func work(d time.Duration) {
	used := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for from := used(); used()-from < d; {
	}
}

// repeat says something about a request for ever.
func repeat(what, id string) {
	line := map[string]string{
		"answers":      `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`,
		"progress":     `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`,
		"late answers": fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, firstID+1),
	}[what]
	for {
		fmt.Println(line)
	}
}

func lateTarget() *Target {
	return &Target{
		Command: []string{os.Args[0], "-test.run=^TestLateServer$"}, Env: []string{"TEASEL_TEST_SERVER=1"}, Timeout: 5 * time.Second,
	}
}

func lateServer(t *testing.T) *executor { return open(t, lateTarget()) }

// TestIdleDeath: a server that dies when everything has been answered is put down to the script that did it.
func TestIdleDeath(t *testing.T) {
	e := lateServer(t)
	fine, late := call("echo", `{"message":"fine"}`), call("echo", `{"message":"die later"}`)
	for _, x := range exits(executeBatch(t, e, fine, late, fine)) {
		if x != teasel.ExitOK {
			t.Fatalf("what was answered ended as %v", x)
		}
	}
	<-e.live.Proc.Ended()
	for _, x := range exits(executeBatch(t, e, fine, fine)) {
		if x != teasel.ExitOK {
			t.Fatalf("what came after it ended as %v", x)
		}
	}
	ins, obs := stragglers(t, e, 1)
	if !strings.Contains(string(ins[0].Steps[0].Line), "die later") || obs[0].Exit != teasel.ExitCrash || obs[0].Evidence.(*script.Transcript).End.Code != 9 {
		t.Errorf("%s is blamed, which ended as %v", ins[0].Steps[0].Line, obs[0].Exit)
	}
	if _, o := execute(t, e, late); o.Exit != teasel.ExitCrash {
		t.Errorf("by itself it ends as %v", o.Exit)
	}
}

// TestBusyDeath: a script that kills the server some time after its answer does so by itself too, once the server has died
// while others were in flight.
func TestBusyDeath(t *testing.T) {
	late := call("echo", `{"message":"die later"}`)
	ins := []script.Script{late}
	for range 40 {
		ins = append(ins, call("echo", `{"message":"nap"}`))
	}
	inTime(t, func(e *executor) (wrong string) {
		lost := false
		for _, x := range exits(executeBatch(t, e, ins...)) {
			lost = lost || x > teasel.ExitRejected
		}
		if !lost {
			return "the server lives"
		}
		return dies(t, e, late)
	})
}

// dies says what is wrong if a script by itself does not kill the server.
func dies(t *testing.T, e *executor, in script.Script) (wrong string) {
	if _, o := execute(t, e, in); o.Exit != teasel.ExitCrash {
		return fmt.Sprintf("by itself it ends as %v", o.Exit)
	}
	return ""
}

// inTime tries something that a busy machine may be too slow for: a server takes its time to die, and is not waited for
// longer than lingerTime.
func inTime(t *testing.T, try func(e *executor) (wrong string)) {
	t.Helper()
	var wrong string
	for range 5 {
		e, end := begin(t, lateTarget())
		wrong = try(e)
		end()
		if wrong == "" {
			return
		}
	}
	t.Error(wrong)
}

// TestDeathAmongGarbage: once a server has died while a script said things that take time and that nobody answers, what
// was answered before them is watched for longer, and turns out to do by itself.
func TestDeathAmongGarbage(t *testing.T) {
	late := call("echo", `{"message":"die later"}`)
	long := late
	for range 6 {
		long.Steps = append(slices.Clone(long.Steps), script.SendText("{"))
	}
	inTime(t, func(e *executor) (wrong string) {
		if _, o := execute(t, e, long); o.Exit != teasel.ExitCrash {
			return fmt.Sprintf("with lines behind it it ends as %v", o.Exit)
		}
		return dies(t, e, late)
	})
}

// TestBusyDeathInTurn: which script it was comes out when all are run again in turn, and nobody else is to blame.
func TestBusyDeathInTurn(t *testing.T) {
	const guilty = 17
	for _, message := range []string{"die soon", "die later"} {
		t.Run(message, func(t *testing.T) {
			e := lateServer(t)
			var ins []script.Script
			for range 40 {
				ins = append(ins, call("echo", `{"message":"nap"}`))
			}
			ins[guilty] = call("echo", `{"message":"`+message+`"}`)
			for i, x := range exits(executeBatch(t, e, ins...)) {
				if (x == teasel.ExitCrash) != (i == guilty) || i != guilty && x != teasel.ExitOK {
					t.Errorf("script %d ended as %v", i, x)
				}
			}
			if e.riddles != 0 {
				t.Errorf("nobody was found for %d deaths", e.riddles)
			}
		})
	}
}

// TestDeafInTurn: of several requests that are not answered, it is not the first that has made the server deaf.
func TestDeafInTurn(t *testing.T) {
	const guilty = 9
	e := lateServer(t)
	var ins []script.Script
	for i := range 20 {
		ins = append(ins, call("echo", `{"message":"fine"}`))
		if i%3 == 0 {
			ins[i] = call("echo", `{"message":"slow"}`)
		}
	}
	ins[guilty] = call("echo", `{"message":"stop"}`)
	for i, x := range exits(executeBatch(t, e, ins...)) {
		if (x == teasel.ExitHang) != (i == guilty) || i != guilty && x != teasel.ExitOK {
			t.Errorf("script %d ended as %v", i, x)
		}
	}
	if e.riddles != 0 {
		t.Errorf("nobody was found %d times", e.riddles)
	}
}

// TestPanicIsNoSurvivor: what a server writes before it dies is not taken for something that it lived through.
func TestPanicIsNoSurvivor(t *testing.T) {
	e := lateServer(t)
	if _, o := execute(t, e, call("echo", `{"message":"die loudly"}`)); o.Exit != teasel.ExitCrash {
		t.Errorf("it ended as %v", o.Exit)
	}
}

// TestParkedDeath: a script that kills the server long after it was set aside is handed out as one that may have.
func TestParkedDeath(t *testing.T) {
	e := lateServer(t)
	fine, slow := call("echo", `{"message":"fine"}`), call("echo", `{"message":"die slowly"}`)
	obs := executeBatch(t, e, fine, slow)
	if obs[1].Evidence != nil || len(e.waiting) != 1 {
		t.Fatalf("it was not set aside, but ended as %v", obs[1].Exit)
	}
	<-e.live.Proc.Ended()
	executeBatch(t, e, fine)
	ins, late := stragglers(t, e, 1)
	if !strings.Contains(string(ins[0].Steps[0].Line), "die slowly") || late[0].Exit != teasel.ExitCrash {
		t.Errorf("%s is blamed, which ended as %v", ins[0].Steps[0].Line, late[0].Exit)
	}
	if _, o := execute(t, e, slow); o.Exit != teasel.ExitCrash {
		t.Errorf("by itself it ends as %v", o.Exit)
	}
}

// TestOrphanHangs: that a script gets no answer comes out although servers die before its time is over.
func TestOrphanHangs(t *testing.T) {
	e := lateServer(t)
	executeBatch(t, e, call("echo", `{"message":"fine"}`), call("echo", `{"message":"never"}`))
	e.taken = time.Now()
	executeBatch(t, e, call("echo", `{"message":"die"}`))
	if len(e.orphans) != 1 {
		t.Fatalf("%d scripts have lost their server, expected 1", len(e.orphans))
	}
	e.orphans[0].last = time.Now().Add(-orphanTime)
	executeBatch(t, e, call("echo", `{"message":"die"}`))
	for len(e.back) > 0 {
		var o teasel.Observation
		if in, _ := e.Late(&o); strings.Contains(string(in.Steps[0].Line), "never") && o.Exit == teasel.ExitHang {
			return
		}
	}
	t.Error("it was not found out")
}

// TestResumedLines: what a script says after it was set aside is kept, whatever is sent after that.
func TestResumedLines(t *testing.T) {
	e := lateServer(t)
	fine, slow := call("echo", `{"message":"fine"}`), call("echo", `{"message":"slow"}`)
	slow.Steps = append(slow.Steps, slow.Steps[0])
	executeBatch(t, e, fine, slow)
	for deadline := time.Now().Add(30 * time.Second); len(e.back) == 0 && (len(e.waiting) == 0 || len(e.waiting[0].t.Sent) != 2); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not go on")
		}
		executeBatch(t, e, fine)
	}
	executeBatch(t, e, call("echo", `{"message":"`+strings.Repeat("other", 100)+`"}`))
	_, late := stragglers(t, e, 1)
	for i, s := range late[0].Evidence.(*script.Transcript).Sent {
		if got := jsonrpc.Parse(s.Raw); got.ID != s.Message.ID || !strings.Contains(string(s.Raw), "slow") {
			t.Errorf("line %d is kept as %s", i, s.Raw)
		}
	}
}

// TestParkedIsInnocent: a script that waits for its answer is not made answerable for a death that another one caused.
func TestParkedIsInnocent(t *testing.T) {
	e := lateServer(t)
	fine, never, die := call("echo", `{"message":"fine"}`), call("echo", `{"message":"never"}`), call("echo", `{"message":"die"}`)
	if executeBatch(t, e, fine, never); len(e.waiting) != 1 {
		t.Fatal("it was not set aside")
	}
	if x := exits(executeBatch(t, e, fine, die, fine)); x[1] != teasel.ExitCrash {
		t.Fatalf("what kills the server ended as %v", x)
	}
	if executeBatch(t, e, fine); len(e.orphans) != 1 {
		t.Errorf("%d scripts wait to be tried again while servers come and go, expected 1", len(e.orphans))
	}
	e.taken = time.Now().Add(-spareTime)
	executeBatch(t, e, fine)
	ins, late := stragglers(t, e, 1) // it was tried again
	if !strings.Contains(string(ins[0].Steps[0].Line), "never") || late[0].Exit != teasel.ExitHang {
		t.Errorf("%s is handed out, which ended as %v", ins[0].Steps[0].Line, late[0].Exit)
	}
}

// TestEndless: a server that says something without end is cut off, even if it was asked for that once.
func TestEndless(t *testing.T) {
	for _, what := range []string{"answers", "progress", "late answers"} {
		t.Run(what, func(t *testing.T) {
			e := lateServer(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var o teasel.Observation
			if err := e.Exec(ctx, calls("endless "+what), &o); err != nil {
				t.Fatal(err)
			}
			if tr := o.Evidence.(*script.Transcript); !tr.Flood || o.Exit != teasel.ExitCrash {
				t.Errorf("it ended as %v: %s", o.Exit, o.Detail)
			}
		})
	}
}

// TestSlowServerIsWaitedFor: a server that answers nothing for a while is taken for deaf soon in a batch, which is looked
// into again; once it was seen to answer after all, it is waited for.
func TestSlowServerIsWaitedFor(t *testing.T) {
	e := lateServer(t)
	block := call("echo", `{"message":"block"}`)
	if o := executeBatch(t, e, block)[0]; o.Exit != teasel.ExitHang {
		t.Errorf("at first it ended as %v", o.Exit)
	}
	if _, o := execute(t, e, block); o.Exit != teasel.ExitOK {
		t.Errorf("with all the time there is it ended as %v", o.Exit)
	}
	before := e.live
	if o := executeBatch(t, e, block)[0]; o.Exit != teasel.ExitOK || e.live != before {
		t.Errorf("after that it ended as %v", o.Exit)
	}
}

// TestStderrIsAttributed: a stack trace that came while many scripts were in flight is shown to the one that has
// caused it, and to no other.
func TestStderrIsAttributed(t *testing.T) {
	e := lateServer(t)
	ins := make([]script.Script, 50)
	for i := range ins {
		ins[i] = call("echo", fmt.Sprintf(`{"message":"fine %d"}`, i))
	}
	ins[33] = call("echo", `{"message":"trace"}`)
	for i, o := range executeBatch(t, e, ins...) {
		tr := o.Evidence.(*script.Transcript)
		if got := strings.Contains(string(tr.Stderr), "goroutine 1"); got != (i == 33) || o.Exit != teasel.ExitOK {
			t.Errorf("script %d ended as %v with %q on standard error", i, o.Exit, tr.Stderr)
		}
	}
	// It is looked into a few times; after that a batch is a single round trip.
	for range 5 {
		executeBatch(t, e, ins...)
	}
	before := e.live.past.Added
	if executeBatch(t, e, ins...); e.live.past.Added != before+len(ins) {
		t.Errorf("%d scripts were run for %d", e.live.past.Added-before, len(ins))
	}
}

// A script that needs a process of its own does not wait until one has loaded. What a mutated one has shown is not lost.
func TestExpensiveScriptWaitsItsTurn(t *testing.T) {
	for _, check := range []string{check.Lifecycle, ""} {
		t.Run(check, func(t *testing.T) {
			target := lateTarget()
			target.Spares = 1
			e := open(t, target)
			e.quick = false // as if it took its time to start
			expensive := script.Script{Start: script.Fresh, Check: check, Steps: append(script.Handshake(session.Versions[len(session.Versions)-1]), script.SendText(ping))}
			const scripts = 4
			ran := 0
			see := func(in *script.Script, o *teasel.Observation) {
				if o.Runs == 0 || in.Start != script.Fresh {
					return
				}
				ran++
				if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitOK || len(tr.Received) < 2 || o.Runs != 2 || !o.Expensive {
					t.Errorf("it ended as %v, with %d answers and %d executions", o.Exit, len(tr.Received), o.Runs)
				}
				if (len(o.Features) > 0) != (check == "") {
					t.Errorf("it has shown %d features", len(o.Features))
				}
			}
			for range scripts {
				ins := []script.Script{lineScript(ping), expensive}
				for i, o := range executeBatch(t, e, ins...) {
					see(&ins[i], &o)
				}
			}
			if ran == scripts || e.ready() {
				t.Errorf("%d scripts have waited for their processes", ran)
			}
			for ran < scripts && t.Context().Err() == nil {
				executeBatch(t, e, lineScript(ping))
				giveWay(e)
				var o teasel.Observation
				if in, ok := e.Late(&o); ok {
					see(&in, &o)
				}
			}
		})
	}
}
