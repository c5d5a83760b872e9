package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func plainEcho() tool {
	return tool{name: "echo", description: "Returns the text.", annotations: readsOnly, properties: texts("text"), required: []string{"text"},
		call: func(given fields) (string, bool, *failure) { v, _ := text(given["text"]); return v, false, nil }}
}

func withEcho(change func(s *server)) func(s *server) {
	return func(s *server) { s.tools = []tool{plainEcho()}; change(s) }
}

func protocolModes() []mode {
	return []mode{
		{"exit-before-initialize", "it exits with status 1 when initialize does not come first", withEcho(func(s *server) { s.exitBefore = true })},
		{"vendor-capability", "it declares a capability that is no object", withEcho(func(s *server) { s.capabilities["x-vendor"] = true })},
		{"schema-log", "it logs that a schema's assertion failed", withEcho(func(s *server) {
			s.refuseUnknown = func(_, argument string) string {
				fmt.Fprintf(os.Stderr, "WARN request refused: schema assertion failed: /%s is not declared\n", strings.ToValidUTF8(argument, "?"))
				return "Invalid arguments: there is no such argument."
			}
		})},
		{"slow-list", "lists take 150 ms, since somebody else is asked; others are served meanwhile", withEcho(func(s *server) {
			s.async = true
			s.before = func(method string) {
				if strings.HasSuffix(method, "/list") {
					time.Sleep(150 * time.Millisecond)
				}
			}
		})},
		{"lax-reader", "NaN is read, and refused as an invalid request", withEcho(func(s *server) {
			s.unreadable = func(line []byte) bool {
				return bytes.Contains(line, []byte(":NaN")) || bytes.Contains(line, []byte("Infinity"))
			}
		})},
		{"directory", "reading a directory returns its one file", withEcho(func(s *server) {
			s.capabilities["resources"] = object{}
			s.resources = []resource{{"file:///data/", "data", func() []object {
				return []object{{"uri": "file:///data/readme.md", "mimeType": "text/markdown", "text": "hello"}}
			}}}
		})},
		{"roots", "it asks a client for its roots that has some", withEcho(func(s *server) {
			s.lax = true
			s.onInitialized = func(client fields) {
				if objectOf(client["capabilities"])["roots"] != nil {
					s.write(object{"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
				}
			}
		})},
		{"handler-log", "it logs at its start which handlers it installs", withEcho(func(*server) {
			fmt.Fprintln(os.Stderr, "[init] process.on('uncaughtException') installed")
		})},
		{"audit-log", "a resource shows what was called", withEcho(func(s *server) {
			var mu sync.Mutex
			var calls []string
			s.capabilities["resources"] = object{}
			s.resources = []resource{{"log://calls", "log", func() []object {
				mu.Lock()
				defer mu.Unlock()
				return []object{{"uri": "log://calls", "text": strings.Join(calls, "\n")}}
			}}}
			s.before = func(method string) {
				if mu.Lock(); method == "tools/call" {
					calls = append(calls, time.Now().Format(time.RFC3339)+" a tool was called")
					calls = calls[max(0, len(calls)-20):]
				}
				mu.Unlock()
			}
		})},
		{"sdk", "it does what most SDKs do: served before initialize, initialized twice, cursors ignored, unknown tools as results", withEcho(func(s *server) {
			s.lax = true
			s.unknownTool = func(name string) (string, bool) { return "Unknown tool: " + name, true }
		})},
		{"async", "every request is served by itself, so that answers come out of order", withEcho(func(s *server) {
			s.async = true
			s.before = func(method string) {
				if method == "tools/call" {
					time.Sleep(time.Duration(time.Now().UnixNano()%3) * time.Millisecond)
				}
			}
		})},
		{"late", "calls are answered up to 50 ms later, in any order", withEcho(func(s *server) {
			s.async = true
			s.before = func(method string) {
				if method == "tools/call" {
					time.Sleep(rand.N(50 * time.Millisecond))
				}
			}
		})},
		{"unordered", "every request is answered up to 20 ms later, in any order", withEcho(func(s *server) {
			s.async = true
			s.before = func(string) { time.Sleep(rand.N(20 * time.Millisecond)) }
		})},
		{"pages", "the list of tools has pages, and cursors are checked", func(s *server) {
			s.pageSize = 2
			for i := range 7 {
				t := plainEcho()
				t.name = fmt.Sprintf("echo_%d", i)
				s.tools = append(s.tools, t)
			}
		}},
		{"verbose", "it writes much to standard error, with words such as error and panic", withEcho(func(s *server) {
			s.before = func(method string) {
				fmt.Fprintf(os.Stderr, "DEBUG serving a request; error budget 0.1, panic button off, fatal errors so far: 0\n")
			}
		})},
		{"many-resources", "it has three thousand resources", withEcho(func(s *server) {
			s.capabilities["resources"] = object{}
			for i := range 3000 {
				uri := fmt.Sprintf("note:///%d", i)
				s.resources = append(s.resources, resource{uri, fmt.Sprintf("note %d", i), func() []object { return []object{{"uri": uri, "text": "hello"}} }})
			}
		})},
		{"prompts", "it has a prompt with a required argument", withEcho(func(s *server) {
			s.capabilities["prompts"] = object{}
			s.prompts = []object{{"name": "review", "arguments": []object{{"name": "subject", "required": true}}}}
		})},
		{"log-level", "it logs to the client, and checks the level", withEcho(func(s *server) {
			s.capabilities["logging"] = object{}
			levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
			var mu sync.Mutex
			least := slices.Index(levels, "emergency")
			s.handlers["logging/setLevel"] = func(params fields) (any, *failure) {
				level, _ := text(params["level"])
				i := slices.Index(levels, level)
				if i < 0 {
					return nil, &failure{codeParams, "there is no such level"}
				}
				mu.Lock()
				defer mu.Unlock()
				least = i
				return object{}, nil
			}
			s.before = func(method string) {
				mu.Lock()
				defer mu.Unlock()
				if method == "tools/call" && least <= slices.Index(levels, "info") {
					s.notify("notifications/message", object{"level": "info", "data": "a tool is called"})
				}
			}
		})},
		{"empty-lists", "it answers lists of what it does not have with empty lists", withEcho(func(s *server) {
			for method, name := range map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"} {
				s.handlers[method] = func(fields) (any, *failure) { return object{name: []object{}}, nil }
			}
		})},
		{"no-subscriptions", "it takes subscriptions to resources, of which it has none", withEcho(func(s *server) {
			for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
				s.handlers[method] = func(fields) (any, *failure) { return object{}, nil }
			}
		})},
		{"strict-params", "requests with parameters that they do not have are refused", withEcho(func(s *server) {
			s.handlers["ping"] = func(params fields) (any, *failure) {
				for name := range params {
					if name != "_meta" {
						return nil, &failure{codeParams, "ping has no parameters"}
					}
				}
				return object{}, nil
			}
		})},
		{"progress", "a tool tells its progress when it is asked to", withEcho(func(s *server) {
			s.handlers["tools/call"] = func(params fields) (any, *failure) {
				token := objectOf(params["_meta"])["progressToken"]
				if token != nil && !isID(token) {
					return nil, &failure{codeParams, "a progress token is a string or an integer"}
				}
				if name, _ := text(params["name"]); token != nil && s.tool(name) != nil {
					for i := range 3 {
						s.notify("notifications/progress", object{"progressToken": json.RawMessage(token), "progress": i + 1, "total": 3})
					}
				}
				return s.callTool(params)
			}
		})},
	}
}
