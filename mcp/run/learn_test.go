package run

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// TestLearned: keys that answers show are told by the names of the arguments that take them, and get into the examples
// where the schema has room for them.
func TestLearned(t *testing.T) {
	sess := mcptest.ParseSession(t, mcptest.Jobs)
	choice, err := session.Selection{}.Apply(sess)
	if err != nil {
		t.Fatal(err)
	}
	result, err := mutate.ParseJSON([]byte(`{"content":[{"type":"text","text":"{\"jobs\":[{\"id\":\"j-1\",\"state\":\"done\",\"worker_id\":7}]}"},{"type":"text","text":"path of job 3"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var shown observe.Note
	shown.AddCaptures(0, result)
	sess.Learned = shown.ByName(session.ArgumentNames(sess, &choice))
	want := map[string][]string{"job_id": {"j-1"}, "state": {"done"}, "worker_id": {"7"}}
	if !maps.EqualFunc(sess.Learned, want, slices.Equal) {
		t.Errorf("learned %v, want %v", sess.Learned, want)
	}
	b, err := session.NewCatalog(t.Context(), sess, &choice, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*mutate.JSON{b.Find("finish_job").Plain, b.Find("finish_job").Full} {
		if job, worker := v.Get("job_id").String(), v.Get("worker_id").String(); job != `"j-1"` || worker != `"7"` {
			t.Errorf("an example is %s", v)
		}
	}
}

// TestLearnCallsNothingBlocked: what is asked names no tool that must not be called, not even as an argument.
func TestLearnCallsNothingBlocked(t *testing.T) {
	sess := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{}},
		"tools":[{"name":"get_help","inputSchema":{"type":"object","properties":{"topic":{"type":"string","enum":["delete_all"]}},"required":["topic"]}},
		{"name":"get_state","inputSchema":{"type":"object"}},{"name":"delete_all","inputSchema":{"type":"object"}}],
		"resources":[{"uri":"help://delete_all","name":"help"},{"uri":"help://topics","name":"topics"}]}`)
	choice, err := session.Selection{}.Apply(sess)
	if err != nil {
		t.Fatal(err)
	}
	lines := lookingLines(t.Context(), sess, &choice)
	for _, line := range lines {
		if bytes.Contains(line, []byte("delete_all")) {
			t.Errorf("%s is asked", line)
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines are asked, want 2", len(lines))
	}
}

// TestLearn asks real servers. The planted one shows the names of its items under the name of no argument.
func TestLearn(t *testing.T) {
	target := &Target{Command: []string{mcptest.BuildServer(t, plantedtest.Planted), "-bugs", "none"}}
	visit, err := target.Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer visit.Close()
	sess := visit.Session
	choice, err := session.Selection{}.Apply(sess)
	if err != nil {
		t.Fatal(err)
	}
	if err := visit.Learn(t.Context(), &choice); err != nil {
		t.Fatal(err)
	}
	t.Log(sess.Learned)
	if len(lookingLines(t.Context(), sess, &choice)) < 5 {
		t.Error("hardly anything was asked")
	}
	for name, values := range sess.Learned {
		if len(values) == 0 || len(values) > observe.MaxLearned || slices.Contains(values, "text") {
			t.Errorf("%s: %q", name, values)
		}
	}
}

func plantedSession(t *testing.T) *session.Session {
	t.Helper()
	s, err := (&Target{Command: []string{mcptest.BuildServer(t, plantedtest.Planted), "-bugs", "none"}}).Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVocabulary: what the server offers as completions, and what one place lists, is known wherever the name is the same.
func TestVocabulary(t *testing.T) {
	s := plantedSession(t)
	if s.Pages["prompts/list"] != 3 {
		t.Errorf("prompts/list has %d pages", s.Pages["prompts/list"])
	}
	v := session.ReadVocabulary(s)
	for name, word := range map[string]string{"style": "brief", "sku": "washer", "city": "Ashbridge", "index": "-1", "currency": "XXX"} {
		if !slices.Contains(v[name], word) {
			t.Errorf("%q is not known for %s, but %q are", word, name, v[name])
		}
	}
	m := gen.NewMutator(gen.MutatorConfig{Session: s})
	if !slices.ContainsFunc(m.Seeds(), func(s gen.Seed) bool { return s.Name == "prompt_daily_digest_style_brief" && s.Valid }) {
		t.Error("no seed has the style that is offered")
	}
}
