package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// exchange is a case of a file in testdata/transcripts: a transcript and the findings it has to give, which are none when
// nothing is wanted.
type exchangeCase struct {
	name string
	want []wanted
	text string
}

type wanted struct{ rule, subject, severity string }

func readExchanges(t testing.TB) []exchangeCase {
	t.Helper()
	files, err := filepath.Glob("../testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var cases []exchangeCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			c := exchangeCase{name: name}
			for line := range strings.Lines(body) {
				if rest, ok := strings.CutPrefix(line, "want "); ok {
					c.want = append(c.want, parseWanted(rest))
					continue
				}
				c.text += line
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func parseWanted(s string) (w wanted) {
	w.rule, s, _ = strings.Cut(strings.TrimSpace(s), " ")
	if strings.HasPrefix(s, `"`) {
		w.subject, s, _ = strings.Cut(s[1:], `"`)
	}
	w.severity = strings.TrimSpace(s)
	return w
}

func TestDetectors(t *testing.T) {
	session := mcptest.DeskSession(t)
	for _, c := range readExchanges(t) {
		t.Run(c.name, func(t *testing.T) {
			found := judgeText(t, session, c.text)
			if len(found) != len(c.want) {
				t.Errorf("%d findings, want %d", len(found), len(c.want))
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(found, func(f teasel.Finding) bool {
					return f.Rule == w.rule && (w.subject == "" || f.Subject == w.subject) && (w.severity == "" || f.Severity.String() == w.severity)
				}) {
					t.Errorf("no finding %v", w)
				}
			}
			for _, f := range found {
				if f.Message == "" || f.Detail == "" || !strings.HasSuffix(f.Message, ".") {
					t.Errorf("%s: message %q, detail %q", f.Rule, f.Message, f.Detail)
				}
				if t.Failed() {
					t.Logf("%s %s %q %q: %s", f.Rule, f.Severity, f.Subject, f.Group, f.Message)
				}
			}
		})
	}
}

// TestRulesHaveTwins asks for each rule that it is found in one transcript at least, and that there is another, right one,
// in which nothing of it is found.
func TestRulesHaveTwins(t *testing.T) {
	cases := readExchanges(t)
	for _, rule := range Rules() {
		broken := slices.ContainsFunc(cases, func(c exchangeCase) bool {
			return slices.ContainsFunc(c.want, func(w wanted) bool { return w.rule == rule.ID })
		})
		right := slices.ContainsFunc(cases, func(c exchangeCase) bool {
			return strings.HasPrefix(c.name+":", rule.ID+" right:") && !slices.ContainsFunc(c.want, func(w wanted) bool { return w.rule == rule.ID })
		})
		if !broken || !right {
			t.Errorf("%s: found in a transcript: %v, silent on its twin: %v", rule.ID, broken, right)
		}
	}
}

func TestRules(t *testing.T) {
	rules := Rules()
	for id := range scopes {
		if !slices.ContainsFunc(rules, func(r teasel.Rule) bool { return r.ID == id }) {
			t.Errorf("%s holds somewhere and is no rule", id)
		}
	}
	for _, r := range rules {
		if stated := strings.HasPrefix(r.Source, specification); stated && r.Level == "" && r.Since == "" && r.Transport == "" && r.ID != RuleExit {
			t.Errorf("%s has a source and no level", r.ID)
		}
	}
	for i, r := range rules {
		if i > 0 && rules[i-1].ID >= r.ID {
			t.Errorf("%s stands after %s", r.ID, rules[i-1].ID)
		}
		if !strings.HasPrefix(r.ID, "mcp/") || r.Severity == teasel.SeverityInvalid || r.Title == "" || strings.Count(r.Help, "\n\n") < 1 && len(r.Help) < 60 {
			t.Errorf("%+v lacks something", r)
		}
	}
}

// TestOrderOfTranscripts judges all transcripts with one set of detectors, in both directions: nothing of one may show
// in the next.
func TestOrderOfTranscripts(t *testing.T) {
	session := mcptest.DeskSession(t)
	cases := readExchanges(t)
	detectors := Detectors(DetectorConfig{})
	judge := func(c exchangeCase) (found []string) {
		obs := teasel.Observation{Evidence: mcptest.ParseTranscript(t, session, c.text)}
		for _, d := range detectors {
			for _, f := range d.Detect(&obs) {
				found = append(found, fmt.Sprint(f.Rule, f.Subject, f.Group, f.Message))
			}
		}
		return found
	}
	var forward [][]string
	for _, c := range cases {
		forward = append(forward, judge(c))
	}
	for i := len(cases) - 1; i >= 0; i-- {
		if again := judge(cases[i]); !slices.Equal(again, forward[i]) {
			t.Errorf("%s: first %q, then %q", cases[i].name, forward[i], again)
		}
	}
}

func TestOtherEvidence(t *testing.T) {
	for _, evidence := range []any{nil, "text", (*script.Transcript)(nil), &script.Transcript{}} {
		for _, d := range Detectors(DetectorConfig{}) {
			if found := d.Detect(&teasel.Observation{Evidence: evidence}); found != nil {
				t.Errorf("%T: %v", evidence, found)
			}
		}
	}
}

// TestFindingsAreBounded feeds many different inputs into the same bug: it has to stay one finding.
func TestFindingsAreBounded(t *testing.T) {
	session := mcptest.DeskSession(t)
	ids := make(map[string]bool)
	for i := range 200 {
		text := fmt.Sprintf("> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"message\":\"input %d %x\"}}}\n"+
			"2> Error: cannot handle \"input %d %x\" of request %d\n! exit 1\n", i*7919, i*i, i*7919, i*i, i)
		for _, f := range judgeText(t, session, text) {
			ids[f.ID()] = true
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d findings, want 1", len(ids))
	}
}

func BenchmarkDetectors(b *testing.B) {
	obs := teasel.Observation{Evidence: mcptest.ParseTranscript(b, mcptest.DeskSession(b), mcptest.EchoExchange)}
	detectors := Detectors(DetectorConfig{})
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range detectors {
			if found := d.Detect(&obs); found != nil {
				b.Fatal(found)
			}
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	transcript := mcptest.ParseTranscript(b, mcptest.DeskSession(b), mcptest.EchoExchange)
	var features []teasel.Feature
	b.ReportAllocs()
	for b.Loop() {
		features = observe.Fingerprint(features[:0], transcript)
	}
}

func TestIsUsual(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":7}}}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"a"}}}`, true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":9007199254740993}}}`, false}, // many parsers change it
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1.5}}}`, false},
		{`{"jsonrpc":"2.0","id":9007199254740991,"method":"tools/list"}`, true},
		{`{"jsonrpc":"2.0","id":9007199254740992,"method":"tools/list"}`, false},
		{`{"jsonrpc":"2.1","id":1,"method":"tools/list"}`, false},
	} {
		m := jsonrpc.Parse([]byte(tt.line))
		if got := isUsual(&m); got != tt.want {
			t.Errorf("%s: %v, expected %v", tt.line, got, tt.want)
		}
	}
}

// Each sign is seen wherever it stands, and ordinary lines have none.
func TestSigns(t *testing.T) {
	for _, sign := range leakTexts {
		for _, line := range []string{sign, `{"text":"` + sign, sign + "x", sign[:1] + sign} {
			if leakSigns.In([]byte(line)) == "" {
				t.Errorf("nothing seen in %q", line)
			}
		}
		if seen := leakSigns.In([]byte(sign[:len(sign)-1])); seen != "" {
			t.Errorf("%q seen in %q", seen, sign[:len(sign)-1])
		}
	}
	for _, line := range []string{"", "s", `{"jsonrpc":"2.0","id":1,"result":{}}`, mcptest.EchoExchange} {
		if seen := leakSigns.In([]byte(line)); seen != "" {
			t.Errorf("%q seen in %q", seen, line)
		}
	}
}

// TestGuiltyLine: the line that is to blame is named, and the last one if that is another.
func TestGuiltyLine(t *testing.T) {
	session := mcptest.DeskSession(t)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}`
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, tt := range []struct{ text, want string }{
		{"> " + call + "\n! exit 1\n", "tools/call look."},
		{">& " + call + "\n> " + cancel + "\n! exit 1\n", `tools/call look and then notifications/cancelled {"requestId":1}.`},
		{">& " + call + "\n>& " + cancel + "\n> " + ping + "\n! exit 1\n", "tools/call look, 1 more and then ping."},
	} {
		found := judgeText(t, session, tt.text)
		if len(found) != 1 || !strings.HasSuffix(found[0].Message, "after "+tt.want) {
			t.Errorf("found %v, want one that ends in %s", found, tt.want)
		}
	}
}

// TestMessagesOfNothing: a message that quotes what was sent says so where that is nothing.
func TestMessagesOfNothing(t *testing.T) {
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}}},"tools":[]}`)
	for _, tt := range []struct{ text, want string }{
		{"> \n! deaf\n", "After a blank line the server answered nothing"},
		{">  \t\n! deaf\n", "After a blank line the server answered nothing"},
		{`> {"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":""}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}` + "\n",
			`although "" is no URI;`},
	} {
		if found := judgeText(t, session, tt.text); len(found) != 1 || !strings.Contains(found[0].Message, tt.want) {
			t.Errorf("%q: found %v, want one that says %q", tt.text, found, tt.want)
		}
	}
}

// TestHangByWorld: how bad a call without an answer is depends on whether it may be waiting for somebody else, which it may
// by default.
func TestHangByWorld(t *testing.T) {
	const hung = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}}` + "\n! hung"
	for _, tt := range []struct{ annotations, busy, rule, severity string }{
		{`,"annotations":{"openWorldHint":false}`, "", RuleHang, "high"},
		{`,"annotations":{"openWorldHint":true}`, "", RuleSlow, "info"},
		{`,"annotations":{"openWorldHint":true}`, " busy", RuleHang, "low"},
		{`,"annotations":{"readOnlyHint":true}`, "", RuleHang, "info"},
		{``, "", RuleHang, "info"},
		{``, " busy", RuleHang, "low"},
	} {
		session := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[{"name":"one","inputSchema":{"type":"object"}`+tt.annotations+`}]}`)
		found := judgeText(t, session, hung+tt.busy+"\n")
		if len(found) != 1 || found[0].Rule != tt.rule || found[0].Severity.String() != tt.severity {
			t.Errorf("%s%s: found %v, want %s %s", tt.annotations, tt.busy, found, tt.severity, tt.rule)
		}
	}
}

// TestHangAfterOtherCancel: a request that a cancellation of another id has silenced is reported with that cancellation, and is no
// hang that anybody waits for.
func TestHangAfterOtherCancel(t *testing.T) {
	const text = `>& {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}
! hung
`
	found := judgeText(t, mcptest.DeskSession(t), text)
	if len(found) != 1 || found[0].Rule != RuleHang || found[0].Severity != teasel.Info || !strings.Contains(found[0].Message, `"requestId":"7"`) {
		t.Errorf("found %v, want an info %s that quotes the cancellation", found, RuleHang)
	}
}

// TestHangAfterGarbage: an error without an id says nothing of a request that was sent after it.
func TestHangAfterGarbage(t *testing.T) {
	const refused = `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n"
	const call = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}` + "\n"
	session := mcptest.DeskSession(t)
	for _, tt := range []struct {
		text string
		want int
	}{
		{"> {bad\n" + refused + call + "! hung\n", 1},
		{"> {bad\n" + call + refused + "! hung\n", 0},
	} {
		if found := judgeText(t, session, tt.text); len(found) != tt.want {
			t.Errorf("%s: found %v, want %d", tt.text, found, tt.want)
		}
	}
}

// A page whose faults were reported earlier in the same transcript is not in order: it is judged again in the next transcript.
func TestListTwiceInOneTranscript(t *testing.T) {
	const page = `"result":{"tools":[{"name":"a"}]}}` + "\n"
	once := `> {"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `< {"jsonrpc":"2.0","id":1,` + page
	twice := once + `> {"jsonrpc":"2.0","id":3,"method":"tools/list"}` + "\n" + `< {"jsonrpc":"2.0","id":3,` + page
	d := Detectors(DetectorConfig{})[0]
	for i, text := range []string{twice, once} {
		fs := d.Detect(&teasel.Observation{Evidence: mcptest.ParseTranscript(t, mcptest.DeskSession(t), text)})
		if len(fs) != 1 || fs[0].Rule != RuleToolDefinition {
			t.Errorf("transcript %d: %v", i, fs)
		}
	}
}

// TestCursorSeverity: to ignore a cursor is a habit of SDKs where a list has no pages, and a fault where it has some.
func TestCursorSeverity(t *testing.T) {
	session := *mcptest.DeskSession(t)
	for pages, want := range map[int]teasel.Severity{0: teasel.Info, 1: teasel.Info, 3: teasel.Low} {
		session.Pages = map[string]int{"prompts/list": pages}
		for _, cursor := range []string{`"teasel_no_such_a1"`, `5`} {
			found := judgeText(t, &session, `> {"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{"cursor":`+cursor+"}}\n"+
				`< {"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}`+"\n")
			if len(found) != 1 || found[0].Rule != RuleCursor || found[0].Severity != want {
				t.Errorf("%d pages, cursor %s: found %v, want %v", pages, cursor, found, want)
			}
		}
	}
}

// TestHugeLinesTakeTime: the size of a line explains how long a server takes for it, unless it does nothing.
func TestHugeLinesTakeTime(t *testing.T) {
	mcptest.Computes(t)
	const huge = `> {"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"«a*17825792»"}}` + "\n"
	const answer = `< {"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	for _, tt := range []struct {
		text string
		want int
	}{
		{huge + "wait 10s\n" + answer, 0},
		{huge + "wait 30s\n" + answer, 1},
		{huge + "! deaf busy\n", 0},
		{huge + "! hung\n", 0},
	} {
		if found := judgeText(t, mcptest.DeskSession(t), tt.text); len(found) != tt.want {
			t.Errorf("%s: found %v, want %d", tt.text[len(huge):], found, tt.want)
		}
	}
}

// TestFaultOfTheScript: what a server has logged of earlier requests is not what it died of.
func TestFaultOfTheScript(t *testing.T) {
	const died = "Error: gone\n    at take (/srv/b.js:4:5)\n    at main (/srv/a.js:1:2)\n\nNode.js v22.4.0\n"
	for _, tt := range []struct{ during, all, rule, place string }{
		{died, mcptest.LoggedByNode + died, RuleCrash, "take b.js:4:5"},
		{died, "Traceback (most recent call last):\nMemoryError\n" + died, RuleCrash, "take b.js:4:5"},
		{"bye\n", mcptest.LoggedByNode + "bye\n", RuleCrash, ""},
		{"", died, RuleCrash, "take b.js:4:5"}, // several scripts were under way: nobody knows whose it is
	} {
		transcript := mcptest.ParseTranscript(t, mcptest.DeskSession(t), `> {"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n! exit 1\n")
		transcript.Stderr, transcript.End.Stderr = []byte(tt.during), []byte(tt.all)
		var found []teasel.Finding
		for _, d := range Detectors(DetectorConfig{}) {
			found = append(found, d.Detect(&teasel.Observation{Evidence: transcript})...)
		}
		if len(found) != 1 || found[0].Rule != tt.rule || found[0].Fault != tt.place {
			t.Errorf("%q at the end of %q: found %v, want %s at %q", tt.during, tt.all, found, tt.rule, tt.place)
		}
	}
}

// BenchmarkDetect judges the transcripts of the tests, each in turn: one operation is one transcript.
func BenchmarkDetect(b *testing.B) {
	session := mcptest.DeskSession(b)
	d := Detectors(DetectorConfig{})[0]
	for _, kind := range []string{"right", "wrong"} {
		b.Run(kind, func(b *testing.B) {
			var all []*teasel.Observation
			for _, c := range readExchanges(b) {
				if (len(c.want) == 0) == (kind == "right") {
					all = append(all, &teasel.Observation{Evidence: mcptest.ParseTranscript(b, session, c.text)})
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				d.Detect(all[i%len(all)])
			}
		})
	}
}

// TestScopes: a rule that does not hold in the version that was agreed upon, or over the transport, finds nothing.
func TestScopes(t *testing.T) {
	for _, tt := range []struct {
		version, transport string
		rule               string
		want               bool
	}{
		{"2025-06-18", "", RuleOutputSchema, true}, {"2025-03-26", "", RuleOutputSchema, false}, {"2026-07-28", "", RuleVersion, false}, {"2025-11-25", "", RuleVersion, true},
		{"", "", RuleVersion, true}, {"2025-11-25", "HTTP", RuleNoise, false}, {"2025-11-25", "", RuleNoise, true}, {"2025-11-25", "", RuleHTTPOrigin, false},
		{"2025-11-25", "HTTP", RuleHTTPOrigin, true}, {"2024-11-05", "", RuleHang, true},
	} {
		j := &judge{rules: ruleByID(), session: &session.Session{HTTP: tt.transport == "HTTP"}, phase: phase{version: tt.version}}
		if j.report(tt.rule, "a", "", "A."); len(j.found) > 0 != tt.want {
			t.Errorf("%s in version %q, %q: found %v", tt.rule, tt.version, tt.transport, j.found)
		}
	}
}
