package netproto

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server whose processes are used up one by one, and that answers nobody then, is found by the clients that get no answer, with what it
// had before; and by the dialogue that uses them up. One that takes the same lines and goes on is not.
func TestNobodyIsAnswered(t *testing.T) {
	for program, found := range map[string]bool{plantedSource(t, "prefork.c", "clang"): true, plantedSource(t, "prefork.c", "clang", "-DCLEAN"): false} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}})
		exec := func(line string) []teasel.Finding {
			var o teasel.Observation
			if err := e.Exec(t.Context(), dialogue.Raw([]byte(line)), &o); err != nil {
				t.Fatal(err)
			}
			return judge.Detect(&o)
		}
		exec("fine\n")
		var fs []teasel.Finding
		for _, line := range slices.Concat(slices.Repeat([]string{"take\n"}, 4), slices.Repeat([]string{"fine\n"}, 4)) {
			if fs = exec(line); len(fs) > 0 {
				break
			}
		}
		if got := len(fs) == 1 && fs[0].Rule == judge.RuleUnanswered; got != found || !found && len(fs) > 0 {
			t.Errorf("findings %+v, want one that nobody is answered: %t", fs, found)
		}
		takes := 0
		for _, d := range e.History(nil) {
			if string(d.Messages[0].Data) == "take\n" {
				takes++
			}
		}
		if takes < 4 { // one that seems to be new is held twice
			t.Errorf("the history has %d of the 4 dialogues to blame", takes)
		}
		in := dialogue.Raw([]byte("take\n"), []byte("take\n"), []byte("take\n"), []byte("take\n"))
		for i := range in.Messages {
			in.Messages[i].Reconnect = i > 0
		}
		fs, _, err := teasel.Replay(t.Context(), e, Detectors(), in)
		if got := len(fs) == 1 && fs[0].Rule == judge.RuleUnanswered; err != nil || got != found {
			t.Errorf("findings %+v of one dialogue, %v, want one that nobody is answered: %t", fs, err, found)
		}
	}
}

// huntUnanswered fuzzes a server with lines as seeds. Where found is true it has to have one finding, that clients are not answered any more,
// confirmed; else nothing.
func huntUnanswered(t *testing.T, program string, runs uint64, found bool, lines ...string) teasel.Summary {
	t.Helper()
	c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Timeout: 200 * time.Millisecond}, &dialogue.Mutator{})
	for _, line := range lines {
		c.Seeds = append(c.Seeds, dialogue.Raw([]byte(line)))
	}
	c.Runs, c.Seed = runs, 1
	s := run(t, c)
	if got := len(s.Findings) == 1 && s.Findings[0].Rule == judge.RuleUnanswered && s.Findings[0].Confirmed(); got != found || !found && len(s.Findings)+len(s.Unconfirmed) > 0 {
		t.Errorf("findings%s, unconfirmed%s, want one: %t", brief(s.Findings), brief(s.Unconfirmed), found)
	}
	return s
}

// A server that deals out its clients to two threads, of which one waits for ever, answers each second client. The dialogue that brought that
// about is found, though others are answered before and after it and though some lines are never answered.
func TestSomeAreNotAnswered(t *testing.T) {
	for program, found := range map[string]bool{plantedSource(t, "halves.c", "clang", "-pthread"): true, plantedSource(t, "halves.c", "clang", "-pthread", "-DCLEAN"): false} {
		s := huntUnanswered(t, program, 400, found, "hello\n", "shut\n", "lock\n")
		for _, f := range s.Findings {
			if d, err := (dialogue.Codec{}).Decode(f.Input); err != nil || len(d.Messages) != 1 {
				t.Errorf("%v: the dialogue has %d messages, want the one to blame: %s", err, len(d.Messages), f.Detail)
			}
		}
	}
}

// A lock that is kept is found by what needs it, though the first thing that a fresh client says is answered as before. What a fresh server does not
// answer either is no sign of one.
func TestLockIsKept(t *testing.T) {
	for program, found := range map[string]bool{plantedSource(t, "ledger.c", "clang", "-pthread"): true, plantedSource(t, "ledger.c", "clang", "-pthread", "-DCLEAN"): false} {
		s := huntUnanswered(t, program, 200, found, "hello\n", "wait\n", "sum\n", "post 1 2\n", "post 1 1\n", "sum it\n")
		for _, f := range s.Findings {
			if strings.Count(f.Detail, ">") != 1 || !strings.Contains(f.Detail, `"post`) {
				t.Errorf("want what keeps the lock alone: %s", f.Detail)
			}
		}
	}
}

// A server that sleeps for an hour when a client goes away within a line is found by that client, at once.
func TestSleepIsNoticed(t *testing.T) {
	const script = `import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    c, _ = s.accept()
    data = c.recv(4096)
    if data.endswith(b"\n"):
        c.sendall(b"ok\n")
    elif data and sys.argv[2] == "bad":
        time.sleep(3600)
    c.close()
`
	for mode, found := range map[string]bool{"bad": true, "clean": false} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 100 * time.Millisecond})
		for _, line := range []string{"hello\n", "", "", "hell"} {
			var o teasel.Observation
			if err := e.Exec(t.Context(), dialogue.Raw([]byte(line)), &o); err != nil {
				t.Fatal(err)
			}
			if fs := judge.Detect(&o); (len(fs) == 1 && fs[0].Rule == judge.RuleUnanswered) != (found && line == "hell") {
				t.Errorf("%s: %q: findings %+v", mode, line, fs)
			}
		}
	}
}

// A server over UDP that answers nobody after its first datagram is found by the next ones, and one that goes on is not.
func TestNobodyIsAnsweredOverUDP(t *testing.T) {
	const script = `import socket, sys, threading
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
lock = threading.Lock()
while True:
    data, client = s.recvfrom(4096)
    lock.acquire()
    if data == b"lock" and sys.argv[2] == "bad":
        continue
    lock.release()
    s.sendto(b"ok", client)
`
	for mode, found := range map[string]bool{"bad": true, "clean": false} {
		seeds := []*dialogue.Dialogue{dialogue.Raw([]byte("lock")), dialogue.Raw([]byte("hello"))}
		c := Campaign(Target{Address: "udp://127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 200 * time.Millisecond}, &dialogue.Mutator{})
		c.Seeds, c.Runs, c.Seed = seeds, 400, 1
		s := run(t, c)
		if got := len(s.Findings) == 1 && s.Findings[0].Rule == judge.RuleUnanswered && s.Findings[0].Confirmed(); got != found || len(s.Findings) > 1 || !found && len(s.Unconfirmed) > 0 {
			t.Errorf("%s: findings%s, unconfirmed%s", mode, brief(s.Findings), brief(s.Unconfirmed))
		}
	}
}

// A server that takes one client at a time, and a while for each, is not one that answers nobody: a fresh client waits for those that have
// gone.
func TestSlowServerAnswers(t *testing.T) {
	const script = `import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    c, _ = s.accept()
    try:
        c.sendall(b"220 hi\r\n")
        while c.recv(65536):
            for b in b"200 okay then\r\n":
                c.sendall(bytes([b]))
                time.sleep(0.02)
    except OSError:
        pass
    c.close()
`
	c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}"}}, &dialogue.Mutator{})
	c.Seeds, c.Runs, c.Seed = []*dialogue.Dialogue{dialogue.Raw([]byte("hello\n")), dialogue.Raw([]byte("get x\n"))}, 60, 1
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings)+len(s.Unconfirmed) > 0 {
		t.Errorf("findings %v, unconfirmed %v", s.Findings, s.Unconfirmed)
	}
}

// A server that bans an address after some errors, and serves others, is not one that answers nobody.
func TestBanIsNoFault(t *testing.T) {
	const script = `import collections, socket, sys, threading
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
errors = collections.Counter()
def serve(c, host):
    try:
        while errors[host] < 5:
            line = c.recv(4096)
            if not line:
                break
            if line.startswith(b"hello"):
                c.sendall(b"200 hello\\n")
            else:
                errors[host] += 1
                c.sendall(b"500 what\\n")
    except OSError: pass
    c.close()
while True:
    c, where = s.accept()
    threading.Thread(target=serve, args=(c, where[0] if sys.argv[2] == "clean" else "all"), daemon=True).start()
`
	for mode, found := range map[string]bool{"bad": true, "clean": false} {
		c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 200 * time.Millisecond}, &dialogue.Mutator{})
		c.Seeds, c.Runs, c.Seed = []*dialogue.Dialogue{dialogue.Raw([]byte("hello\n")), dialogue.Raw([]byte("hello\n"), []byte("hello\n"))}, 400, 1
		if s := run(t, c); len(s.Findings)+len(s.Unconfirmed) > 0 != found {
			t.Errorf("%s: findings%s, unconfirmed%s", mode, brief(s.Findings), brief(s.Unconfirmed))
		}
	}
}

// A server that turns away each client at once, since those that have gone without a word of leave still count, answers nobody any more, whatever it
// says to them. One that counts them out is not at fault, nor is one that turns a client away while another is there.
func TestTurnedAway(t *testing.T) {
	const script = `import socket, sys, threading
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
here = []
def serve(c):
    left = False
    try:
        while not left:
            line = c.recv(4096)
            if not line:
                break
            left = line.startswith(b"quit")
            c.sendall(b"221 bye\n" if left else b"200 " + line)
    except OSError: pass
    if left or sys.argv[2] == "clean":
        here.remove(c)
    c.close()
while True:
    c, _ = s.accept()
    if len(here) >= 12:
        c.sendall(b"421 too many clients\n")
        c.close()
        continue
    here.append(c)
    threading.Thread(target=serve, args=(c,), daemon=True).start()
`
	for mode, found := range map[string]bool{"bad": true, "clean": false} {
		c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 200 * time.Millisecond}, &dialogue.Mutator{})
		c.Seeds, c.Runs, c.Seed = []*dialogue.Dialogue{dialogue.Raw([]byte("hello\n"), []byte("quit\n"))}, 400, 1
		s := run(t, c)
		if got := len(s.Findings) == 1 && s.Findings[0].Rule == judge.RuleUnanswered && s.Findings[0].Confirmed(); got != found || len(s.Findings)+len(s.Unconfirmed) > 1 || !found && len(s.Unconfirmed) > 0 {
			t.Errorf("%s: findings%s, unconfirmed%s, want one: %t", mode, brief(s.Findings), brief(s.Unconfirmed), found)
		}
		for _, f := range s.Findings {
			if !strings.Contains(f.Message, "421 too many clients") {
				t.Errorf("the finding lacks the words of the server: %s", f.Message)
			}
		}
	}
}

// What a server has for its clients may be used up by one dialogue that is held a dozen times: repeating that shows which it is. Where it is given back,
// or what a client may have is what is used up and the server says so, there is no fault.
func TestUsedUpByRepetition(t *testing.T) {
	const script = `import socket, sys, threading
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
places = threading.Semaphore(12)
def serve(c):
    took = False
    try:
        while True:
            line = c.recv(4096)
            if not line:
                break
            if line.startswith(b"join") and not took:
                took = places.acquire(blocking=sys.argv[2] != "stock")
            c.sendall(b"200 " + line if took else b"403 " + line)
    except OSError: pass
    if took and sys.argv[2] == "clean":
        places.release()
    c.close()
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
`
	for mode, found := range map[string]bool{"bad": true, "clean": false, "stock": false} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 200 * time.Millisecond})
		if err := e.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		fs, _, err := teasel.Replay(t.Context(), e, Detectors(), dialogue.Raw([]byte("join\n")))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(fs) == 1 && fs[0].Rule == judge.RuleUnanswered && Repetitions(&fs[0]) > 1; got != found || !found && len(fs) > 0 {
			t.Errorf("%s: findings %+v, want one of repetition: %t", mode, fs, found)
		}
	}
}

// A server that breaks off each connection as soon as it has taken it answers nobody any more, whether we see that while we connect or later: it
// is one fault.
func TestResetAtOnce(t *testing.T) {
	const script = `import socket, struct, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
broken = False
while True:
    c, _ = s.accept()
    if broken:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    try:
        while not broken:
            line = c.recv(4096)
            if not line:
                break
            broken = line.startswith(b"break")
            c.sendall(b"200 fine\r\n")
    except OSError:
        pass
    c.close()
`
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}"}, Timeout: 100 * time.Millisecond})
	for range 8 {
		var fs []teasel.Finding
		for n := 0; n < 2*unknownDialogues && len(fs) == 0; n++ {
			line := "fine\n"
			if n == 1 {
				line = "break\n"
			}
			o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
			if err := e.Exec(t.Context(), dialogue.Raw([]byte(line)), &o); err != nil {
				t.Fatal(err)
			}
			fs = judge.Detect(&o)
		}
		if len(fs) != 1 || fs[0].Rule != judge.RuleUnanswered {
			t.Fatalf("findings %+v, want one that nobody is answered", fs)
		}
	}
}

// A fault that only the client behind a dialogue is shown, which the server has left without an answer, belongs to that dialogue: it is confirmed and
// minimised, and on the clean twin there is none.
func TestFreshClientSeesFault(t *testing.T) {
	const script = `import select, socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
trapped = False
while True:
    c, _ = s.accept()
    if trapped and sys.argv[2] == "exit":
        sys.exit(3)
    while trapped and sys.argv[2] == "hang":
        pass
    if trapped and sys.argv[2] == "close":
        s.close()
        time.sleep(3600)
    trapped = False
    try:
        data = c.recv(4096)
        if data.startswith(b"trap"):
            trapped = True
            select.select([c], [], [], 3600)
        elif data:
            c.sendall(b"ok\n")
    except OSError:
        pass
    c.close()
`
	for mode, rule := range map[string]string{"exit": judge.RuleExit, "hang": judge.RuleHang, "close": judge.RuleClosed, "clean": ""} {
		t.Run(mode, func(t *testing.T) {
			c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", mode}, Timeout: 100 * time.Millisecond}, &dialogue.Mutator{})
			c.Seeds, c.Runs, c.Seed = []*dialogue.Dialogue{dialogue.Raw([]byte("hello\n")), dialogue.Raw([]byte("trap\n"))}, 200, 1
			s := run(t, c)
			if rule == "" {
				if len(s.Findings)+len(s.Unconfirmed) > 0 {
					t.Errorf("findings%s, unconfirmed%s, want none", brief(s.Findings), brief(s.Unconfirmed))
				}
				return
			}
			if len(s.Findings) != 1 || s.Findings[0].Rule != rule || !s.Findings[0].Confirmed() {
				t.Fatalf("findings%s, unconfirmed%s, want one of %s", brief(s.Findings), brief(s.Unconfirmed), rule)
			}
			if detail := s.Findings[0].Detail; strings.Count(detail, "> ") != 1 || !strings.Contains(detail, "trap") {
				t.Errorf("the finding has more than the dialogue to blame: %s", detail)
			}
		})
	}
}
