package netproto

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that ends with each conversation is no finding, and every dialogue is answered; another exit status is one.
func TestServerOfOneConversation(t *testing.T) {
	bad, clean := plantedSource(t, "once.c", "clang"), plantedSource(t, "once.c", "clang", "-DCLEAN")
	ctx := context.Background()
	for _, keep := range []bool{false, true} {
		for _, program := range []string{bad, clean} {
			e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Keep: keep})
			for round := range 3 {
				for _, message := range []string{"hello", "bye", "again"} {
					fs, _, err := teasel.Replay(ctx, e, Detectors(), dialogue.Raw([]byte("first"), []byte(message)))
					if err != nil {
						t.Fatal(err)
					}
					if len(fs) > 0 {
						t.Fatalf("keep %v, round %d, %q: %+v", keep, round, message, fs)
					}
					if got := answersOf(t, e, "hello"); string(got) != "ok\n" {
						t.Fatalf("keep %v, round %d: after %q it answers %q", keep, round, message, got)
					}
				}
				fs, _, err := teasel.Replay(ctx, e, Detectors(), dialogue.Raw([]byte("exit")))
				if err != nil {
					t.Fatal(err)
				}
				if program == clean && len(fs) > 0 || program == bad && (len(fs) != 1 || fs[0].Rule != judge.RuleExit || fs[0].Group != "status 3") {
					t.Fatalf("keep %v, round %d: %+v", keep, round, fs)
				}
			}
		}
	}
}
