package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

const (
	hello       = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// call writes a request that calls a tool; its arguments are JSON.
func call(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

// talk sends lines to a new server and returns its replies, and what it panicked with.
func talk(t *testing.T, lines ...string) (replies []string, panicked any) {
	t.Helper()
	var out strings.Builder
	func() {
		defer func() { panicked = recover() }()
		if err := Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
	}()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), panicked
}

// chat is talk in a session that is initialized.
func chat(t *testing.T, lines ...string) (replies []string, panicked any) {
	t.Helper()
	replies, panicked = talk(t, append([]string{hello, initialized}, lines...)...)
	return replies[1:], panicked
}

func TestBugs(t *testing.T) {
	const (
		handle = "notebook-17wdrqp"
		trace  = `goroutine `
	)
	for _, tc := range []struct {
		name  string
		lines []string
		panic string // what it panics with, "" for not
		want  string // in the last reply
	}{
		{"version in escapes", []string{`{"jsonrpc":"\u0032\u002e0","id":1,"method":"ping"}`}, "", `"result":{}`},
		{"panic at a boundary", []string{call("add_note", `{"text":"t","priority":10}`)}, "index out of range [10] with length 10", ""},
		{"no panic below it", []string{call("add_note", `{"text":"t","priority":9}`)}, "", `noted: ********* t`},
		{"stack trace", []string{call("parse_date", `{"date":"now"}`)}, "", trace},
		{"no stack trace", []string{call("parse_date", `{"date":"2025-11-25"}`)}, "", `year 2025, month 11, day 25`},
		{"output schema broken", []string{call("note_stats", `{}`)}, "", `"structuredContent":{"count":0,"latest":null}`},
		{"output schema kept", []string{call("add_note", `{"text":"t","priority":1}`), call("note_stats", `{}`)}, "", `"structuredContent":{"count":1,"latest":"* t"}`},
		{"use after close", []string{call("open_notebook", `{}`), call("close_notebook", `{"handle":"`+handle+`"}`), call("write_page", `{"handle":"`+handle+`","text":"t"}`)}, "nil pointer dereference", ""},
		{"use before close", []string{call("open_notebook", `{}`), call("write_page", `{"handle":"`+handle+`","text":"t"}`)}, "", `page 1 is written`},
		{"close twice", []string{call("open_notebook", `{}`), call("close_notebook", `{"handle":"`+handle+`"}`), call("close_notebook", `{"handle":"`+handle+`"}`)}, "", `there is no open notebook`},
		{"wrong code", []string{call("nothing", `{}`)}, "", `"code":-32603`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			replies, panicked := chat(t, tc.lines...)
			if tc.panic != "" {
				if !strings.Contains(fmt.Sprint(panicked), tc.panic) {
					t.Fatalf("panicked with %v, want %s", panicked, tc.panic)
				}
				return
			}
			if last := replies[len(replies)-1]; panicked != nil || !strings.Contains(last, tc.want) {
				t.Fatalf("got %s (panic %v), want %s in it", last, panicked, tc.want)
			}
		})
	}
}

// TestProtocol has the server right where no bug is planted.
func TestProtocol(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1.0e2,"method":"ping"}`, `"id":1.0e2,"jsonrpc":"2.0","result":{}`},
		{`{"jsonrpc":"2.0","id":"\u00e9<","method":"ping"}`, `"id":"\u00e9<","jsonrpc":"2.0","result":{}`},
		{`{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`, `"id":12345678901234567890,`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, `"code":-32600`},
		{`[]`, `"code":-32600`},
		{`{bad`, `"code":-32700`},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", `"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"nothing"}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, `"code":-32602`},
		{hello, `"code":-32600`},
		{call("add_note", `[]`), `"code":-32602`},
		{call("add_note", `{}`), `"isError":true`},
		{call("add_note", `{"text":"t","priority":11}`), `"isError":true`},
		{call("add_note", `{"text":"t","priority":""}`), `"isError":true`},
		{call("add_note", `{"text":"t","priority":1.0}`), `"isError":false`},
		{call("add_note", `{"text":"`+strings.Repeat("a", 201)+`","priority":1}`), `"isError":true`},
		{call("note_stats", `{"x":1}`), `"isError":true`},
	} {
		replies, panicked := chat(t, tc.line)
		if panicked != nil || len(replies) != 1 || !strings.Contains(replies[0], tc.want) {
			t.Errorf("%s\ngot  %s (panic %v)\nwant %s", tc.line, replies, panicked, tc.want)
		}
	}
	if replies, _ := talk(t, call("note_stats", `{}`), hello); len(replies) != 2 || !strings.Contains(replies[0], `"code":-32600`) {
		t.Errorf("before initialize it answers %s", replies)
	}
	if replies, _ := talk(t, `{"jsonrpc":"2.0","method":"nothing"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`); replies[0] != "" {
		t.Errorf("a notification and a reply are answered: %s", replies)
	}
}

// TestList holds the tools that are listed against those that there are.
func TestList(t *testing.T) {
	var listed struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Required []string }
		}
	}
	if err := json.Unmarshal(list, &listed); err != nil {
		t.Fatal(err)
	}
	for _, l := range listed.Tools {
		if got, want := fmt.Sprint(tools[l.Name].needs), fmt.Sprint(l.InputSchema.Required); tools[l.Name].run == nil || got != want {
			t.Errorf("%s needs %s, listed %s", l.Name, got, want)
		}
	}
	if len(listed.Tools) != len(tools) {
		t.Errorf("%d tools are listed, there are %d", len(listed.Tools), len(tools))
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, strings.NewReader(hello), io.Discard, io.Discard); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func ExampleServe() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := Serve(context.Background(), in, os.Stdout, io.Discard); err != nil {
		fmt.Println(err)
	}
	// Output: {"id":1,"jsonrpc":"2.0","result":{}}
}
