package run

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// calls returns a script of calls of the late server, one after the other.
func calls(messages ...string) (s script.Script) {
	s.Start = script.Shared
	for _, m := range messages {
		s.Steps = append(s.Steps, call("echo", `{"message":"`+m+`"}`).Steps...)
	}
	return s
}

// setAside runs a script until it waits for its answer while others go on.
func setAside(t *testing.T, e *executor, in script.Script) {
	t.Helper()
	for range 10 { // on a busy machine the answer may come first
		if executeBatch(t, e, calls("fine"), in); len(e.waiting) == 1 {
			return
		}
	}
	t.Fatal("it is not set aside")
}

// goOn runs other scripts, none of which may fare badly, until one of several lines that was set aside is handed back.
func goOn(t *testing.T, e *executor, ins ...script.Script) teasel.Observation {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for i, x := range exits(executeBatch(t, e, ins...)) {
			if x != teasel.ExitOK {
				t.Fatalf("script %d beside it ended as %v", i, x)
			}
		}
		for i, l := range e.back {
			if slices.Contains(e.resumed, l) || slices.Contains(e.back[i+1:], l) {
				t.Fatal("it is handed back, and goes on all the same")
			}
		}
		var o teasel.Observation
		if in, ok := e.Late(&o); ok && len(in.Steps) > 1 {
			return o
		}
	}
	t.Fatal("it does not go on")
	return teasel.Observation{}
}

// TestResumedDeath: a script that kills the server after it was set aside is found out, and nobody else is blamed.
func TestResumedDeath(t *testing.T) {
	for _, beside := range []int{1, 40} {
		t.Run(strconv.Itoa(beside), func(t *testing.T) {
			e := lateServer(t)
			setAside(t, e, calls("slow", "die"))
			o := goOn(t, e, slices.Repeat([]script.Script{calls("fine")}, beside)...)
			if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitCrash || tr.End.Code != 9 || len(tr.Sent) != 2 {
				t.Errorf("it ended as %v after %d lines", o.Exit, len(tr.Sent))
			}
			if e.riddles != 0 {
				t.Errorf("nobody was found for %d deaths", e.riddles)
			}
		})
	}
}

// TestSetAsideTwice: a script that is set aside once more, and answered while others are still run, goes on to its end, and
// is handed back once.
func TestSetAsideTwice(t *testing.T) {
	for _, messages := range [][]string{{"slower", "slower"}, {"slower", "slower", "fine"}} {
		t.Run(strconv.Itoa(len(messages)), func(t *testing.T) {
			e := lateServer(t)
			setAside(t, e, calls(messages...))
			naps := slices.Repeat([]script.Script{calls("nap")}, 100)
			o := goOn(t, e, naps...)
			if tr := o.Evidence.(*script.Transcript); o.Exit != teasel.ExitOK || len(tr.Sent) != len(messages) || tr.Sent[len(messages)-1].Answer < 0 {
				t.Errorf("of %d calls %d were made, and it ended as %v", len(messages), len(tr.Sent), o.Exit)
			}
			executeBatch(t, e, naps...)
			if slices.ContainsFunc(e.back, func(l *lane) bool { return len(l.in.Steps) > 1 }) {
				t.Error("it is handed back again")
			}
		})
	}
}

// TestResumedOrphan: a script that was set aside, and loses its server just before it can go on, begins once more.
func TestResumedOrphan(t *testing.T) {
	e := lateServer(t)
	setAside(t, e, calls("slow", "fine"))
	for len(e.resumed) == 0 && t.Context().Err() == nil {
		if !e.drain() {
			t.Fatal("the server has ended")
		}
		time.Sleep(time.Millisecond)
	}
	if err := e.drop(e.live); err != nil {
		t.Fatal(err)
	}
	executeBatch(t, e, calls("fine")) // on another server, after which it is quiet for a while
	e.taken = time.Now().Add(-spareTime)
	if o := goOn(t, e, calls("fine")); o.Exit != teasel.ExitOK || len(o.Evidence.(*script.Transcript).Sent) != 2 {
		t.Errorf("it ended as %v", o.Exit)
	}
}
