package server

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// TestLearned: keys that answers show are recognised by the names of the arguments that take them, and get into the examples
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
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if lines := lookingLines(ctx, sess, &choice); len(lines) != 1 || !bytes.Contains(lines[0], []byte("help://topics")) {
		t.Errorf("after the context has ended %q are asked, want what takes no preparation", lines)
	}
}

// TestLearn asks real servers. The planted one shows the names of its items under the name of no argument.
func TestLearn(t *testing.T) {
	visit, err := command(mcptest.BuildServer(t, plantedtest.Planted), "-bugs", "none").Visit(t.Context())
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
