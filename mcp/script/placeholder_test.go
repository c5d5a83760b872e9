package script

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

func TestPlaceholders(t *testing.T) {
	tr := answered([]string{"1000001", `"abc"`, "1000003"}, []string{
		`{"structuredContent":{"handle":"doc-7","n":42,"ok":true,"list":[10,{"x~/y":"slash"}],"quote":"say \"hi\"\n"},` +
			`"content":[{"type":"text","text":"{\"handle\":\"inner-1\",\"deep\":\"[1,2,{\\\"z\\\":\\\"bottom\\\"}]\"}"}]}`,
		`{"content":[{"type":"text","text":"Note 17 was saved as note:17.txt. It is 5 KB, ok?"}]}`,
		"",
	})
	canary := &Canary{path: "/tmp/teasel canary/canary.txt"}
	for _, tt := range []struct {
		line, want string
		unresolved bool
	}{
		{`no placeholder, a@b.c, @, "@", "@i"`, `no placeholder, a@b.c, @, "@", "@i"`, false},
		{`{"id":"@id"}`, `{"id":51}`, false},
		{`["@id","@id"]`, `[51,52]`, false},
		{`{"text":"\"@id\" and @id"}`, `{"text":"\"@id\" and @id"}`, false},
		{`{"id":"@id:0"}`, `{"id":1000001}`, false},
		{`{"id":"@id:0:s"}`, `{"id":"1000001"}`, false},
		{`{"id":"@id:1"}`, `{"id":"abc"}`, false},
		{`{"id":"@id:1:s"}`, `{"id":"abc"}`, false},
		{`{"id":"@id:9"}`, `{"id":0}`, true},
		{`{"id":"@id:x"}`, `{"id":"@id:x"}`, false},
		{`{"h":"@{0:/structuredContent/handle}"}`, `{"h":"doc-7"}`, false},
		{`{"h":"<@{0:/structuredContent/handle}>"}`, `{"h":"<doc-7>"}`, false},
		{`{"n":"@{0:/structuredContent/n}"}`, `{"n":42}`, false},
		{`{"n":"is @{0:/structuredContent/n}"}`, `{"n":"is 42"}`, false},
		{`{"b":"@{0:/structuredContent/ok}"}`, `{"b":true}`, false},
		{`{"l":"@{0:/structuredContent/list}"}`, `{"l":[10,{"x~/y":"slash"}]}`, false},
		{`{"l":"@{0:/structuredContent/list/0}"}`, `{"l":10}`, false},
		{`{"l":"@{0:/structuredContent/list/1/x~0~1y}"}`, `{"l":"slash"}`, false},
		{`{"l":"in @{0:/structuredContent/list/1}"}`, `{"l":"in {\"x~/y\":\"slash\"}"}`, false},
		{`{"q":"@{0:/structuredContent/quote}"}`, `{"q":"say \"hi\"\n"}`, false},
		{`{"t":"@{0:/content/0/text/handle}"}`, `{"t":"inner-1"}`, false},
		{`{"t":"@{0:/content/0/text/deep/2/z}"}`, `{"t":"bottom"}`, false},
		{`{"t":"@{1:/content/0/text#0}"}`, `{"t":"Note"}`, false},
		{`{"t":"@{1:/content/0/text#1}"}`, `{"t":"17"}`, false},
		{`{"t":"@{1:/content/0/text#4}"}`, `{"t":"note:17.txt"}`, false},
		{`{"t":"@{1:/content/0/text#99}"}`, `{"t":""}`, true},
		{`{"t":"@{0:/structuredContent/nothing}"}`, `{"t":""}`, true},
		{`{"t":"@{2:/x}"}`, `{"t":""}`, true},
		{`{"t":"@{7:/x}"}`, `{"t":""}`, true},
		{`{"t":"a@{7:/x}b"}`, `{"t":"ab"}`, true},
		{`@{1:/content/0/type}`, `text`, false},
		{`{"p":"@{canary}"}`, `{"p":"/tmp/teasel canary/canary.txt"}`, false},
		{`{"p":"x/@{canary:rel}"}`, `{"p":"x/` + strings.Repeat("../", 16) + `tmp/teasel canary/canary.txt"}`, false},
		{`{"p":"@{canary:dir}/x"}`, `{"p":"/tmp/teasel canary/x"}`, false},
		{`{"p":"@{canary:uri}"}`, `{"p":"file:///tmp/teasel%20canary/canary.txt"}`, false},
		{`{"p":"@{canary:other}"}`, `{"p":"@{canary:other}"}`, false},
		{`{"id":"@id","params":{"h":"@{0:/structuredContent/handle}","of":"@id:0","n":"@{0:/structuredContent/n}"}}`,
			`{"id":51,"params":{"h":"doc-7","of":1000001,"n":42}}`, false},
	} {
		ids := int64(50)
		x := Expansion{Transcript: tr, Canary: canary, IDs: &ids}
		if got := string(x.Append(nil, []byte(tt.line))); got != tt.want || x.Unresolved != tt.unresolved {
			t.Errorf("%s became\n\t%s (unresolved: %v), want\n\t%s", tt.line, got, x.Unresolved, tt.want)
		}
	}
	x := Expansion{Transcript: tr, IDs: new(int64)}
	if got := string(x.Append([]byte("kept "), []byte(`"@{canary}"`))); got != `kept ""` || !x.Unresolved {
		t.Errorf("without a canary there is %s", got)
	}
}

// FuzzPlaceholders: whatever stands in a line that is JSON, it is JSON afterwards.
func FuzzPlaceholders(f *testing.F) {
	tr := answered([]string{"1000001"}, []string{`{"a":"\"\\ \u0000","b":[1,"x"],"t":"{\"c\":null}"}`})
	for _, seed := range []string{`{"id":"@id"}`, `"@{0:/a}"`, `["@{0:/b}","@id:0:s","@{0:/t/c}"]`, `"x@{0:/t#1}@{canary}"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if jsonrpc.Parse([]byte(line)).Root == nil {
			return
		}
		x := Expansion{Transcript: tr, Canary: &Canary{path: "/a\"b"}, IDs: new(int64)}
		if out := x.Append(nil, []byte(line)); jsonrpc.Parse(out).Root == nil {
			t.Errorf("%q became %q", line, out)
		}
	})
}

// TestHugeText: a line is as long as the limits of servers want in a check for that, and short everywhere else.
func TestHugeText(t *testing.T) {
	for _, huge := range []bool{false, true} {
		var ids int64
		x := Expansion{Transcript: &Transcript{}, Huge: huge, IDs: &ids}
		line := x.Append(nil, jsonrpc.RequestLine("ping", jsonrpc.Object("a", HugeText)))
		if m := jsonrpc.Parse(line); m.Class != jsonrpc.ClassRequest || (len(line) > 16<<20) != huge || len(line) < fairLength {
			t.Errorf("huge %t: %d bytes, class %v", huge, len(line), m.Class)
		}
	}
}

// answered returns a transcript of requests 0, 1, ... with the given ids and results; "" as a result: no answer.
func answered(ids, results []string) *Transcript {
	t := new(Transcript)
	for i := range results {
		s := Sent{Step: i, Answer: -1, Message: jsonrpc.Message{Class: jsonrpc.ClassRequest, ID: ids[i]}}
		if results[i] != "" {
			s.Answer = len(t.Received)
			t.Received = append(t.Received, Received{Message: jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + results[i] + `}`)), Sent: i})
		}
		t.Sent = append(t.Sent, s)
	}
	return t
}
