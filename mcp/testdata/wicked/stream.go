package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// streamModes do strange things to the streams.
func streamModes() []mode {
	return []mode{
		{"no-newline", "answers, but never ends a line", func([]string) int {
			return (&plain{write: func(reply string) { _, _ = io.WriteString(os.Stdout, reply) }}).serve()
		}},
		{"crlf", "ends its lines with carriage return and newline", func([]string) int {
			return (&plain{write: func(reply string) { _, _ = io.WriteString(os.Stdout, reply+"\r\n") }}).serve()
		}},
		{"pretty", "spreads each reply over several lines", func([]string) int {
			p := &plain{}
			p.write = func(reply string) { p.put(strings.Replace(reply, ",", ",\n  ", 1)) }
			return p.serve()
		}},
		{"close-stdin", "closes its stdin after initialize and stays", func([]string) int {
			p := &plain{after: func(m *message, _ string) {
				if m.Method == "initialize" {
					os.Stdin.Close()
				}
			}}
			p.serve()
			return waitForEver()
		}},
		{"close-stdout", "closes its stdout after initialize and reads on", func([]string) int {
			p := &plain{after: func(m *message, _ string) {
				if m.Method == "initialize" {
					os.Stdout.Close()
				}
			}}
			return p.serve()
		}},
		{"stop-reading", "stops reading after initialize and stays", func([]string) int {
			p := &plain{after: func(m *message, _ string) {
				if m.Method == "initialize" {
					waitForEver()
				}
			}}
			return p.serve()
		}},
		{"partial", "dies in the middle of its tenth reply", func([]string) int {
			n := 0
			p := &plain{}
			p.write = func(reply string) {
				if n++; n == 10 {
					_, _ = io.WriteString(os.Stdout, reply[:len(reply)/2])
					os.Exit(1)
				}
				p.put(reply)
			}
			return p.serve()
		}},
		{"huge", "answers each call with 50 MB", func([]string) int {
			text := strings.Repeat("0123456789", 5_000_000)
			p := &plain{override: func(m *message) string {
				if m.Method != "tools/call" {
					return ""
				}
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, text)
			}}
			return p.serve()
		}},
		{"deep", "answers each call with 100,000 brackets", func([]string) int {
			p := &plain{override: func(m *message) string {
				if m.Method != "tools/call" {
					return ""
				}
				const depth = 100_000
				return success(m, `{"content":[],"structuredContent":{"deep":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}}`)
			}}
			return p.serve()
		}},
	}
}
