package netproto

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// extended is a target of the clean planted server whose model has lines more.
func extended(t *testing.T, lines string) Target {
	t.Helper()
	text, err := os.ReadFile("testdata/planted/planted.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.yaml")
	if err := os.WriteFile(file, append(text, lines...), 0o644); err != nil {
		t.Fatal(err)
	}
	target := plantedTarget(t, planted(t, "clang", "-DCLEAN"))
	if target.Model, err = model.Load(file); err != nil {
		t.Fatal(err)
	}
	return target
}

// sent returns the names of the messages of the last dialogue, those that are not fuzzed included.
func sent(e *executor) string {
	var names []string
	for _, turn := range e.evidence.Talk {
		if turn.Sent != nil {
			names = append(names, turn.Name)
		}
	}
	return strings.Join(names, " ")
}

// What a bootstrap expects is waited for as often as it says, and a server that never says it is not fuzzed.
func TestBootstrap(t *testing.T) {
	e := open(t, extended(t, "\nbootstrap: [{send: hello, expect: welcome, attempts: 3, delay: 1ms}]\n"))
	if err := e.Exec(context.Background(), &dialogue.Dialogue{}, &teasel.Observation{}); err != nil || sent(e) != "hello" {
		t.Errorf("sent %q, %v", sent(e), err)
	}
	_, err := extended(t, "\nbootstrap: [{send: login, expect: welcome, attempts: 3, delay: 1ms}]\n").open(context.Background())
	var in *StartError
	if !errors.As(err, &in) || !strings.Contains(in.Reason, "the answer to login, which the model's bootstrap sends, is reply, expected is welcome") {
		t.Errorf("error %v", err)
	}
}

// A connection that is kept is kept alive, and made anew when that is not answered.
func TestHeartbeat(t *testing.T) {
	for _, tt := range []struct {
		expect string
		want   []string // by dialogue
		links  int
	}{
		{"reply", []string{"hello", "note hello", "note hello"}, 0},
		{"welcome", []string{"hello", "note hello", "note hello"}, 1},
	} {
		target := extended(t, "\nheartbeat: {send: note, expect: "+tt.expect+", every: 0s, failures: 2}\n")
		target.Keep = true
		e := open(t, target)
		in := &dialogue.Dialogue{Messages: dialogue.Seeds(target.Model)[0].Messages[:1]}
		links := 0
		for i, want := range tt.want {
			o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
			if err := e.Exec(context.Background(), in, &o); err != nil || sent(e) != want {
				t.Errorf("expected %s, dialogue %d: sent %q, want %q, %v", tt.expect, i, sent(e), want, err)
			}
			for _, turn := range e.evidence.Talk {
				if turn.Reconnect && i > 0 {
					links++
				}
			}
		}
		if links != tt.links {
			t.Errorf("expected %s: %d new connections, want %d", tt.expect, links, tt.links)
		}
	}
}
