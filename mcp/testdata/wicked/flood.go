package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// floodModes write more than anybody can want.
func floodModes() []mode {
	const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"still here"}}` + "\n"
	return []mode{
		{"flood-notifications", "writes valid notifications without end, and answers between them", func([]string) int {
			p := &plain{}
			go flood(p, note)
			return p.serve()
		}},
		{"flood-own", "asks the client for its roots without end, from the start, and never reads", func([]string) int {
			return pour(os.Stdout, `{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`+"\n")
		}},
		{"flood-garbage", "writes lines of garbage without end", func([]string) int {
			return pour(os.Stdout, strings.Repeat("garbage ", 9)+"\n")
		}},
		{"flood-line", "writes one line without end", func([]string) int {
			return pour(os.Stdout, `{"jsonrpc":"2.0","method":"`+strings.Repeat("x", 4096))
		}},
		{"flood-brackets", "writes opening brackets without end or newline", func([]string) int {
			return pour(os.Stdout, strings.Repeat("[", 4096))
		}},
		{"flood-stderr", "behaves, but writes to stderr without end", func([]string) int {
			go pour(os.Stderr, strings.Repeat("warning: ", 9)+"\n")
			return (&plain{}).serve()
		}},
		{"flood-stderr-line", "behaves, but writes one line to stderr without end", func([]string) int {
			go pour(os.Stderr, strings.Repeat("warning: ", 500))
			return (&plain{}).serve()
		}},
		{"flood-replies", "follows each reply with a hundred replies nobody asked for", func([]string) int {
			p := &plain{}
			p.after = func(*message, string) {
				for i := range 100 {
					p.put(fmt.Sprintf(`{"jsonrpc":"2.0","id":"unasked-%d","result":{}}`, i))
				}
			}
			return p.serve()
		}},
		{"large", "answers each call with a megabyte of small objects", func([]string) int {
			const item = `{"type":"text","text":"a"}`
			result := `{"content":[` + strings.Repeat(item+",", 1<<20/len(item)) + item + `]}`
			p := &plain{}
			p.override = func(m *message) string {
				if m.Method == "tools/call" {
					return success(m, result)
				}
				return ""
			}
			return p.serve()
		}},
		{"flood-requests", "asks the client for its roots after each reply", func([]string) int {
			p := &plain{}
			p.after = func(*message, string) { p.put(`{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`) }
			return p.serve()
		}},
	}
}

// pour writes a text again and again, until nobody takes it any more.
func pour(w io.Writer, text string) int {
	block := bytes.Repeat([]byte(text), 64<<10/len(text)+1)
	for {
		if _, err := w.Write(block); err != nil {
			return 4
		}
	}
}

// flood writes whole lines between the server's replies.
func flood(p *plain, line string) {
	block := strings.TrimSuffix(strings.Repeat(line, 100), "\n")
	for {
		p.put(block)
	}
}
