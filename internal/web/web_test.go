package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/view"
)

func report(t *testing.T, r teasel.Reporter, events ...teasel.Event) {
	t.Helper()
	for _, e := range events {
		if err := r.Report(e); err != nil {
			t.Fatal(err)
		}
	}
}

func progress(second int) teasel.Event {
	n := uint64(second)
	return teasel.Event{Kind: teasel.EventProgress, Workers: []teasel.WorkerState{{Number: 0, Executions: n * 600}, {Number: 1, Executions: n * 400}},
		Stats: teasel.Stats{Elapsed: time.Duration(second) * time.Second, Executions: n * 1000, Messages: n * 4000, Corpus: 40 + 2*second, Features: 100 + 7*second - second*second/100, Findings: min(6, second/20), Workers: 2,
			Memory: 80 << 20, Stability: 0.98, LastKept: time.Duration(second-1) * time.Second, LastFound: time.Duration(second/2) * time.Second,
			Stages: []teasel.StageStats{{Name: "confirm", Executions: n * 20}, {Name: "havoc", Executions: n * 700, Kept: 2 * n}, {Name: "splice", Executions: n * 280, Kept: n / 2}}}}
}

func finding(rule string, severity teasel.Severity, subject string) teasel.Event {
	return teasel.Event{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: rule, Severity: severity, Subject: subject, Message: "the server ended with status 2 after a request",
		Detail: `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_note","arguments":{"text":"","priority":10}}}` + "\n" +
			`< {"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"closed","type":"text"}],"isError":false}}` + "\n- connection closed by the server\n" +
			"server exited with status 2\nstderr:\npanic: runtime error: index out of range [10] with length 10\n\ngoroutine 1 [running]:\nmain.addNote(0xc000)\n\t/src/main.go:69 +0x485\n",
		Input: []byte(`{"steps":["short"]}`), Original: []byte(`{"steps":["a much longer one"]}`), Stable: 3, Tries: 3, Occurrences: 17, Execution: 1234}}
}

// panels is a panel with a graph.
type panels struct{}

func (panels) Panels([]teasel.Entry) []view.Panel {
	return []view.Panel{{Title: "States", Head: []string{"state", "message", "leads to", "testcases"},
		Rows:  [][]string{{"new", "", "", "12"}, {"", "hello", "greeted", "9"}, {"greeted", "", "", "9"}, {"", "login", "inside", "never"}, {"inside", "", "", "never"}},
		Nodes: []view.Node{{Name: "new", Times: 12}, {Name: "greeted", Times: 9}, {Name: "inside"}, {Name: "closed", Times: 3}},
		Edges: []view.Edge{{From: "new", To: "greeted", Label: "hello", Times: 9}, {From: "new", To: "new", Label: "noop", Times: 5}, {From: "greeted", To: "inside", Label: "login"},
			{From: "greeted", To: "closed", Label: "quit", Times: 3}, {From: "closed", To: "new", Label: "hello", Times: 1, Undeclared: true}}},
		{Title: "Messages sent, in testcases", Key: "messages", Names: 1, Head: []string{"message", "testcases"}, Rows: [][]string{{"hello \"x\"", "12"}, {"quit", "never"}}}}
}

// code is a panel with a source file: this one.
type code struct{}

func (code) Panels([]teasel.Entry) []view.Panel {
	return []view.Panel{{Title: "Source files reached", Head: []string{"file", "blocks reached", "of"}, Rows: [][]string{{"web_test.go", "1", "2"}}, Files: []string{"web_test.go"}}}
}

func (code) Lines(_ []teasel.Entry, file string) (view.Lines, bool) {
	return view.Lines{Reached: []int{1}, Missed: []int{3}}, file == "web_test.go"
}

// sample returns the recorder of a campaign that has run for two minutes.
func sample(t *testing.T, kind string) *view.Recorder {
	o := view.Options{Rules: []teasel.Rule{{ID: kind + "/crash", Title: "The target died", Help: "Whoever can send it a message can stop it.\n\nFix it."}},
		Commands: func(*teasel.Finding) []view.Command {
			return []view.Command{{Title: "reproduce it", Text: "teasel repro teasel-out/findings/x.json"}, {Title: "without teasel", Text: "./target < input"}}
		}, Pause: &teasel.Pause{}}
	switch kind {
	case "net":
		o.Panels = panels{}
	case "native":
		o.Panels = code{}
	}
	rec := view.NewRecorder(view.State{Kind: kind, Target: "node server.js", Teasel: "0.1.0", Seed: 7, Duration: 600, Dir: "teasel-out", Blocked: []string{"delete_all"}},
		[]teasel.Entry{{Key: "a"}}, o)
	features := func(n int) teasel.FeatureSet {
		var all []teasel.Feature
		for f := range n {
			all = append(all, teasel.Feature(f+1))
		}
		return teasel.NewFeatureSet(all...)
	}
	report(t, rec, teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: "5eed", Data: []byte("given"), Runs: 3, Features: features(2), First: 2, Execution: 1, Found: time.Second}},
		teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: "c41d", Data: []byte("<b>\x00\xff"), Runs: 3, Stage: "havoc", Parent: "5eed", Depth: 1, Features: features(3), First: 1, Execution: 70, Found: 2 * time.Second}})
	for i := 1; i <= 120; i++ {
		report(t, rec, progress(i))
		if i%20 == 0 {
			severity := teasel.Severity(i/20%5) + 1
			report(t, rec, finding(kind+"/crash", severity, fmt.Sprint("tools/call number ", i/20)))
		}
	}
	report(t, rec, teasel.Event{Kind: teasel.EventNote, Text: "a note <b>to</b> the user"})
	return rec
}

func serve(t *testing.T, token string) *httptest.Server {
	t.Helper()
	h, err := Handler(sample(t, "mcp"), token)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts
}

func TestGuard(t *testing.T) {
	open, closed := serve(t, ""), serve(t, "t0k")
	h, err := Handler(sample(t, "native"), "")
	if err != nil {
		t.Fatal(err)
	}
	native := httptest.NewServer(h)
	defer native.Close()
	for _, test := range []struct {
		server             *httptest.Server
		method, path, host string
		header             http.Header
		want               int
	}{
		{open, "GET", "/", "", nil, 200},
		{open, "GET", "/api/state", "localhost:1", nil, 200},
		{open, "GET", "/api/state", "[::1]:8080", nil, 200},
		{open, "GET", "/api/state", "127.8.8.8", nil, 200},
		{open, "GET", "/api/state", "evil.example:80", nil, 421}, // whose name has come to mean this machine
		{open, "GET", "/metrics", "localhost.evil.example", nil, 421},
		{open, "GET", "/api/state", "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{open, "GET", "/api/state", "", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{open, "GET", "/api/state", "", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		{open, "GET", "/api/state", "", http.Header{"Origin": {"http://evil.example"}}, 403},
		{open, "GET", "/api/state", "", http.Header{"Origin": {"null"}}, 403},
		{open, "POST", "/api/state", "", nil, 405},
		{open, "POST", "/api/state", "", http.Header{"Origin": {"http://evil.example"}}, 403},
		{open, "GET", "/api/state?since=x", "", nil, 400},
		{open, "GET", "/assets/", "", nil, 404},
		{open, "GET", "/assets/uPlot.LICENSE", "", nil, 404},
		{open, "GET", "/assets/..%2fpage.html", "", nil, 404},
		{open, "GET", "/assets/page.js", "", nil, 200},
		{open, "GET", "/report.html", "", nil, 200},
		{open, "GET", "/nothing", "", nil, 404},
		{open, "GET", "/api/testcases?q=havoc", "", nil, 200},
		{open, "GET", "/api/testcase?key=../../x", "", nil, 404},
		{open, "GET", "/api/pause", "", nil, 405},
		{open, "POST", "/api/pause", "", nil, 200},
		{open, "POST", "/api/resume", "", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		{open, "POST", "/api/pause", "", http.Header{"Origin": {"http://evil.example"}}, 403},
		{open, "POST", "/api/pause", "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{open, "POST", "/api/pause", "evil.example:80", nil, 421},
		{closed, "POST", "/api/pause", "", nil, 401},
		{closed, "GET", "/api/testcases", "", nil, 401},
		{native, "GET", "/api/source?file=web_test.go", "", nil, 200},
		{native, "GET", "/api/source?file=page.html", "", nil, 404}, // a file that no panel names is not read
		{native, "GET", "/api/source?file=/etc/passwd", "", nil, 404},
		{open, "GET", "/api/source?file=web_test.go", "", nil, 404},
		{closed, "GET", "/", "", nil, 401},
		{closed, "GET", "/metrics", "", nil, 401},
		{closed, "GET", "/?token=bad", "", nil, 401},
		{closed, "GET", "/?token=t0k", "", nil, 303},
		{closed, "GET", "/%5Celsewhere.example?token=t0k", "", nil, 303},
		{closed, "GET", "/%2F/elsewhere.example?token=t0k", "", nil, 303},
		{closed, "GET", "/metrics", "", http.Header{"Authorization": {"Bearer t0k"}}, 200},
		{closed, "GET", "/metrics", "", http.Header{"Authorization": {"t0k"}}, 401},
		{closed, "GET", "/metrics", "any.example:8080", http.Header{"Authorization": {"Bearer t0k"}}, 200},
		{closed, "GET", "/", "h:8080", http.Header{"Cookie": {"teasel-8080=t0k"}}, 200},
		{closed, "GET", "/", "h:8080", http.Header{"Cookie": {"teasel-8080=bad"}}, 401},
		{closed, "GET", "/", "h:8080", http.Header{"Cookie": {"teasel-8080=t0k"}, "Origin": {"http://evil.example"}}, 403},
	} {
		req, err := http.NewRequest(test.method, test.server.URL+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = test.host
		for k, v := range test.header {
			req.Header[k] = v
		}
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		res.Body.Close()
		if res.StatusCode != test.want {
			t.Errorf("%s %s at %s %v: %d %q, want %d", test.method, test.path, test.host, test.header, res.StatusCode, body, test.want)
		}
		if to := res.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, `\`) { // browsers take both for another site
			t.Errorf("%s: to %s", test.path, to)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s: header %s", test.path, name)
			}
		}
		if p := res.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", test.path, p)
		}
	}
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		address, token, want string
	}{
		{"127.0.0.1:0", "", ""},
		{"localhost:0", "", ""},
		{"0.0.0.0:0", "", "not a loopback address"},
		{":0", "", "not a loopback address"},
		{"example.com:80", "", "not a loopback address"},
		{"0.0.0.0:0", "secret", ""},
		{"127.0.0.1:0", "a b", "expected letters"},
		{"8080", "", "expected an address and a port"},
		{taken.Addr().String(), "", "in use"},
	} {
		s, err := Listen(test.address, test.token)
		if s != nil {
			if (test.token != "") != strings.HasSuffix(s.URL, "?token="+test.token) {
				t.Errorf("%s: address %s", test.address, s.URL)
			}
			s.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.address, err, test.want)
		}
	}
}

// A server answers until it is closed, also while a client does not read.
func TestServer(t *testing.T) {
	s, err := Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(sample(t, "mcp")); err != nil {
		t.Fatal(err)
	}
	idle, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	fmt.Fprint(idle, "GET /api/state HTTP/1.1\r\n") // and no more
	res, err := http.Get(s.URL + "api/state")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	var fields map[string]any
	if err = errors.Join(err, json.Unmarshal(body, &fields)); err != nil || fields["kind"] != "mcp" || fields["whole"] != true {
		t.Fatalf("%v: %s", err, body)
	}
	s.Close()
	if _, err := http.Get(s.URL); err == nil {
		t.Error("it answers after it was closed")
	}
}

var sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? (-?[0-9.e+]+)$`)

// Metrics are in Prometheus' text format, whatever the target is called: each family has its help and type, before its samples, once.
func TestMetrics(t *testing.T) {
	rec := sample(t, "net")
	s := rec.Snapshot()
	s.Target = "a \"b\"\\\n# c\xff{d=\"e\"} 1"
	family, seen := "", map[string]bool{}
	for line := range bytes.Lines(Metrics(s)) {
		text := strings.TrimSuffix(string(line), "\n")
		if name, ok := strings.CutPrefix(text, "# TYPE "); ok {
			name, kind, _ := strings.Cut(name, " ")
			if family, _, _ = strings.Cut(name, " "); seen[family] || kind != "gauge" && kind != "counter" {
				t.Errorf("family %q again, or type %q", family, kind)
			}
			seen[family] = true
			continue
		}
		if strings.HasPrefix(text, "# HELP ") {
			continue
		}
		if m := sampleLine.FindStringSubmatch(text); m == nil || m[1] != family {
			t.Errorf("in family %q: %q", family, text)
		}
	}
	for _, want := range []string{"teasel_executions_total 120000\n", "teasel_messages_total 480000\n", `teasel_findings{severity="critical"} 1` + "\n", `teasel_stage_kept_total{stage="havoc"} 240` + "\n",
		`teasel_worker_executions_total{worker="1"} 48000` + "\n", "teasel_running 1\n",
		`teasel_table{table="messages",name="hello \"x\"",figure="testcases"} 12` + "\n", `teasel_table{table="messages",name="quit",figure="testcases"} 0` + "\n", "teasel_features_last_minute "} {
		if !bytes.Contains(Metrics(rec.Snapshot()), []byte(want)) {
			t.Errorf("no %q in\n%s", want, Metrics(rec.Snapshot()))
		}
	}
	rec.End("duration")
	if !bytes.Contains(Metrics(rec.Snapshot()), []byte("teasel_running 0\n")) {
		t.Error("it runs for ever")
	}
}

var metricName = regexp.MustCompile(`\bteasel_[a-z_]+`)

// The dashboard for Grafana asks for metrics that exist, and the page in docs names all of them and no others.
func TestMetricsAreDocumented(t *testing.T) {
	exist := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE ([a-z_]+) `).FindAllSubmatch(Metrics(sample(t, "mcp").Snapshot()), -1) {
		exist[string(m[1])] = true
	}
	var dashboard struct {
		Title  string
		UID    string
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
	}
	data, err := os.ReadFile("../../docs/grafana.json")
	if err == nil {
		err = json.Unmarshal(data, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	if dashboard.Title == "" || len(dashboard.Panels) < 6 {
		t.Errorf("dashboard %q has %d panels", dashboard.Title, len(dashboard.Panels))
	}
	for _, p := range dashboard.Panels {
		names := 0
		for _, g := range p.Targets {
			for _, name := range metricName.FindAllString(g.Expr, -1) {
				names++
				if !exist[name] {
					t.Errorf("panel %q asks for %s, which does not exist", p.Title, name)
				}
			}
		}
		if names == 0 || p.Title == "" || p.Type == "" {
			t.Errorf("panel %q of type %q asks for nothing", p.Title, p.Type)
		}
	}
	page, err := os.ReadFile("../../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range exist {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/dashboard.md has no row for %s", name)
		}
	}
	for _, name := range metricName.FindAllString(string(page), -1) {
		if !exist[name] {
			t.Errorf("docs/dashboard.md names %s, which does not exist", name)
		}
	}
}
