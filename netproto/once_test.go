package netproto

import (
	"fmt"
	"testing"

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

// A dialogue of two clients is not held with a server of one conversation, where the second would wait in vain.
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
