package judge

import (
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// What servers write about their own faults is read, and nothing else is taken for it.
func TestReports(t *testing.T) {
	const (
		aborted   = -int(syscall.SIGABRT)
		segv      = -int(syscall.SIGSEGV)
		alive     = -1000
		address   = "noise\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x4 bp 0x7 sp 0x7\nWRITE of size 1 at 0x602 thread T0\n"
		frames    = "    #0 0x43 in __asan_memcpy (/srv+0x43)\n    #1 0x4f3b in parse_header /src/a.c:17:5\n    #2 0x4f3c in main (/srv+0x4f3c) (BuildId: 12)\n\nfreed by\n    #0 0x1 in other /src/b.c:1:1\n"
		undefined = "a.c:3:5: runtime error: signed integer overflow: 1 + 2\n"
		goStack   = "goroutine 7 [running]:\nmain.(*server).handle(0xc000, {0x1, 0x2})\n\t/src/main.go:12 +0x1d\n" +
			"main.main.func1()\n\t/src/main.go:30 +0x2\ncreated by main.main in goroutine 1\n\t/src/main.go:29 +0x3\n\ngoroutine 1 [IO wait]:\nother.f()\n\t/src/o.go:1 +0x1\n"
		goPanic   = "panic: runtime error: index out of range [5] with length 3\n\n" + goStack
		goKey     = "main.(*server).handle:12 < main.main.func1"
		traceback = "Traceback (most recent call last):\n  File \"/srv/run.py\", line 3, in <module>\n    main()\n  File \"/srv/app.py\", line 9, in handle\n    x[1]\nKeyError: 1\n"
		refusal   = "Traceback (most recent call last):\n  File \"/srv/run.py\", line 3, in <module>\n    main()\n  File \"/srv/app.py\", line 9, in handle\n    raise BadRequest(line)\napp.BadRequest: no such command\n"
		node      = "/srv/app.js:9\n    x[1].y\n        ^\n\nTypeError: Cannot read properties of undefined (reading 'y')\n    at handle (/srv/app.js:9:8)\n    at Socket.emit (node:events:5:3)\n\nNode.js v22.4.0\n"
		java      = "Exception in thread \"worker\" java.lang.IllegalStateException: odd\n\tat java.base/java.util.List.get(List.java:1)\n\tat shop.Server.handle(Server.java:9)\n"
		dotnet    = "Unhandled exception. System.FormatException: odd\n   at System.Number.Parse(String s)\n   at Shop.Server.Handle(String s) in /srv/Server.cs:line 9\n"
		rust      = "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\n"
		assertion = "srv: a.c:12: f: Assertion `n > 0' failed.\n"
		leaves    = "----\nException occurred during processing of request from ('127.0.0.1', 5)\nTraceback (most recent call last):\n" +
			"  File \"/usr/lib/python3.11/socketserver.py\", line 834, in write\n    self._sock.sendall(b)\nBrokenPipeError: [Errno 32] Broken pipe\n----\n"
		during   = "\nDuring handling of the above exception, another exception occurred:\n\n"
		javaPipe = "Exception in thread \"worker\" java.net.SocketException: Broken pipe\n\tat java.base/sun.nio.ch.NioSocketImpl.implWrite(NioSocketImpl.java:9)\n\tat shop.Server.handle(Server.java:9)\n"
		race     = "WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x5643 by thread T2:\n    #0 0x4 in put a.c:9:1\n\n  Previous write of size 4 at 0x5643 by main thread:\n    #0 0x5 in get a.c:2:1\n\n"
	)
	for _, tt := range []struct {
		name, text        string
		end               int // a signal's number, negative, or an exit status
		rule, fault, says string
	}{
		{"address", address + frames, aborted, RuleMemoryError, "parse_header:17 < main", "The server was ended by signal 6, aborted, before anything was sent: heap-buffer-overflow in parse_header /src/a.c:17."},
		{"it goes on", address + frames, alive, RuleMemoryError, "parse_header:17 < main", "The server reports a fault and goes on before anything was sent: heap-buffer-overflow in parse_header /src/a.c:17."},
		{"overlap", "==7==ERROR: AddressSanitizer: memcpy-param-overlap: memory ranges [0x1,0x4) and [0x2, 0x5) overlap\n" + frames, aborted, RuleMemoryError, "parse_header:17 < main",
			"The server was ended by signal 6, aborted, before anything was sent: memcpy-param-overlap in parse_header /src/a.c:17."},
		{"null", "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7)\n    #0 0x55 in f /src/a.c:3\n", aborted, RuleCrash, "f:3",
			"The server was ended by signal 6, aborted, before anything was sent: null dereference: SEGV in f /src/a.c:3."},
		{"undefined", undefined, alive, RuleReport, "a.c:3", "The server reports a fault and goes on before anything was sent: undefined behaviour: signed integer overflow: 1 + 2 in a.c:3."},
		{"undefined and an end", undefined, 1, RulePanic, "a.c:3", "The server ended with exit status 1 before anything was sent: undefined behaviour: signed integer overflow: 1 + 2 in a.c:3."},
		{"undefined, then a death", undefined + address + frames, aborted, RuleMemoryError, "parse_header:17 < main", ""},
		{"undefined, then an assertion", undefined + assertion, aborted, RulePanic, "srv: a.c:0: f: Assertion `n > 0' failed.", ""},
		{"race", race, alive, RuleReport, "get:2", "The server reports a fault and goes on before anything was sent: data race: write against write in put a.c:9 in get a.c:2."},
		{"go", goPanic, 2, RulePanic, goKey, "The server ended with exit status 2 before anything was sent: panic: runtime error: index out of range [5] with length 3 in main.(*server).handle /src/main.go:12."},
		{"go goes on", goPanic, alive, RulePanic, goKey, ""},
		{"go, its stack", "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\n" + goStack, 2, RulePanic, goKey, ""},
		{"python", traceback, 1, RulePanic, "handle:9 < <module>, KeyError", "The server ended with exit status 1 before anything was sent: KeyError: 1 in handle /srv/app.py:9."},
		{"python goes on", traceback, alive, RulePanic, "handle:9 < <module>, KeyError", ""},
		{"python refuses", refusal, alive, "", "", ""},
		{"python refuses, and nobody catches it", "Exception occurred during processing of request from ('127.0.0.1', 5)\n" + refusal, alive, RulePanic, "handle:9 < <module>, app.BadRequest", ""},
		{"python refuses, and ends", refusal, 1, RulePanic, "handle:9 < <module>, app.BadRequest", ""},
		{"python without a frame", "Traceback (most recent call last):\nValueError: x\n", alive, "", "", ""},
		{"python without a frame, and an exit", "Traceback (most recent call last):\nValueError: x\n", 1, RulePanic, "ValueError: x", ""},
		{"python, then a crash", traceback, segv, RuleCrash, "", "The server was ended by signal 11, segmentation fault, before anything was sent."},
		{"python, whose client leaves", leaves, alive, "", "", ""},
		{"python, whose client leaves, and it ends", leaves, 1, RulePanic, "BrokenPipeError: [Errno 0] Broken pipe", ""},
		{"python, and then its client leaves", traceback + leaves, alive, RulePanic, "handle:9 < <module>, KeyError", ""},
		{"python, its client leaves, and then", leaves + traceback, alive, RulePanic, "handle:9 < <module>, KeyError", ""},
		{"python, whose client leaves when it is refused", traceback + during + strings.TrimPrefix(leaves, "----\nException occurred during processing of request from ('127.0.0.1', 5)\n"),
			alive, "", "", ""},
		{"python, whose client leaves, which it mistakes", strings.TrimSuffix(leaves, "----\n") + during + traceback, alive, RulePanic, "BrokenPipeError: [Errno 0] Broken pipe", ""},
		{"python refuses, and its client leaves", leaves + refusal, alive, "", "", ""},
		{"asyncio, whose client leaves", "Task exception was never retrieved\nfuture: <Task finished>\n" + strings.ReplaceAll(traceback, "KeyError: 1", "ConnectionResetError: Connection lost"), alive, "", "", ""},
		{"python quotes", strings.ReplaceAll(traceback, "KeyError: 1", "KeyError: 'BrokenPipeError: x'"), alive, RulePanic, "handle:9 < <module>, KeyError", ""},
		{"java, whose client leaves", javaPipe, alive, "", "", ""},
		{"java, and its client leaves", java + javaPipe, alive, RulePanic, "shop.Server.handle:9", ""},
		{"java, whose client leaves, and it ends", javaPipe, 1, RulePanic, "shop.Server.handle:9", ""},
		{"node, whose client leaves", "Uncaught Error: read ECONNRESET\n    at TCP.onStreamRead (node:internal/stream_base_commons:217:20)\n    at handle (/srv/app.js:3:1)\n", alive, "", "", ""},
		{"node", node, 1, RulePanic, "handle:9:8, TypeError", "The server ended with exit status 1 before anything was sent: TypeError: Cannot read properties of undefined (reading 'y') in handle /srv/app.js:9:8."},
		{"java", java, 1, RulePanic, "shop.Server.handle:9", ""},
		{"java goes on", java, alive, RulePanic, "shop.Server.handle:9", ""},
		{"java logs", strings.TrimPrefix(java, "Exception in thread \"worker\" "), alive, "", "", ""},
		{"java's words in a log", "client said: java.lang.OutOfMemoryError\n", alive, "", "", ""},
		{".NET", dotnet, aborted, RulePanic, "Shop.Server.Handle:9", ""},
		{"rust", rust, 101, RulePanic, "src/main.rs:4:5", "The server ended with exit status 101 before anything was sent: panic: index out of bounds in src/main.rs:4:5."},
		{"rust aborts", rust, aborted, RulePanic, "src/main.rs:4:5", ""},
		{"rust goes on", rust, alive, RulePanic, "src/main.rs:4:5", ""},
		{"assertion", assertion, aborted, RulePanic, "srv: a.c:0: f: Assertion `n > 0' failed.", "The server was ended by signal 6, aborted, before anything was sent: srv: a.c:12: f: Assertion `n > 0' failed."},
		{"assertion of a child", assertion, alive, RulePanic, "srv: a.c:0: f: Assertion `n > 0' failed.", ""},
		{"allocator", "free(): invalid pointer\n", aborted, RuleMemoryError, "", "The server was ended by signal 6, aborted, before anything was sent: free(): invalid pointer."},
		{"canary of a child", "*** stack smashing detected ***: terminated\n", alive, RuleMemoryError, "", ""},
		{"log", "1700000000: New connection from 127.0.0.1:5123 on port 1883.\nERROR: client sent a bad packet\n", alive, "", "", ""},
		{"a log that quotes", "client said: std::bad_alloc, double free, malloc(): and *** so on ***\n", alive, "", "", ""},
		{"panic in a log", "panic: user typed panic\n", alive, "", "", ""},
		{"panic in a log, and an exit", "panic: user typed panic\n", 3, RuleExit, "", "The server ended with exit status 3 before anything was sent."},
	} {
		e := &Evidence{Fault: FaultDeath, At: -1, Output: []byte(tt.text)}
		switch {
		case tt.end == alive:
			e.Fault = FaultNone
		case tt.end < 0:
			e.Signal, e.Status = syscall.Signal(-tt.end), -1
		default:
			e.Status = tt.end
		}
		var f teasel.Finding
		if fs := Detect(&teasel.Observation{Evidence: e}); len(fs) > 0 {
			f = fs[0]
		}
		if f.Rule != tt.rule || f.Fault != tt.fault || tt.says != "" && f.Message != tt.says {
			t.Errorf("%s: %s in %q: %s\nwant %s in %q: %s", tt.name, f.Rule, f.Fault, f.Message, tt.rule, tt.fault, tt.says)
		}
		if e.Fault == FaultNone && Reported(e.Output) != (tt.rule != "") {
			t.Errorf("%s: reported is %v", tt.name, tt.rule == "")
		}
	}
}

// An assertion names its bug whatever a guessed stack looks like; where nothing is said, the stack does.
// The message of an exception may repeat all that a client has sent.
func TestLongReport(t *testing.T) {
	text := "Traceback (most recent call last):\n  File \"/srv/app.py\", line 9, in handle\n    x[1]\nKeyError: '" + strings.Repeat("a", 9000) + "'\n"
	f := Detect(&teasel.Observation{Evidence: &Evidence{Fault: FaultDeath, Status: 1, Output: []byte(text)}})[0]
	if len(f.Message) > 500 || !strings.Contains(f.Message, ": KeyError: 'aaa") || !strings.HasSuffix(f.Message, "aaa... in handle /srv/app.py:9.") {
		t.Errorf("%d bytes: %.600s", len(f.Message), f.Message)
	}
	if !strings.Contains(f.Detail, "aaaa'") {
		t.Error("the detail is cut")
	}
	goesOn := Detect(&teasel.Observation{Evidence: &Evidence{Fault: FaultNone, Output: []byte(text)}})
	uncaught := Detect(&teasel.Observation{Evidence: &Evidence{Fault: FaultDeath, Status: 1, Output: []byte("Uncaught Error: " + strings.Repeat("a", 9000) + "\n")}})
	for _, f := range append(append(goesOn, uncaught...), f) {
		if len(f.Fault) > 400 || len(f.Group) > 400 || len(f.Place) > 400 {
			t.Errorf("%s is named by %d, %d and %d bytes", f.Rule, len(f.Fault), len(f.Group), len(f.Place))
		}
	}
	if len(goesOn) != 1 {
		t.Errorf("findings of a server that goes on: %v", goesOn)
	}
}

func TestGuessedStack(t *testing.T) {
	of := func(text string, guessed bool, function string) string {
		e := &Evidence{Fault: FaultDeath, Signal: syscall.SIGABRT, Output: []byte(text), Stack: []Frame{{Function: function}, {Function: "main"}}, Guessed: guessed}
		return Detect(&teasel.Observation{Evidence: e})[0].ID()
	}
	const assertion = "srv: a.c:12: f: Assertion `n > 0' failed.\n"
	if of(assertion, true, "f") != of(assertion, true, "g") {
		t.Error("one assertion is two findings")
	}
	if of(assertion, false, "f") == of(assertion, false, "g") || of("", true, "f") == of("", true, "g") || of("free(): invalid pointer\n", true, "f") == of("free(): invalid pointer\n", true, "g") {
		t.Error("two places are one finding")
	}
}

// A report is worth less where the server goes on: what it writes may be the words of a client.
func TestSeverityOfReports(t *testing.T) {
	const report = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60\n    #0 0x55 in f /src/a.c:3:1\n"
	for fault, want := range map[Fault]teasel.Severity{FaultDeath: teasel.Critical, FaultNone: teasel.High} {
		fs := Detect(&teasel.Observation{Evidence: &Evidence{Fault: fault, Signal: syscall.SIGABRT, Output: []byte(report)}})
		if len(fs) != 1 || fs[0].Severity != want {
			t.Errorf("fault %d: %+v, want severity %v", fault, fs, want)
		}
	}
}
