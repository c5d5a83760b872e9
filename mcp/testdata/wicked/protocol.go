package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// protocolModes misbehave as servers.
func protocolModes() []mode {
	return []mode{
		{"many-tools", "lists 10,000 tools at once", func([]string) int {
			list := make([]string, 10_000)
			for i := range list {
				list[i] = tool(fmt.Sprintf("tool_%05d", i), `{"type":"object","properties":{"message":{"type":"string"}}}`)
			}
			return (&plain{tools: strings.Join(list, ",")}).serve()
		}},
		{"endless-pages", "answers tools/list with the same cursor for ever", pages(func(int) string { return "more" })},
		{"fresh-pages", "answers tools/list with another cursor for ever", pages(func(n int) string { return fmt.Sprintf("page-%d", n) })},
		{"bad-schema", "lists tools with schemas that cannot be met, resolved or read", func([]string) int {
			return (&plain{tools: strings.Join(badSchemas(), ",")}).serve()
		}},
		{"twice", "answers everything twice", func([]string) int {
			p := &plain{}
			p.write = func(reply string) {
				p.put(reply)
				p.put(reply)
			}
			return p.serve()
		}},
		{"out-of-order", "answers after a delay of 0 to 20 ms, as it comes", outOfOrder},
		{"slow-tool", "has a tool that takes three seconds, during which it answers nothing else", slowTool(false)},
		{"slow-tool-apart", "has a tool that takes three seconds, and answers other requests meanwhile", slowTool(true)},
		{"wrong-id", "answers every call with the id of nobody", func([]string) int {
			return (&plain{override: func(m *message) string {
				if m.Method != "tools/call" {
					return ""
				}
				return `{"jsonrpc":"2.0","id":"nobody","result":{"content":[]}}`
			}}).serve()
		}},
		{"no-tools", "has the capability for tools and lists none", func([]string) int {
			return (&plain{override: func(m *message) string {
				if m.Method != "tools/list" {
					return ""
				}
				return success(m, `{"tools":[]}`)
			}}).serve()
		}},
		{"null-tools", "answers tools/list with null where the array should be", func([]string) int {
			return (&plain{override: func(m *message) string {
				if m.Method != "tools/list" {
					return ""
				}
				return success(m, `{"tools":null}`)
			}}).serve()
		}},
	}
}

// pages hands out one tool on each page and never an end.
func pages(cursor func(n int) string) func([]string) int {
	return func([]string) int {
		n := 0
		p := &plain{override: func(m *message) string {
			if m.Method != "tools/list" {
				return ""
			}
			n++
			return success(m, fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, echoTool, cursor(n)))
		}}
		return p.serve()
	}
}

func badSchemas() []string {
	schemas := []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/nothing"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"$ref":"https://example.invalid/schema.json"}},"required":["a"]}`,
		`{"$ref":"#"}`,
		`{"type":"object","properties":{"a":{"type":"integer","minimum":2,"maximum":1}},"required":["a"]}`,
		`{"type":"object","properties":{"a":false},"required":["a"]}`,
		`{"type":"object","not":{}}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"(["}},"required":["a"]}`,
		`{"type":"nothing"}`,
		`{"type":7}`,
		`false`,
		`null`,
		`[]`,
		`"schema"`,
		`{"type":"object","properties":{"a":{"enum":[]}},"required":["a"]}`,
		`{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`,
		`{"type":"object","minProperties":1000000000}`,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1e18}},"required":["a"]}`,
	}
	list := []string{echoTool}
	for i, s := range schemas {
		list = append(list, tool(fmt.Sprintf("schema_%02d", i), s))
	}
	return append(list, `{"name":"schema_missing"}`, `{"inputSchema":{"type":"object"}}`, `null`, `7`)
}

// outOfOrder answers each request in a goroutine of its own. The delays come from a fixed seed.
func outOfOrder([]string) int {
	rng := rand.New(rand.NewPCG(1, 1))
	p := &plain{}
	var pending sync.WaitGroup
	p.override = func(m *message) string {
		delay := time.Duration(rng.IntN(21)) * time.Millisecond
		reply := p.answer(m)
		pending.Go(func() {
			time.Sleep(delay)
			p.put(reply)
		})
		return silence
	}
	status := p.serve()
	pending.Wait()
	return status
}

func slowTool(apart bool) func([]string) int {
	const delay = 3 * time.Second
	return func([]string) int {
		p := &plain{tools: echoTool + "," + tool("slow", `{"type":"object"}`)}
		p.override = func(m *message) string {
			if m.Method != "tools/call" || m.Params.Name != "slow" {
				return ""
			}
			reply := said(m, "done")
			if !apart {
				time.Sleep(delay)
				return reply
			}
			time.AfterFunc(delay, func() { p.put(reply) })
			return silence
		}
		return p.serve()
	}
}
