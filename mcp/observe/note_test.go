package observe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// heard returns a transcript of requests with the given results.
func heard(t *testing.T, results []string) *script.Transcript {
	t.Helper()
	var text strings.Builder
	for i, result := range results {
		fmt.Fprintf(&text, `> {"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n"+`< {"jsonrpc":"2.0","id":%[1]d,"result":%s}`+"\n", i+1, result)
	}
	return mcptest.ParseTranscript(t, nil, text.String())
}

func TestNote(t *testing.T) {
	tr := heard(t, []string{
		`{"content":[{"type":"text","text":"Opened document doc-17 for echo."}],"structuredContent":{"a/b":"x1","n":5}}`,
		`{"content":[{"type":"text","text":"{\"id\":\"k9\",\"list\":[7]}"}]}`,
	})
	tr.Sent[0].Raw = []byte("please echo")
	n := NewNote(tr)
	var got []string
	for _, c := range n.Captures {
		got = append(got, c.Pointer+"="+c.Value)
	}
	for _, want := range []string{"/content/0/text#2=doc-17", "/structuredContent/a~1b=x1", "/structuredContent/n=5", "/content/0/text/id=k9", "/content/0/text/list/0=7"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	// A capture is what a placeholder with the same pointer stands for.
	for _, c := range n.Captures {
		x := script.Expansion{Transcript: tr, IDs: new(int64)}
		if v := x.Capture(c.Step, []byte(c.Pointer)); v == nil || !strings.HasPrefix(script.ValueText(v), c.Value) {
			t.Errorf("step %d, %s: %v, want %s", c.Step, c.Pointer, v, c.Value)
		}
	}
	if !slices.Contains(n.Words, "doc-17") || !slices.Contains(n.Words, "Opened") || slices.Contains(n.Words, "echo") {
		t.Errorf("the words are %q", n.Words)
	}
	big := heard(t, []string{`{"list":[` + strings.Repeat(`"word",`, 5000) + `"end"],"t":"` + strings.Repeat("token1 ", 5000) + `"}`})
	if n := NewNote(big); len(n.Captures) > maxCaptures || len(n.Words) > maxWords {
		t.Errorf("%d captures and %d words of a big answer", len(n.Captures), len(n.Words))
	}
}
