package netproto

import (
	"fmt"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that ends with each conversation is no finding, and every dialogue is answered; another exit status is one.
func TestServerOfOneConversation(t *testing.T) {
	bad, clean := plantedSource(t, "once.c", "clang"), plantedSource(t, "once.c", "clang", "-DCLEAN")
	for _, keep := range []bool{false, true} {
		for program, group := range map[string]string{bad: "status 3", clean: ""} {
			t.Run(fmt.Sprintf("keep %v, %q", keep, group), func(t *testing.T) {
				e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Keep: keep})
				for range 3 {
					oneConversation(t, e, group)
				}
			})
		}
	}
}

// oneConversation ends a server's conversation in each of its ways. The last one is a finding of the group; "": of none.
func oneConversation(t *testing.T, e *executor, group string) {
	t.Helper()
	for _, message := range []string{"hello", "bye", "again"} {
		fs, _, err := teasel.Replay(t.Context(), e, Detectors(), dialogue.Raw([]byte("first"), []byte(message)))
		if err != nil {
			t.Fatal(err)
		}
		if len(fs) > 0 {
			t.Fatalf("%q: %+v", message, fs)
		}
		if got := answersOf(t, e, "hello"); string(got) != "ok\n" {
			t.Fatalf("after %q it answers %q", message, got)
		}
	}
	fs, _, err := teasel.Replay(t.Context(), e, Detectors(), dialogue.Raw([]byte("exit")))
	if err != nil {
		t.Fatal(err)
	}
	if group == "" && len(fs) > 0 || group != "" && (len(fs) != 1 || fs[0].Rule != judge.RuleExit || fs[0].Group != group) {
		t.Fatalf("after exit: %+v", fs)
	}
}

// A server over TLS that has one client after the other is not blamed for a second one that waits; dialogues of several are left out then.
func TestOneClientAtATime(t *testing.T) {
	const script = `import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=16)
while True:
    c, _ = s.accept()
    try:
        c = context.wrap_socket(c, server_side=True)
        while (line := c.recv(4096)) != b"bye" and line:
            c.sendall(line)
    except OSError:
        pass
    c.close()
`
	key, certificate := selfSigned(t)
	e := open(t, Target{Address: "tls://127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}", certificate, key}, User: currentUser(t), Timeout: 200 * time.Millisecond})
	two := dialogue.Raw([]byte("first"), []byte("second"))
	two.Messages[1].Client = 1
	for range 2 {
		o := teasel.Observation{Ask: teasel.Ask{Full: true}}
		if err := e.Exec(t.Context(), two, &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit != teasel.ExitRejected || o.Evidence != nil {
			t.Errorf("exit %v, %s", o.Exit, o.Detail)
		}
		if got := answersOf(t, e, "hello"); string(got) != "hello" {
			t.Errorf("then it answers %q", got)
		}
		e.serial = false
		in := dialogue.Raw([]byte("bye"), []byte("hello")) // the second client is answered when the first one has gone
		in.Messages[1].Client = 1
		if err := e.Exec(t.Context(), in, &teasel.Observation{}); err != nil {
			t.Fatal(err)
		}
		if e.serial || e.abreast {
			t.Errorf("one client after the other: in turns %t, side by side %t", e.serial, e.abreast)
		}
	}
}

// A dialogue of two clients is not held with a server of one conversation, where the second would wait for ever.
func TestSecondClientOfOneConversation(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "once.c", "clang", "-DCLEAN"), "{port}"}})
	two := dialogue.Raw([]byte("first"), []byte("second"), []byte("third"), []byte("fourth"))
	for i := range two.Messages {
		two.Messages[i].Client = uint8(i % 4)
	}
	for range 3 {
		var o teasel.Observation
		if err := e.Exec(t.Context(), two, &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit != teasel.ExitRejected || o.Detail == "" || o.Messages > 0 {
			t.Errorf("exit %v, %d messages, %q", o.Exit, o.Messages, o.Detail)
		}
		if got := answersOf(t, e, "hello"); string(got) != "ok\n" {
			t.Errorf("then it answers %q", got)
		}
	}
}
