package conn

import (
	"cmp"
	"strconv"
	"strings"
)

// request makes the bytes of a request.
func (c *HTTP) request(m *Message) *request {
	change := ParseHead(m.Head)
	method, target := change.Method, cmp.Or(change.Target, c.cfg.URL.RequestURI())
	head := []field{{"Host", c.cfg.URL.Host}, {"Accept", "application/json, text/event-stream"}}
	if method == "GET" {
		head[1].value = "text/event-stream"
	}
	if method != "GET" && method != "DELETE" || len(c.body) > 0 {
		head = append(head, field{"Content-Type", "application/json"}, field{"Content-Length", strconv.Itoa(len(c.body))})
	}
	if c.session != "" {
		head = append(head, field{"Mcp-Session-Id", c.session})
	}
	if c.version != "" {
		head = append(head, field{"MCP-Protocol-Version", c.version})
	}
	for _, line := range c.cfg.Header {
		name, value, _ := strings.Cut(line, ":")
		head = replace(head, name, strings.TrimSpace(value))
	}
	for line := range strings.SplitSeq(m.Fields, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			head = replace(head, name, strings.TrimSpace(value))
		}
	}
	for _, f := range change.fields {
		head = replace(head, f.name, f.value)
	}
	b := make([]byte, 0, 256+len(c.body))
	b = append(append(append(append(b, method...), ' '), target...), " HTTP/1.1\r\n"...)
	for _, f := range head {
		b = append(append(append(append(b, f.name...), ": "...), f.value...), "\r\n"...)
	}
	for _, line := range change.Behind {
		b = append(append(b, line...), "\r\n"...)
	}
	b = append(append(b, "\r\n"...), c.body...)
	return &request{method: method, bytes: b, once: m.Head != "" || m.Cut, cut: m.Cut, fresh: m.Fresh, apart: m.Apart || method == "GET"}
}

// Head is what a [Message.Head] says.
type Head struct {
	Method string   // "POST" if it says nothing of it
	Target string   // "": that of every message
	Behind []string // lines that are added as they stand

	fields []field // an empty value: the field is left out
}

// ParseHead reads how the head of a request differs from that of every message.
func ParseHead(text string) Head {
	h := Head{Method: "POST"}
	if text == "" {
		return h
	}
	lines := strings.Split(text, "\n")
	if first := lines[0]; first != "" && !strings.Contains(first, ":") && first[0] != '+' {
		h.Method, h.Target, _ = strings.Cut(first, " ")
		lines = lines[1:]
	}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ":"); line != "" && line[0] == '+' {
			h.Behind = append(h.Behind, line[1:])
		} else if ok {
			h.fields = append(h.fields, field{name, strings.TrimSpace(value)})
		}
	}
	return h
}

// Get returns the value that a name is given, and whether anything is said of it; "": it is left out.
func (h *Head) Get(name string) (value string, ok bool) {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return f.value, true
		}
	}
	return "", false
}

// A field is a line of a head.
type field struct{ name, value string }

// replace sets the value of a field, and leaves it out if that is empty.
func replace(head []field, name, value string) []field {
	for i := range head {
		if !strings.EqualFold(head[i].name, name) {
			continue
		}
		if value == "" {
			return append(head[:i], head[i+1:]...)
		}
		head[i].value = value
		return head
	}
	if value == "" {
		return head
	}
	return append(head, field{name, value})
}
