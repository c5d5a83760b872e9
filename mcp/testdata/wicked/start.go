package main

import (
	"fmt"
	"os"
	"time"
)

// startModes go wrong before or in initialize.
func startModes() []mode {
	return []mode{
		{"plain", "does nothing wrong", func([]string) int { return (&plain{}).serve() }},
		{"exit", "exits at once with status 3 and a word on stderr", func([]string) int {
			fmt.Fprintln(os.Stderr, "wicked: cannot open the database")
			return 3
		}},
		{"garbage", "prints a banner and garbage instead of JSON", func([]string) int {
			fmt.Println("Welcome to wicked 1.0!\nListening on port 8080 ...\n\x00\x01\xfe\xff}{")
			return (&plain{write: func(string) { fmt.Println("what?") }}).serve()
		}},
		{"banner", "prints a banner before it behaves", func([]string) int {
			fmt.Println("Welcome to wicked 1.0!")
			return (&plain{}).serve()
		}},
		{"slow-start", "needs two seconds before it reads", func([]string) int {
			time.Sleep(2 * time.Second)
			return (&plain{}).serve()
		}},
		{"mute", "reads everything and never answers", func([]string) int {
			return (&plain{override: func(*message) string { return silence }}).serve()
		}},
		{"init-mute", "never answers initialize, but everything else", initialized(func(*message) string { return silence })},
		{"init-error", "answers initialize with an error", initialized(func(m *message) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no licence"}}`, m.ID)
		})},
		{"init-version", "answers initialize with a version that nobody knows", initialized(func(m *message) string {
			return success(m, `{"protocolVersion":"1999-12-31","capabilities":{"tools":{}},"serverInfo":{"name":"wicked","version":"1.0.0"}}`)
		})},
		{"init-no-info", "answers initialize without serverInfo", initialized(func(m *message) string {
			return success(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)
		})},
		{"init-wrong-types", "answers initialize with members of other types", initialized(func(m *message) string {
			return success(m, `{"protocolVersion":20251125,"capabilities":[],"serverInfo":"wicked"}`)
		})},
		{"init-exit", "dies on initialize with status 1", initialized(func(*message) string {
			os.Exit(1)
			return silence
		})},
	}
}

// initialized replaces the answer to initialize.
func initialized(answer func(m *message) string) func([]string) int {
	return func([]string) int {
		p := &plain{override: func(m *message) string {
			if m.Method != "initialize" {
				return ""
			}
			return answer(m)
		}}
		return p.serve()
	}
}
