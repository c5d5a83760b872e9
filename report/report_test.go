package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

// runs returns the content of the golden files in testdata.
func runs() map[string]*Run {
	rules := []teasel.Rule{
		{ID: "mcp/server-crash", Severity: teasel.Critical, Title: "The server died",
			Help: "The process of the server ended while it was in use.\n\nWhoever can send it a message can stop it for everybody.",
		},
		{ID: "mcp/id-type", Severity: teasel.Medium, Title: "The id of an answer has another type",
			Help: "An answer must carry the id of its request, with the same value and type.", Source: "https://www.jsonrpc.org/specification#response_object"},
		{ID: "mcp/leak", Severity: teasel.Low},
	}
	full := &Run{
		Version: "0.1.0", Kind: "mcp", Target: "node server.js", Seed: 18446744073709551615, Rules: rules, Dir: "teasel-out",
		Subjects: []string{"tools/call divide", "tools/call echo", "initialize"},
		Skipped:  []Skip{{Subject: "tools/call odd", Reason: "no value can meet its schema: \"const\" and \"enum\" exclude each other"}},
		Blocked:  []string{"wipe", "delete_all"},
		Coverage: Coverage{Edges: Reach{Reached: 12, Total: 40}, Counters: Reach{Total: 9}, States: Reach{Reached: 3, Total: 4},
			Transitions: Reach{Reached: 5, Total: 7}, Tools: Reach{Reached: 1, Total: 2}, Methods: Reach{Reached: 6}},
		Summary: teasel.Summary{Stopped: "duration", Stats: teasel.Stats{Elapsed: 20*time.Second + 3*time.Millisecond,
			Executions: 123456, Features: 321, Corpus: 57, Stability: 0.99871},
			Findings: []teasel.Finding{
				{Rule: "mcp/id-type", Severity: teasel.Medium, Subject: "tools/call divide", Message: "request 5 was answered with id \"5\"",
					Stable: 1, Tries: 3, Occurrences: 2},
				{Rule: "mcp/server-crash", Severity: teasel.Critical, Subject: "tools/call divide", Group: "divide.js:3",
					Message: "the server ended with status 1 <after 0 & \"1\">",
					Detail:  "Error: division by zero\n    at divide (divide.js:3)\n    at 1\n    at 2\n    at 3\n    at 4\n    at 5\n    at 6", Stable: 3, Tries: 3, Occurrences: 12},
				{Rule: "mcp/server-crash", Severity: teasel.Critical, Subject: "tools/call divide", Group: "divide.js:9",
					Message: "killed by SIGSEGV", Detail: "killed by SIGSEGV", Stable: 3, Tries: 3, Occurrences: 1},
				{Rule: "mcp/unlisted", Severity: teasel.High, Subject: "ping", Message: "m", Stable: 3, Tries: 3, Occurrences: 1},
				{Rule: "mcp/habit", Severity: teasel.Info, Subject: "initialize", Message: "h", Stable: 3, Tries: 3, Occurrences: 1},
			}},
	}
	full.Summary.Stages = []teasel.StageStats{{Name: "havoc", Executions: 123000, Kept: 50, Time: 1500 * time.Millisecond}, {Name: "seeds", Executions: 456, Kept: 7}}
	full.History = func() (view.State, error) {
		return view.State{Panels: []view.Panel{
			{Title: "Requests", Key: "requests", Names: 1, Head: []string{"request", "testcases", "error"}, Rows: [][]string{{"tools/call divide", "12", view.Times(0)}, {"12\x1b[2J", "3", "1"}}},
			{Title: "For people", Head: []string{"file"}, Rows: [][]string{{"divide.js"}}}}}, nil
	}
	hostile := &Run{
		Version: "0.1.0-dev.3+a", Kind: "net", Target: "./a b 'c' $(d) é", Dir: "out dir/it's", Source: "teasel.toml",
		Skipped: []Skip{{Subject: "a\x1b[31m", Reason: "]]>\x00\xff\ufffe\u202e"}}, Blocked: []string{"b\n\nc"},
		Rules: []teasel.Rule{{ID: "net/crash", Severity: teasel.High, Title: "T\x07", Help: strings.Repeat("é<script>[x](http://y)`", 100)}},
		Summary: teasel.Summary{Stats: teasel.Stats{Elapsed: 61*time.Minute + time.Second/3, Executions: 3, Messages: 36603}, Findings: []teasel.Finding{
			{Rule: "net/crash", Severity: teasel.High, Subject: "s\x1b[2J\r\n", Message: "[click](http://evil) ]]> \x00\xff\u202e{0}",
				Detail: "]]>\x1b]0;title\x07\nsecond\n\n"}}},
	}
	known := &Run{Version: "0.1.0", Kind: "mcp", Target: "node server.js", Rules: rules, Dir: "teasel-out", Summary: full.Summary}
	known.Summary.Unconfirmed = []teasel.Finding{
		{Rule: "mcp/hang", Severity: teasel.High, Subject: "ping", Message: "known", Input: []byte("a")},
		{Rule: "mcp/hang", Severity: teasel.High, Subject: "initialize", Message: "new", Input: []byte("b")},
	}
	id := func(f *teasel.Finding) string { return f.ID() }
	fs, us := known.Summary.Findings, known.Summary.Unconfirmed
	known.Baseline = &Baseline{Path: "before.json", Findings: []corpus.Known{
		{ID: id(&fs[1]), Rule: fs[1].Rule, Severity: fs[1].Severity, Subject: fs[1].Subject},
		{ID: id(&us[0]), Rule: us[0].Rule, Severity: us[0].Severity, Subject: us[0].Subject},
		{ID: "0000000000000001", Rule: "mcp/gone", Severity: teasel.High, Subject: "ping", Message: "[was](http://there) ]]>\x1b"},
		{ID: "0000000000000002", Rule: "mcp/gone", Severity: teasel.High, Subject: "ping", Message: "perhaps", Pending: true},
	}, Accepted: []Accepted{
		{ID: id(&fs[0]), Reason: "known upstream, issue 12", Place: "teasel.toml:3"}, {ID: id(&fs[3]), Reason: "as it is\nmeant", Place: "teasel.toml:4"},
		{ID: "0000000000000003", Reason: "old", Place: "teasel.toml:5"},
	}}
	return map[string]*Run{"full": full, "hostile": hostile, "known": known, "nothing": {}}
}

func write(t *testing.T, format string, r *Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, r := range runs() {
		path := filepath.Join("testdata", name+".txtar")
		a := &txtar.Archive{Comment: []byte("What Write makes of the run \"" + name + "\" of the tests, in each format.\n\n")}
		for _, f := range Formats() {
			a.Files = append(a.Files, txtar.File{Name: f, Data: golden(t, f, write(t, f, r))})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Files) != len(a.Files) {
			t.Fatalf("%s: %d files, want %d", path, len(want.Files), len(a.Files))
		}
		for i, f := range a.Files {
			if !bytes.Equal(f.Data, want.Files[i].Data) {
				t.Errorf("%s: %s differs (go test -run Golden -update shows how)\n%s", path, f.Name, f.Data)
			}
		}
	}
}

// golden returns what a golden file has of a report: of a page, the state in it.
func golden(t *testing.T, format string, text []byte) []byte {
	if format != "html" {
		return text
	}
	t.Helper()
	_, data, ok := bytes.Cut(text, []byte(`<script type="application/json" id="data">`))
	data, _, closed := bytes.Cut(data, []byte("</script>"))
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", " "); err != nil || !ok || !closed {
		t.Fatalf("the page has no state: %v", err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// The order of the elements of a Run changes nothing.
func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	run := runs()["full"]
	before := map[string][]byte{}
	for _, f := range Formats() {
		before[f] = write(t, f, run)
	}
	for range 20 {
		shuffle(r, run.Summary.Findings)
		shuffle(r, run.Rules)
		shuffle(r, run.Subjects)
		shuffle(r, run.Skipped)
		shuffle(r, run.Blocked)
		for _, f := range Formats() {
			if got := write(t, f, run); !bytes.Equal(got, before[f]) {
				t.Fatalf("%s changed:\n%s", f, got)
			}
		}
	}
}

func shuffle[T any](r *rand.Rand, s []T) {
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]string{"a.txt": "text", "out/r.json": "json", "r.SARIF": "sarif", "junit.xml": "junit", "r.html": "html", "r.md": "markdown",
		"": "", "html": "", "r.out": "", "r.html/r": ""} {
		if got := FormatOf(file); got != want {
			t.Errorf("the format of %q is %q, want %q", file, got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := Write(io.Discard, "yaml", &Run{}); err == nil || !strings.Contains(err.Error(), "expected text, json, sarif, junit") {
		t.Error(err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteFails(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(brokenPipe{}, f, runs()["full"]); err == nil || !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// A message of the target cannot control a terminal.
func TestTextIsPlain(t *testing.T) {
	for _, f := range []string{"text", "junit", "markdown", "html"} {
		out := string(golden(t, f, write(t, f, runs()["hostile"])))
		if i := strings.IndexFunc(out, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\u202e' }); i >= 0 {
			t.Errorf("%s: %q", f, out[i:])
		}
		if !utf8.ValidString(out) {
			t.Errorf("%s is no UTF-8", f)
		}
	}
	unconfirmed := &Run{Summary: teasel.Summary{Unconfirmed: []teasel.Finding{{Rule: "net/\x1b[2J", Subject: "\x1b[2J", Message: "\x1b[2J"}}}}
	if out := string(write(t, "text", unconfirmed)); strings.Contains(out, "\x1b") || strings.Count(out, `\x1b[2J`) != 3 {
		t.Errorf("an unconfirmed finding: %q", out)
	}
}

func TestJSONFields(t *testing.T) {
	for name, r := range runs() {
		out := write(t, "json", r)
		if bytes.Count(out, []byte("\n")) != 1 {
			t.Errorf("%s: more than one line", name)
		}
		var o map[string]any
		if err := json.Unmarshal(out, &o); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"findings", "unconfirmed", "skipped", "blocked"} {
			if _, ok := o[k].([]any); !ok {
				t.Errorf("%s: %s is %v", name, k, o[k])
			}
		}
		want := 16
		if r.Baseline != nil { // known and gone
			want = 18
		}
		if r.Coverage != (Coverage{}) || r.Summary.Stability > 0 {
			want++
		}
		if len(r.Summary.Stages) > 0 {
			want++
		}
		if r.Summary.Messages > 0 { // and those a second
			want += 2
		}
		if r.History != nil { // tables, and features of the last minute
			want += 2
		}
		if len(o) != want {
			t.Errorf("%s: %d fields", name, len(o))
		}
	}
}

// Each broken rule of a subject is a failure with all findings of the rule, each other subject passes or is skipped, and no two
// tests have one name: GitLab drops the second.
func TestJUnitIsWhole(t *testing.T) {
	all := runs()
	all["odd"] = &Run{Kind: "mcp", Subjects: []string{"a", "b", "c"}, Skipped: []Skip{{Subject: "a", Reason: "too odd"}, {Subject: "a", Reason: "too deep"}, {Subject: "b"}},
		Summary: teasel.Summary{Findings: []teasel.Finding{{Rule: "mcp/x", Subject: "b", Message: "m"}, {Rule: "mcp/x", Subject: "b\n", Message: "n"}}}}
	for name, want := range map[string]struct{ tests, failures, skipped int }{
		"full":    {9, 3, 3}, // two findings are of one rule and one subject, and one is for information
		"hostile": {3, 1, 2},
		"known":   {9, 1, 4}, // one of the failed test's rule is known, and one is unconfirmed
		"nothing": {1, 0, 1},
		"odd":     {4, 1, 2},
	} {
		text := write(t, "junit", all[name])
		var suites junit.Testsuites
		if err := xml.Unmarshal(text, &suites); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		failures, skipped, seen := 0, 0, map[string]bool{}
		for _, c := range suites.Suites[0].Testcases {
			if id := c.Classname + " " + c.Name; seen[id] {
				t.Errorf("%s: two tests are named %s", name, id)
			} else {
				seen[id] = true
			}
			if c.Failure != nil {
				failures++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		if s := suites.Suites[0]; len(suites.Suites) != 1 || len(seen) != want.tests || failures != want.failures || skipped != want.skipped ||
			s.Tests != want.tests || s.Failures != want.failures || s.Skipped != want.skipped || suites.Tests != want.tests || suites.Failures != want.failures {
			t.Errorf("%s: %d tests, %d failures, %d skipped, want %v in\n%s", name, len(seen), failures, skipped, want, text)
		}
		if got, want := strings.Count(string(text), "\nseverity: "), len(all[name].known())+len(all[name].newFindings())+len(all[name].Pending()); got != want {
			t.Errorf("%s: the texts of %d findings, want %d", name, got, want)
		}
	}
}

// What stands in a report is what the schema of Jenkins's xUnit plugin (junit-10.xsd) allows, which is stricter than
// its JUnit plugin and GitLab are.
func TestJUnitSchema(t *testing.T) {
	allowed := map[string]string{
		"testsuites": "name time tests failures errors",
		"testsuite":  "name tests failures errors group time skipped timestamp hostname id package file log url",
		"properties": "",
		"property":   "name value",
		"testcase":   "name time classname group",
		"failure":    "type message",
		"error":      "type message",
		"skipped":    "type message",
		"system-out": "",
	}
	parents := map[string]string{"testsuites": "", "testsuite": "testsuites", "properties": "testsuite", "property": "properties",
		"testcase": "testsuite", "failure": "testcase", "error": "testcase", "skipped": "testcase", "system-out": "testcase"}
	seconds := regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	for name, r := range runs() {
		d := xml.NewDecoder(bytes.NewReader(write(t, "junit", r)))
		path := []string{""}
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				if parent, ok := parents[e.Name.Local]; !ok || parent != path[len(path)-1] {
					t.Errorf("%s: %s in %q", name, e.Name.Local, path)
				}
				path = append(path, e.Name.Local)
				for _, a := range e.Attr {
					if !slices.Contains(strings.Fields(allowed[e.Name.Local]), a.Name.Local) {
						t.Errorf("%s: %s has an attribute %s", name, e.Name.Local, a.Name.Local)
					}
					if a.Name.Local == "time" && !seconds.MatchString(a.Value) {
						t.Errorf("%s: time %q", name, a.Value)
					}
				}
			case xml.EndElement:
				path = path[:len(path)-1]
			}
		}
	}
}

// schema returns the official schema, unchanged.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	path := filepath.Join("testdata", "sarif-schema-2.1.0.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e" {
		t.Fatalf("%s has digest %s", path, got)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(sarifSchema, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSARIFIsValid(t *testing.T) {
	s := schema(t)
	check := func(text []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return s.Validate(doc)
	}
	for name, r := range runs() {
		text := write(t, "sarif", r)
		if err := check(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range github(text) {
			t.Errorf("%s: %s", name, p)
		}
	}
	bad := bytes.Replace(write(t, "sarif", runs()["full"]), []byte(`"startLine": 1`), []byte(`"startLine": 0`), 1)
	if check(bad) == nil {
		t.Error("the schema takes anything")
	}
	if len(github([]byte(`{"runs":[{"tool":{"driver":{"rules":[{"id":"x"}]}},"results":[{"ruleId":"x"}]}]}`))) < 10 {
		t.Error("the check of what GitHub needs takes anything")
	}
}

// github checks what GitHub's page "SARIF support for code scanning" asks for beyond the schema.
func github(text []byte) (problems []string) {
	type message struct{ Text, Markdown string }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			AutomationDetails struct{ ID string }
			Tool              struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID                                      string
						ShortDescription, FullDescription, Help message
						Properties                              struct {
							Tags             []string
							Precision        string
							SecuritySeverity string `json:"security-severity"`
						}
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex *int
				Level     string
				Message   message
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	need := func(ok bool, what string) {
		if !ok {
			problems = append(problems, what)
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		return []string{err.Error()}
	}
	need(log.Schema != "" && log.Version == "2.1.0" && len(log.Runs) == 1, "schema, version, one run")
	for _, run := range log.Runs {
		d := run.Tool.Driver
		need(d.Name != "", "tool.driver.name")
		id := run.AutomationDetails.ID
		need(strings.HasPrefix(id, "teasel/") && strings.HasSuffix(id, "/") && strings.Count(id, "/") == 2, "automationDetails.id "+id)
		for _, u := range d.Rules {
			need(u.ID != "" && u.ShortDescription.Text != "", "rule.shortDescription")
			need(u.FullDescription.Text != "" && utf8.RuneCountInString(u.FullDescription.Text) <= 1024, "rule.fullDescription")
			need(u.Help.Text != "" && u.Help.Markdown != "", "rule.help")
			need(slices.Contains(u.Properties.Tags, "fuzzing") && len(u.Properties.Tags) <= 10, "rule.properties.tags")
			need(u.Properties.Precision != "", "rule.properties.precision")
			// GitHub rates what is tagged as security; what is only for information is neither.
			need(slices.Contains(u.Properties.Tags, "security") == (u.Properties.SecuritySeverity != ""), "rule.properties.security-severity")
		}
		for _, f := range run.Results {
			need(f.RuleIndex != nil && *f.RuleIndex >= 0 && *f.RuleIndex < len(d.Rules) && d.Rules[*f.RuleIndex].ID == f.RuleID, "result.ruleIndex")
			need(slices.Contains([]string{"note", "warning", "error"}, f.Level), "result.level")
			need(f.Message.Text != "" && !strings.Contains(f.Message.Text, "]("), "result.message")
			need(f.PartialFingerprints["primaryLocationLineHash"] != "", "result.partialFingerprints")
			need(len(f.Locations) == 1, "result.locations")
			for _, l := range f.Locations {
				u := l.PhysicalLocation.ArtifactLocation.URI
				need(u != "" && !strings.HasPrefix(u, "/") && !strings.Contains(u, "..") && !strings.Contains(u, ":"), "location "+u)
				g := l.PhysicalLocation.Region
				need(g.StartLine > 0 && g.StartColumn > 0 && g.EndLine > 0 && g.EndColumn > 0, "region")
			}
		}
	}
	return problems
}

func TestSARIFLocation(t *testing.T) {
	root := t.TempDir()
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	f := teasel.Finding{Rule: "r"}
	file := f.ID() + ".json"
	for _, c := range []struct {
		name string
		run  Run
		want string
	}{
		{"below the working directory", Run{Dir: "out"}, "out/findings/" + file},
		{"an absolute path in the repository", Run{Dir: filepath.Join(root, "a b"), Root: root}, "a%20b/findings/" + file},
		{"outside", Run{Dir: "/elsewhere", Root: root}, "teasel-out/findings/" + file},
		{"above", Run{Dir: "../out"}, "teasel-out/findings/" + file},
		{"above, but in the repository", Run{Dir: "../out", Root: filepath.Dir(work)}, "out/findings/" + file},
		{"a file to point at", Run{Dir: "out", Root: root, Source: "conf/teasel.toml"}, "conf/teasel.toml"},
		{"a colon", Run{Dir: "c:x"}, "c:x/findings/" + file},
	} {
		if got, line := c.run.location(&f); got != c.want || line != 1 {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if got, _ := (&Run{Dir: filepath.Join(link, "out"), Root: root}).location(&f); got != "out/findings/"+file {
		t.Errorf("through a link: %s", got)
	}
	lined := &Run{Dir: "out", Root: root, Line: func(teasel.Finding) (string, int) { return filepath.Join(root, "p", "p.go"), 12 }}
	if got, line := lined.location(&f); got != "p/p.go" || line != 12 {
		t.Errorf("a line of source: %s:%d", got, line)
	}
	lined.Root = t.TempDir()
	if got, line := lined.location(&f); line != 1 {
		t.Errorf("a line of source outside of the repository: %s:%d", got, line)
	}
}

// A report names the test that a finding is of, and known findings of a test that did not run are not gone.
func TestTests(t *testing.T) {
	r := &Run{Kind: "go", Subjects: []string{"m FuzzA"}, Test: func(teasel.Finding) string { return "m FuzzA" },
		Baseline: &Baseline{Findings: []corpus.Known{{ID: "0000000000000001", Rule: "go/exit", Test: "m FuzzA"}, {ID: "0000000000000002", Rule: "go/exit", Test: "m FuzzB"}}},
		Summary: teasel.Summary{Findings: []teasel.Finding{{Rule: "go/exit", Severity: teasel.Medium, Subject: "test", Message: "it ended", Stable: 3, Tries: 3}},
			Unconfirmed: []teasel.Finding{{Rule: "go/hang", Severity: teasel.Medium, Subject: "test", Message: "it hangs", Input: []byte("a")}}}}
	if gs := r.gone(); len(gs) != 1 || gs[0].ID != "0000000000000001" {
		t.Errorf("%v are gone, want what FuzzA had found", gs)
	}
	for format, want := range map[string]string{"text": "it ended (m FuzzA)\n", "json": `"test":"m FuzzA"`, "sarif": `"fullyQualifiedName": "m FuzzA"`} {
		var b bytes.Buffer
		if err := Write(&b, format, r); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s has no %q: %v\n%s", format, want, err, &b)
		}
	}
	o := r.Outcome()
	o.Found = nil
	if got := r.count(&o); got != "Nothing new confirmed; 1 unconfirmed; 1 gone" {
		t.Errorf("%q", got)
	}
}

// Findings that were not reproduced are listed if Unreproduced has their rule, beside those that there was no time to reproduce.
func TestUnreproduced(t *testing.T) {
	r := &Run{Kind: "go", Dir: "out", Summary: teasel.Summary{Unconfirmed: []teasel.Finding{
		{Rule: "go/exit", Severity: teasel.Medium, Subject: "FuzzX", Message: "tried", Input: []byte("a"), Tries: 3},
		{Rule: "go/panic", Severity: teasel.High, Subject: "FuzzX", Message: "not tried", Input: []byte("b")},
	}}}
	if text := string(write(t, "text", r)); strings.Contains(text, ": tried") || !strings.Contains(text, "no time to reproduce\n  high go/panic  FuzzX: not tried\n") {
		t.Errorf("not wanted:\n%s", text)
	}
	r.Unreproduced = []string{"go/exit"}
	if text := string(write(t, "text", r)); !strings.Contains(text, "seen, and not reproduced\n  medium go/exit  FuzzX: tried\n    teasel repro out/unconfirmed/") ||
		!strings.Contains(text, "no time to reproduce\n  high go/panic  FuzzX: not tried\n") {
		t.Errorf("wanted:\n%s", text)
	}
	var summary struct {
		Unconfirmed, Unreproduced []struct {
			Message string
			Tries   int
		}
		NotReproduced int `json:"not_reproduced"`
	}
	if err := json.Unmarshal(write(t, "json", r), &summary); err != nil {
		t.Fatal(err)
	}
	if u, n := summary.Unconfirmed, summary.Unreproduced; len(u) != 1 || u[0].Message != "not tried" || len(n) != 1 || n[0].Message != "tried" || n[0].Tries != 3 ||
		summary.NotReproduced != 1 {
		t.Errorf("one finding is in two counts: %+v", summary)
	}
}

// The report shows the last messages of an exchange, and the first frames of a stack.
func TestTextDetail(t *testing.T) {
	var detail strings.Builder
	detail.WriteString("- new connection\n")
	for i := range 9 {
		fmt.Fprintf(&detail, "> put \"%d\"\n< \"OK\"\n", i)
	}
	detail.WriteString("> crash \"now\"\n\nstack:\n")
	for i := range 20 {
		fmt.Fprintf(&detail, "  f%d a.c:%d\n", i, i)
	}
	r := &Run{Kind: "net", Dir: "out", Summary: teasel.Summary{Findings: []teasel.Finding{{Rule: "net/server-crash", Severity: teasel.Critical, Message: "m", Detail: detail.String()}}}}
	const want = "      ... 16 earlier lines\n      < \"OK\"\n      > put \"8\"\n      < \"OK\"\n      > crash \"now\"\n" +
		"      stack:\n        f0 a.c:0\n        f1 a.c:1\n        f2 a.c:2\n        f3 a.c:3\n        f4 a.c:4\n      ... 15 more lines\n"
	if text := string(write(t, "text", r)); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant in it\n%s", text, want)
	}
	f := &r.Summary.Findings[0]
	f.Detail = regexp.MustCompile("(?m)^[-<>] ").ReplaceAllString(f.Detail, "client 1 $0")
	if text, want := string(write(t, "text", r)), regexp.MustCompile("(?m)^      [<>] ").ReplaceAllString(want, "      client 1 ${0}"); !strings.Contains(text, strings.ReplaceAll(want, "1       ", "1 ")) {
		t.Errorf("of several clients: got\n%s\nwant in it\n%s", text, want)
	}
}

// A finding that could not be saved has no file that a report could name: it has the reason and the input, in all formats.
func TestUnsaved(t *testing.T) {
	r := &Run{Dir: "teasel-out", Scripts: true, Summary: teasel.Summary{
		Findings: []teasel.Finding{{Rule: "mcp/crash", Severity: teasel.High, Subject: "ping", Message: "m", Input: []byte(`{"confirmed":"\u001b"}`),
			Unsaved: "write x: no space left on device"}},
		Unconfirmed: []teasel.Finding{{Rule: "mcp/hang", Severity: teasel.High, Subject: "ping", Message: "m", Input: []byte{0xff, 'a'}, Unsaved: "write y: no space left on device"}}}}
	for _, format := range Formats() {
		out := string(golden(t, format, write(t, format, r)))
		for _, want := range []string{"write x: no space", "write y: no space", "confirmed", "/2E="} {
			if format == "markdown" && strings.ContainsAny(want, "y/") {
				continue // it lists what is unconfirmed, and has no details of it
			}
			if !strings.Contains(out, want) {
				t.Errorf("%s does not have %q:\n%s", format, want, out)
			}
		}
		if strings.Contains(out, "teasel-out/") || strings.Contains(out, "teasel repro") {
			t.Errorf("%s names a file that does not exist:\n%s", format, out)
		}
	}
}
