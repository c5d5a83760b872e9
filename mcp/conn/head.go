package conn

import (
	"strconv"
	"strings"
)

// request makes the bytes of a request.
func (c *HTTP) request(m *Message) *request {
	method, target := "POST", c.cfg.URL.RequestURI()
	lines := strings.Split(m.Head, "\n")
	if first := lines[0]; first != "" && !strings.Contains(first, ":") && first[0] != '+' {
		var other string
		if method, other, _ = strings.Cut(first, " "); other != "" {
			target = other
		}
		lines = lines[1:]
	}
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
	var behind []string
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ":"); line != "" && line[0] == '+' {
			behind = append(behind, line[1:])
		} else if ok {
			head = replace(head, name, strings.TrimSpace(value))
		}
	}
	b := make([]byte, 0, 256+len(c.body))
	b = append(append(append(append(b, method...), ' '), target...), " HTTP/1.1\r\n"...)
	for _, f := range head {
		b = append(append(append(append(b, f.name...), ": "...), f.value...), "\r\n"...)
	}
	for _, line := range behind {
		b = append(append(b, line...), "\r\n"...)
	}
	b = append(append(b, "\r\n"...), c.body...)
	return &request{method: method, bytes: b, once: m.Head != "", apart: m.Apart || method == "GET"}
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
