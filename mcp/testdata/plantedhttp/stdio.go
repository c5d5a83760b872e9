package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// serveLines answers each line as it would a POST of one session.
func (s *server) serveLines(r io.Reader, w io.Writer) {
	session := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		post := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(lines.Text()))
		post.Header.Set("Content-Type", "application/json")
		if session != "" {
			post.Header.Set(sessionHeader, session)
		}
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, post)
		if id := answer.Header().Get(sessionHeader); session == "" {
			session = id
		}
		if strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json") {
			fmt.Fprintf(w, "%s\n", answer.Body)
		}
	}
}
