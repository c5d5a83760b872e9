package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// typed are properties of one type.
func typed(kind string, names ...string) object {
	properties := object{}
	for _, name := range names {
		properties[name] = object{"type": kind}
	}
	return properties
}

func texts(names ...string) object { return typed("string", names...) }

var readsOnly = object{"readOnlyHint": true, "openWorldHint": false}

// textTool is a tool that takes texts, all of them required.
func textTool(name, description string, call func(argument func(string) string) (string, bool), arguments ...string) tool {
	return tool{name: name, description: description, properties: texts(arguments...), required: arguments,
		call: func(given fields) (string, bool, *failure) {
			answer, failed := call(func(name string) string { v, _ := text(given[name]); return v })
			return answer, failed, nil
		}}
}

func simple(name, about string, tools ...tool) mode {
	return mode{name, about, func(s *server) { s.tools = tools }}
}

// The expressions that a fuzzer asks for, as a shell, a database and a template engine write them.
var (
	shellProduct    = regexp.MustCompile(`\$\(\((\d+)\*(\d+)\)\)`)
	queryProduct    = regexp.MustCompile(`'([^']*)' \|\| \((\d+)\*(\d+)\) \|\| '([^']*)'`)
	templateProduct = regexp.MustCompile(`\{\{(\d+)\*(\d+)\}\}`)
)

func product(a, b string) string {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return strconv.Itoa(x * y)
}

func evaluate(expression *regexp.Regexp, text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		m := expression.FindStringSubmatch(found)
		if expression == queryProduct {
			return m[1] + product(m[2], m[3]) + m[4]
		}
		return product(m[1], m[2])
	})
}

const privateKey = "-----BEGIN PRIVATE KEY-----\n" +
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n" +
	"NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ\nqgtzJ6GR3eqoYSW9b9UMvkBpZODSctWSNGj3P7jRFDO5VoTwCQAWbFnOjDfH5Ulg\n-----END PRIVATE KEY-----\n"

func toolModes() []mode {
	waits := textTool("lookup", "Looks a company up in the public register.", func(func(string) string) (string, bool) {
		time.Sleep(3 * time.Second)
		return "There is no such company.", false
	}, "q")
	echo := textTool("echo", "Returns the text.", func(a func(string) string) (string, bool) { return a("text"), false }, "text")
	return []mode{
		{"slow-lookup", "a tool without annotations takes three seconds; others are served meanwhile", func(s *server) { s.tools, s.async = []tool{waits}, true }},
		simple("slow-lookup-alone", "a tool without annotations takes three seconds; nothing else is served meanwhile", waits),
		simple("template", "a tool renders the template that it is given", textTool("render_template", "Renders a Jinja template that is given.",
			func(a func(string) string) (string, bool) { return evaluate(templateProduct, a("template")), false }, "template")),
		simple("code", "a tool runs the code that it is given", textTool("run_code", "Runs code in a sandbox.", func(a func(string) string) (string, bool) {
			return evaluate(shellProduct, a("code")), false
		}, "language", "code")),
		simple("query", "a tool runs the query that it is given", textTool("read_query", "Execute a SELECT query on the SQLite database.", func(a func(string) string) (string, bool) {
			if q := a("query"); strings.Count(q, "'")%2 > 0 {
				return `near "'": syntax error`, true
			} else {
				return evaluate(queryProduct, q), false
			}
		}, "query")),
		simple("convert", "a tool reads whatever a URI names", textTool("convert_to_markdown", "Convert a resource described by an http:, https:, file: or data: URI to markdown.",
			func(a func(string) string) (string, bool) {
				path, ok := strings.CutPrefix(a("uri"), "file://")
				data, err := os.ReadFile(path)
				if !ok || err != nil {
					return "There is nothing at that URI.", true
				}
				return string(data[:min(len(data), 1000)]), false
			}, "uri")),
		simple("memory-error", "an allocation that fails is caught, logged and answered", tool{name: "grid", description: "Makes a grid.", annotations: readsOnly,
			properties: typed("integer", "size"), required: []string{"size"}, call: func(given fields) (string, bool, *failure) {
				if n, err := strconv.Atoi(string(given["size"])); err != nil || n > 1000 || n < 0 {
					fmt.Fprint(os.Stderr, "Traceback (most recent call last):\n  File \"/srv/grid.py\", line 3, in grid\nMemoryError\n")
					return "The grid is too large.", true, nil
				}
				return "Done.", false, nil
			}}),
		simple("key-file", "a tool reads the files of a folder, of which one is a private key", tool{name: "read_file", description: "Reads a file of the project.", annotations: readsOnly,
			properties: object{"path": object{"type": "string", "enum": []string{"dev.pem", "readme.md"}}}, required: []string{"path"}, call: func(given fields) (string, bool, *failure) {
				switch path, _ := text(given["path"]); path {
				case "dev.pem":
					return privateKey, false, nil
				case "readme.md":
					return "Read me.", false, nil
				}
				return "Invalid arguments: there is no such file.", true, nil
			}}),
		{"more-tools", "a tool adds another one, and says so", func(s *server) {
			s.capabilities = object{"tools": object{"listChanged": true}}
			s.tools = []tool{{name: "enable_toolset", description: "Adds a tool.", annotations: object{"readOnlyHint": false, "destructiveHint": false},
				properties: object{"name": object{"type": "string", "enum": []string{"extra"}}}, required: []string{"name"}, call: func(given fields) (string, bool, *failure) {
					name, _ := text(given["name"])
					if name != "extra" {
						return "Invalid arguments: there is no such toolset.", true, nil
					}
					if s.tool(name) == nil {
						s.mu.Lock()
						s.tools = append(s.tools, echo)
						s.tools[len(s.tools)-1].name = name
						s.mu.Unlock()
						s.notify("notifications/tools/list_changed", object{})
					}
					return "Done.", false, nil
				}}}
		}},
		{"stored-keys", "a store has values under names that a fuzzer tries, from an earlier run", func(s *server) {
			values := map[string]string{"constructor": "a", "__proto__": "b", "teasel_no_such_a1": "a", "toString": "x"}
			key := func(description string, call func(func(string) string) (string, bool), name string, arguments ...string) tool {
				return textTool(name, description, call, arguments...)
			}
			s.tools = []tool{
				key("Keeps a value under a key.", func(a func(string) string) (string, bool) { values[a("key")] = a("value"); return "Kept.", false }, "put", "key", "value"),
				key("Returns the value of a key.", func(a func(string) string) (string, bool) {
					if v, ok := values[a("key")]; ok {
						return v, false
					}
					return "There is no value under " + a("key"), true
				}, "get", "key"),
			}
		}},
		{"unexpected-argument", "an argument that is not declared is refused in Python's words", func(s *server) {
			s.tools = []tool{echo}
			s.refuseUnknown = func(tool, argument string) string {
				return tool + "() got an unexpected keyword argument '" + argument + "'"
			}
		}},
		simple("error-report", "a tool shows the stack trace of somebody else's error", tool{name: "get_issue_details", description: "Details of an issue, with its stack trace.",
			properties: texts("issue_id"), required: []string{"issue_id"}, call: func(fields) (string, bool, *failure) {
				return "TypeError: x is not a function\n    at a (/app/a.js:1:2)\n    at b (/app/b.js:3:4)", false, nil
			}}),
		simple("database-down", "a tool cannot reach its database, which is a server error", tool{name: "count", description: "Counts the rows.", annotations: readsOnly,
			call: func(fields) (string, bool, *failure) { return "", false, &failure{codeInternal, "database is down"} }}),
		{"rate-limit", "more than three calls a second are refused", func(s *server) {
			var calls []time.Time
			s.tools = []tool{{name: "lookup", description: "Looks up.", annotations: readsOnly, properties: texts("q"), required: []string{"q"}, call: func(fields) (string, bool, *failure) {
				now := time.Now()
				for len(calls) > 0 && now.Sub(calls[0]) > time.Second {
					calls = calls[1:]
				}
				if calls = append(calls, now); len(calls) > 3 {
					return "Rate limit exceeded: at most 3 calls a second.", true, nil
				}
				return "found nothing", false, nil
			}}}
		}},
		simple("tokens", "a tool makes tokens", textTool("create_api_token", "Makes a new token.", func(func(string) string) (string, bool) {
			return "ghp_16C7e42F292c6912E7710c838347Ae178B4a", false
		}, "owner")),
		simple("environment", "a tool shows the environment, as it says", tool{name: "show_environment", description: "Shows all environment variables.", annotations: readsOnly,
			call: func(fields) (string, bool, *failure) { return strings.Join(os.Environ(), "\n"), false, nil }}),
		simple("clock", "a tool tells the time", tool{name: "get_time", description: "Tells the time.", annotations: object{"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
			call: func(fields) (string, bool, *failure) { return time.Now().Format(time.RFC3339Nano), false, nil }}),
		simple("dice", "a tool rolls dice", tool{name: "roll_dice", description: "Rolls a die.", annotations: readsOnly,
			call: func(fields) (string, bool, *failure) {
				return strconv.FormatInt(time.Now().UnixNano()/1000%6+1, 10), false, nil
			}}),
		simple("export", "a tool answers with a megabyte", tool{name: "export", description: "Exports everything.", annotations: readsOnly,
			call: func(fields) (string, bool, *failure) {
				return strings.Repeat("all work and no play ", 50_000), false, nil
			}}),
		simple("echo", "a tool returns what it gets", echo),
		simple("waits-as-told", "a tool waits as long as it is told to", tool{name: "wait", description: "Waits.", properties: typed("integer", "seconds"), required: []string{"seconds"},
			call: func(given fields) (string, bool, *failure) {
				n, err := strconv.Atoi(string(given["seconds"]))
				if err != nil || n < 0 || n > 60 {
					return "Invalid arguments: seconds is 0 to 60.", true, nil
				}
				time.Sleep(time.Duration(n) * time.Second)
				return "Done.", false, nil
			}}),
		{"counting", "a tool counts its calls, and says that it is not read-only", func(s *server) {
			var n atomic.Int64
			s.tools = []tool{{name: "count_visit", description: "Counts a visit.", annotations: object{"readOnlyHint": false, "destructiveHint": false},
				call: func(fields) (string, bool, *failure) { return strconv.FormatInt(n.Add(1), 10), false, nil }}}
		}},
		simple("suggestions", "a refusal proposes another name", tool{name: "weather", description: "Tells the weather.", annotations: readsOnly, properties: texts("city"), required: []string{"city"},
			call: func(given fields) (string, bool, *failure) {
				city, _ := text(given["city"])
				if len(city)%3 == 1 {
					return fmt.Sprintf("There is no city %q. Did you mean Rome?", city), true, nil
				}
				return fmt.Sprintf("There is no city %q.", city), true, nil
			}}),
		simple("numbers", "a tool adds numbers, and refuses large ones", tool{name: "add", description: "Adds two numbers.", annotations: readsOnly, properties: typed("integer", "a", "b"),
			required: []string{"a", "b"}, call: func(given fields) (string, bool, *failure) {
				var a, b int64
				if json.Unmarshal(given["a"], &a) != nil || json.Unmarshal(given["b"], &b) != nil {
					return "Invalid arguments: the numbers are too large.", true, nil
				}
				return strconv.FormatInt(a+b, 10), false, nil
			}}),
		simple("destructive", "a tool deletes everything, and says so: it must not be called", tool{name: "cancel_order", description: "Cancels an order.",
			call: func(fields) (string, bool, *failure) { os.Exit(9); return "", false, nil }}, echo),
	}
}
