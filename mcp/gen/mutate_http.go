package gen

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
)

// Parts of the heads of HTTP requests.
var (
	headNames = []string{
		"Accept", "Content-Type", "Content-Length", "Transfer-Encoding", "Content-Encoding", "Connection", "Expect", "Host", "Origin", "Referer", "Cookie",
		"Authorization", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-ID", "X-Forwarded-For", "X-Forwarded-Host", "X-HTTP-Method-Override",
	}
	headValues = []string{
		"", "*", "*/*", "null", "0", "-1", "1", "99999999999999999999", "chunked", "gzip", "close", "keep-alive, Upgrade", "100-continue", "text/html", "application/json",
		"application/json; charset=utf-16", "text/event-stream", "Bearer", "Bearer teasel", "127.0.0.1", "localhost:1", check.ForeignOrigin, check.UnknownSession, check.NoVersion,
		"2024-11-05", "2026-07-28", "=?base64?dGVhc2Vs?=", "../../etc/passwd", "a\tb", "\x80",
	}
	headMethods = []string{"GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "post", "POST"}
)

// changeHead changes the head of a step's HTTP request.
func changeHead(e *editor) bool {
	s := &e.in.Steps[e.pick()]
	if s.NoNewline {
		return false
	}
	var lines []string
	if s.Head != "" {
		lines = strings.Split(s.Head, "\n")
	}
	line := ""
	switch e.r.IntN(8) {
	case 0:
		if line = choose(e, headMethods); e.r.IntN(2) == 0 {
			line += " /" + strings.NewReplacer("\n", "", "\r", "", " ", "%20", ":", "%3A").Replace(e.word())
		}
		lines = append([]string{line}, lines...)
		s.Head = strings.Join(lines, "\n")
		return true
	case 1:
		line = "+" + choose(e, headNames) + ": " + choose(e, headValues) // beside the right one
	case 2:
		line = "+" + strings.ReplaceAll(e.word(), "\n", "")
	case 3:
		line = choose(e, headNames) + ": " + strings.Repeat("a", 1<<(8+e.r.IntN(10)))
	case 4:
		line = choose(e, headNames) + ":"
	case 5:
		line = "Content-Length: " + strconv.Itoa(max(len(s.Line)-1+e.r.IntN(3), 0))
	case 6:
		line = choose(e, headNames) + ": " + strings.NewReplacer("\n", "", "\r", "").Replace(e.word())
	default:
		line = choose(e, headNames) + ": " + choose(e, headValues)
	}
	s.Head = strings.Join(append(lines, line), "\n")
	return true
}
