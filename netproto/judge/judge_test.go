package judge_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

func Example() {
	seen := judge.Evidence{Fault: judge.FaultDeath, At: 0, Message: "publish", Signal: syscall.SIGSEGV,
		Talk: []judge.Turn{{Name: "publish", Sent: []byte("\x30\x00")}}}
	for _, f := range judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: &seen}) {
		fmt.Println(f.Severity, f.Rule, f.Subject)
		fmt.Println(f.Message)
		fmt.Print(f.Detail)
	}
	// Output:
	// critical net/server-crash publish
	// The server was ended by signal 11, segmentation fault, after message 1, publish.
	// > publish "0\x00"
}

// Two faults at one place are one finding, whatever message showed them; two places are two.
func TestIdentity(t *testing.T) {
	report := "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x%d\n    #0 0x1 in %s /src/a.c:3:1\n"
	id := func(message, function string, address int) string {
		e := &judge.Evidence{Fault: judge.FaultDeath, Message: message, Signal: syscall.SIGABRT, Output: fmt.Appendf(nil, report, address, function)}
		fs := judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: e})
		if len(fs) != 1 {
			t.Fatalf("%d findings", len(fs))
		}
		return fs[0].ID()
	}
	if id("a", "f", 1) != id("b", "f", 2) {
		t.Error("one place is two findings")
	}
	if id("a", "f", 1) == id("a", "g", 1) {
		t.Error("two places are one finding")
	}
}

// A server that does not expect its client to go away is one finding, whatever the client had said.
func TestBrokenPipe(t *testing.T) {
	id := func(message string) string {
		e := &judge.Evidence{Fault: judge.FaultDeath, Message: message, Signal: syscall.SIGPIPE, Closed: true}
		return judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: e})[0].ID()
	}
	if id("a") != id("b") {
		t.Error("one fault is two findings")
	}
}

// Bytes that nobody can print, and many of them, do not spoil what is written down.
func TestTranscript(t *testing.T) {
	e := judge.Evidence{Talk: []judge.Turn{{Reconnect: true}, {Sent: []byte("\x1b[2J")}, {Received: make([]byte, 5000), State: "open"}}}
	text := e.Transcript()
	if strings.ContainsRune(text, 0x1b) || !strings.Contains(text, "- new connection\n> \"\\x1b[2J\"\n< open ") || !strings.Contains(text, "and 4488 bytes more") {
		t.Errorf("%q", text)
	}
}

// Without a report, the image of the server's memory tells two bugs of one signal apart.
func TestStack(t *testing.T) {
	id := func(functions ...string) string {
		var stack []judge.Frame
		for _, f := range functions {
			stack = append(stack, judge.Frame{Function: f})
		}
		e := &judge.Evidence{Fault: judge.FaultDeath, Signal: syscall.SIGSEGV, Stack: stack}
		fs := judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: e})
		if len(fs) != 1 || fs[0].Rule != judge.RuleCrash {
			t.Fatalf("findings %+v", fs)
		}
		return fs[0].ID()
	}
	if id("f", "main") == id("g", "main") || id("f", "main") == id() {
		t.Error("two places are one finding")
	}
}
