package observe

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// callText is the transcript of one call of a tool with one argument, and what came back.
func callText(tool, argument, result string) string {
	value, err := json.Marshal(argument)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":%q,\"arguments\":{\"message\":%s}}}\n"+
		"< {\"jsonrpc\":\"2.0\",\"id\":1,%s}\n", tool, value, result)
}

func textResult(text string) string {
	value, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}]}`, value)
}

// TestEchoHasFewFeatures sends many texts to tools that give them back in one way or another.
func TestEchoHasFewFeatures(t *testing.T) {
	session := mcptest.DeskSession(t)
	for _, test := range []struct {
		name string
		give func(string) string
	}{
		{"as it is", func(s string) string { return "Echo: " + s }},
		{"in quotes", func(s string) string { return fmt.Sprintf("you said %q, didn't you?", s) }},
		{"as JSON", func(s string) string { v, _ := json.Marshal(map[string]string{"message": s}); return string(v) }},
		{"in capitals", strings.ToUpper},
		{"its length", func(s string) string { return fmt.Sprintf("%d characters", len(s)) }},
		{"in base 16", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	} {
		const texts = 1000
		r := rand.New(rand.NewPCG(1, 2))
		seen := make(map[teasel.Feature]bool)
		for range texts {
			text := randomText(r)
			for _, f := range Fingerprint(nil, mcptest.ParseTranscript(t, session, callText("echo", text, textResult(test.give(text))))) {
				seen[f] = true
			}
		}
		if len(seen) > 60 {
			t.Errorf("%s: %d features for %d texts", test.name, len(seen), texts)
		}
	}
}

func randomText(r *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ 0123456789 {}[]:,.-_/\\'\"<>é"
	b := make([]rune, r.IntN(120))
	for i := range b {
		b[i] = []rune(letters)[r.IntN(len([]rune(letters)))]
	}
	return string(b)
}

// TestMessagesAreNews climbs a nested condition whose every step has a message of its own.
func TestMessagesAreNews(t *testing.T) {
	session := mcptest.DeskSession(t)
	seen := make(map[teasel.Feature]bool)
	for _, text := range []string{
		"Mode basic has nothing to configure.", "Advanced mode: no options given.", "Advanced mode: options without a cache.",
		"Advanced mode: a cache without a level.", "Advanced mode: cache level 3 is kept in memory.", "Advanced mode: the cache on disk has no tags.",
	} {
		news := false
		for _, f := range Fingerprint(nil, mcptest.ParseTranscript(t, session, callText("look", "x", textResult(text)))) {
			news = news || !seen[f]
			seen[f] = true
		}
		if !news {
			t.Errorf("%q is no news", text)
		}
	}
	for _, text := range []string{"Advanced mode: cache level 4 is kept in memory.", "advanced mode: cache level 12 is kept in memory."} {
		for _, f := range Fingerprint(nil, mcptest.ParseTranscript(t, session, callText("look", "x", textResult(text)))) {
			if !seen[f] && text[0] == 'A' {
				t.Errorf("%q is news", text)
			}
		}
	}
}

func TestFingerprintTellsApart(t *testing.T) {
	session := mcptest.DeskSession(t)
	of := func(text string) []teasel.Feature { return Fingerprint(nil, mcptest.ParseTranscript(t, session, text)) }
	different := map[string]string{
		"result":      callText("look", "a", textResult("a")),
		"failure":     callText("look", "a", `"result":{"content":[{"type":"text","text":"a"}],"isError":true}`),
		"error":       callText("look", "a", `"error":{"code":-32602,"message":"no"}`),
		"other code":  callText("look", "a", `"error":{"code":-32603,"message":"no"}`),
		"other words": callText("look", "a", `"error":{"code":-32602,"message":"never"}`),
		"other tool":  callText("browse", "a", textResult("a")),
		"more":        callText("look", "a", `"result":{"content":[],"structuredContent":{"count":1}}`),
		"none":        strings.SplitAfter(callText("look", "a", textResult("a")), "\n")[0],
		"dead":        strings.SplitAfter(callText("look", "a", textResult("a")), "\n")[0] + "! exit 1\n",
	}
	for a, x := range different {
		for b, y := range different {
			if a != b && slices.Equal(of(x), of(y)) {
				t.Errorf("%s is like %s", a, b)
			}
		}
	}
	same := [][2]string{
		{callText("look", "a", textResult("note 17 of 23 at 2025-01-02T03:04:05Z")), callText("look", "a", textResult("note 18 of 99 at 2026-11-12T13:14:15Z"))},
		{callText("look", "a", textResult("id 550e8400-e29b-41d4-a716-446655440000")), callText("look", "a", textResult("id abcdefab-cdef-abcd-efab-cdefabcdefab"))},
		{callText("look", "a", `"result":{"content":[],"structuredContent":{"list":[1,2,3]}}`), callText("look", "a", `"result":{"content":[],"structuredContent":{"list":[4,5]}}`)},
	}
	for _, pair := range same {
		if !slices.Equal(of(pair[0]), of(pair[1])) {
			t.Errorf("%s is not like\n%s", pair[0], pair[1])
		}
	}
}

func TestFingerprintIsBounded(t *testing.T) {
	session := mcptest.DeskSession(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var b strings.Builder
		b.WriteString(`"result":{"content":[],"structuredContent":{`)
		for i := range 40 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"k%d":[{"a":%d,"b":"x"}]`, r.IntN(1000), r.IntN(10))
		}
		b.WriteString("}}")
		features := Fingerprint(nil, mcptest.ParseTranscript(t, session, callText("look", "a", b.String())))
		if len(features) > 8 || slices.Contains(features, 0) || slices.ContainsFunc(features, teasel.Feature.IsState) {
			t.Fatalf("features %v", features)
		}
	}
}

// The features of a campaign lie on disk: they have to stay what they are.
func TestFingerprintStays(t *testing.T) {
	got := fmt.Sprintf("%x", Fingerprint(nil, mcptest.ParseTranscript(t, mcptest.DeskSession(t), mcptest.EchoExchange)))
	const want = "[23702c2ae5066a5b 27d55aeac22d3497 66c836210fe6fd0b 1f66f57292f48c63 18e8611d18647d95 5b078496a846a769]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNormal(t *testing.T) {
	var e Echo
	e.addText("teasel input", echoText)
	for _, test := range [][2]string{
		{"", ""},
		{"Note 17 was added.", "Note0 was added"},
		{"to be or not to be", "not"},
		{"0x7ffe12 from 12:30:45", "# from0"},
		{"key 550e8400-e29b-41d4-a716-446655440000!", "key#"},
		{"you said Teasel Input, twice", "you said* twice"},
		{"[1, 2, 3, teasel]", "*"},
		{"cannot open /tmp/a1b2c3/teasel", "cannot open tmp*"},
	} {
		if got := string(AppendNormal(nil, test[0], &e)); got != test[1] {
			t.Errorf("%q: got %q, want %q", test[0], got, test[1])
		}
	}
}

// The features of an outcome are among those of a script that came to it, and of no other outcome or tool.
func TestOutcomeFeatures(t *testing.T) {
	session := mcptest.DeskSession(t)
	texts := map[script.Outcome]string{
		script.OutcomeResult: callText("look", "a", textResult("a")),
		script.OutcomeFailed: callText("look", "a", `"result":{"content":[{"type":"text","text":"a"}],"isError":true}`),
		script.OutcomeError:  callText("look", "a", `"error":{"code":-32602,"message":"no such thing"}`),
		script.OutcomeNone:   strings.SplitAfter(callText("look", "a", textResult("a")), "\n")[0],
	}
	for happened, text := range texts {
		reached := Fingerprint(nil, mcptest.ParseTranscript(t, session, text))
		for _, subject := range []string{"tools/call look", "tools/call browse"} {
			for asked := range texts {
				got := slices.ContainsFunc(OutcomeFeatures(subject, asked), func(f teasel.Feature) bool { return slices.Contains(reached, f) })
				if want := asked == happened && subject == "tools/call look"; got != want {
					t.Errorf("%v happened; %s with %v: %v, want %v", happened, subject, asked, got, want)
				}
			}
		}
	}
}
