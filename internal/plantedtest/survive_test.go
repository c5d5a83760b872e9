package plantedtest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSurvival sends malformed messages to the clean twin: it must write only valid messages, and must not end.
func TestSurvival(t *testing.T) {
	var seeds []string
	for _, sc := range readScripts(t, "testdata/conformance.txt") {
		for _, st := range sc.steps {
			if st.verb == ">" && len(st.text) < 1000 && !strings.ContainsRune(st.text, '«') {
				seeds = append(seeds, st.text)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var all strings.Builder
	const messages = 20_000
	for range messages {
		line := []byte(seeds[rng.IntN(len(seeds))])
		for range 1 + rng.IntN(4) {
			line = mutated(rng, line)
		}
		all.Write(append(line, '\n'))
	}
	s := start(t, planted, "-bugs", "none")
	s.initialize("2025-11-25")
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(s.in, all.String()+sentinel+"\n")
		sent <- err
	}()
	replies := 0
	for {
		line, ok := s.next()
		if !ok {
			t.Fatalf("the server died after %d replies: %s", replies, s.stderr.String())
		}
		if line == sentinelBack {
			break
		}
		checkMessage(t, line)
		replies++
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if replies < messages/2 {
		t.Errorf("%d replies to %d messages", replies, messages)
	}
	s.in.Close()
	// The server may still be writing progress of reports, which must be valid messages too.
	for line, ok := s.next(); ok; line, ok = s.next() {
		checkMessage(t, line)
	}
	s.finish()
}

// mutated returns a line with one change, which never splits it into two lines.
func mutated(rng *rand.Rand, line []byte) []byte {
	tokens := []string{`"`, `{`, `}`, `[`, `]`, `,`, `:`, `\`, `\u0000`, `\ud800`, `null`, `true`, `-1`, `1e999`, `{}`, `[]`, `""`, "\x00", "\xff", `"id":`, `"method":`}
	out := append([]byte(nil), line...)
	if len(out) == 0 {
		return []byte(tokens[rng.IntN(len(tokens))])
	}
	at := rng.IntN(len(out))
	switch rng.IntN(4) {
	case 0:
		out[at] ^= 1 << rng.IntN(8)
	case 1:
		out = append(out[:at], out[min(len(out), at+1+rng.IntN(8)):]...)
	case 2:
		out = append(out[:at], append([]byte(tokens[rng.IntN(len(tokens))]), line[at:]...)...)
	case 3:
		out = append(out[:at], line[rng.IntN(len(line)):]...)
	}
	for i := range out {
		if out[i] == '\n' {
			out[i] = ' '
		}
	}
	return out
}

// checkMessage checks that a line is a valid message.
func checkMessage(t *testing.T, line string) {
	t.Helper()
	var m struct {
		Version string           `json:"jsonrpc"`
		Method  string           `json:"method"`
		Result  *json.RawMessage `json:"result"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
		t.Errorf("not a message: %s (%v)", brief(line), err)
		return
	}
	kinds := 0
	for _, is := range []bool{m.Method != "", m.Result != nil, m.Error != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 || m.Error != nil && (m.Error.Code == 0 || m.Error.Message == "") {
		t.Errorf("a message must be one of a reply, an error and a notification: %s", brief(line))
	}
}

// TestTools lists all pages of tools: none is listed twice, all but two are annotated as safe, and those two leave their marker.
func TestTools(t *testing.T) {
	s := start(t, planted, "-bugs", "none")
	s.initialize("2025-11-25")
	seen := map[string]bool{}
	params := `{}`
	for params != "" {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":%s}`, params))
		line, _ := s.next()
		var reply struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema struct{ Type string }
					Annotations *struct{ ReadOnlyHint, DestructiveHint *bool }
				}
				NextCursor string
			}
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			t.Fatal(err)
		}
		for _, tool := range reply.Result.Tools {
			if seen[tool.Name] || tool.InputSchema.Type != "object" {
				t.Errorf("%s is listed twice or takes no object", tool.Name)
			}
			seen[tool.Name] = true
			safe := tool.Annotations != nil && tool.Annotations.DestructiveHint != nil && !*tool.Annotations.DestructiveHint
			if want := tool.Name != "delete_everything" && tool.Name != "wipe_cache"; safe != want {
				t.Errorf("%s: annotated as safe: %t, want %t", tool.Name, safe, want)
			}
		}
		params = ""
		if c := reply.Result.NextCursor; c != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, c)
		}
	}
	if len(seen) < 35 {
		t.Errorf("%d tools, want at least 35", len(seen))
	}
	marker := filepath.Join(filepath.Dir(s.cmd.Dir), "destroyed")
	for _, name := range []string{"delete_everything", "wipe_cache"} {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, name))
		s.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Done."}],"isError":false}}`)
		if data, err := os.ReadFile(marker); err != nil || string(data) != name+"\n" {
			t.Errorf("the marker holds %q (%v), want %q", data, err, name)
		}
	}
	s.finish()
}

// TestEnd closes stdin in unusual situations; the server must exit with status 0 in each.
func TestEnd(t *testing.T) {
	t.Run("at once", func(t *testing.T) { start(t, planted, "-bugs", "none").finish() })
	t.Run("in a line", func(t *testing.T) {
		s := start(t, planted, "-bugs", "none")
		if _, err := io.WriteString(s.in, sentinel); err != nil {
			t.Fatal(err)
		}
		s.in.Close()
		s.expect(sentinelBack)
		s.finish()
	})
	t.Run("in a call", func(t *testing.T) {
		s := start(t, planted, "-bugs", "none")
		s.initialize("2025-11-25")
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_report","arguments":{"steps":10,"delay_ms":50}}}`)
		s.finish()
	})
	t.Run("after a line that is too long", func(t *testing.T) {
		s := start(t, planted, "-bugs", "none")
		megabyte := strings.Repeat("a", 1<<20)
		for range 65 {
			if _, err := io.WriteString(s.in, megabyte); err != nil {
				t.Fatal(err)
			}
		}
		s.send("")
		s.expect(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the message is longer than 64 MiB"}}`)
		s.send(sentinel)
		s.expect(sentinelBack)
		s.finish()
	})
}

// TestTooManyReports starts more reports than the server runs concurrently: each call must be answered.
func TestTooManyReports(t *testing.T) {
	s := start(t, planted, "-bugs", "none")
	s.initialize("2025-11-25")
	const calls = 100
	for i := range calls {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_report","arguments":{"steps":10,"delay_ms":10}}}`, i))
	}
	refused := 0
	answered := map[string]bool{}
	for range calls {
		line, _ := s.next()
		answered[line[:strings.Index(line, `,"result"`)]] = true
		if strings.Contains(line, "Too many reports are running.") {
			refused++
		}
	}
	if len(answered) != calls || refused == 0 || refused == calls {
		t.Errorf("%d calls answered, %d of them refused, want %d and some", len(answered), refused, calls)
	}
	s.send(sentinel)
	s.expect(sentinelBack)
	s.finish()
}

// TestBatchOfReports: a batch is answered by one array, when its slowest call is done.
func TestBatchOfReports(t *testing.T) {
	s := start(t, planted, "-bugs", "none")
	s.initialize("2025-03-26")
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_report","arguments":{"steps":1,"delay_ms":%d}}}`
	s.send("[" + fmt.Sprintf(call, 1, 20) + "," + fmt.Sprintf(call, 2, 0) + "," + sentinel + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`)
	line, _ := s.next()
	var replies []struct{ ID any }
	if err := json.Unmarshal([]byte(line), &replies); err != nil || len(replies) != 2 {
		t.Fatalf("got %s (%v), want the two replies to what was not cancelled", line, err)
	}
	s.finish()
}
