package netproto

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// A transition declares where it leads to with an unexpected answer, and with none, as well.
func TestStatesDeclareElseAndTimeout(t *testing.T) {
	m := loadText(t, `
teasel-model: 1
meta: {id: states}
messages:
  login: {seq: [{id: verb, type: str, terminator: "\n", value: LOGIN, valid: LOGIN}]}
responses:
  reply: {seq: [{id: code, type: dec}, {contents: "\n"}]}
states:
  start:
    - {send: login, expect: reply, to: ready, else: failed, timeout: lost}
  ready: []
  failed: []
  lost: []
seeds:
  one: ["LOGIN\n"]
`)
	all := States(m, nil)
	for _, to := range []string{"ready", "failed", "lost"} {
		if !slices.Contains(all[0].Steps, StepReach{Message: "login", To: to, Declared: true}) {
			t.Errorf("the step to %s is not declared: %+v", to, all[0].Steps)
		}
	}
}

// A testcase counts once for each message that it sends, with what it was the first to reach.
func TestMessagesSent(t *testing.T) {
	m := &model.Model{Messages: []*model.Message{{Name: "hello"}, {Name: "login"}, {Name: "quit"}}, States: []*model.State{{Name: "new"}, {Name: "in"}}}
	entry := func(first int, fs ...teasel.Feature) teasel.Entry {
		return teasel.Entry{First: first, Features: teasel.NewFeatureSet(fs...)}
	}
	got := Messages(m, []teasel.Entry{
		entry(3, stepFeature("new", "hello", "new"), stepFeature("new", "hello", "in"), stepFeature("in", "login", "in")),
		entry(1, stepFeature("new", "hello", "new"), 7),
		entry(2, stepFeature("in", "login", "new")),
	})
	if want := []MessageReach{{"hello", 2, 4}, {"login", 2, 5}, {"quit", 0, 0}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func loadText(t *testing.T, text string) *model.Model {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
