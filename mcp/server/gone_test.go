package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A server that is not ours and answers initialize with an error of JSON-RPC after it has served is gone, unless its status says that it is about
// the client.
func TestGoneWithMessage(t *testing.T) {
	for status, gone := range map[int]bool{200: true, 500: true, 401: false, 403: false, 429: false} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, rest, _ := strings.Cut(string(body), `"id":`)
				id, _, _ := strings.Cut(rest, ",")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"broken"}}`, id)
			}))
			defer h.Close()
			c := &Command{URL: h.URL, StartTimeout: 5 * time.Second}
			s, err := c.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			_, err = c.Initialize(t.Context(), s)
			var e *GoneError
			if got := errors.As(c.Gone(err), &e); got != gone {
				t.Errorf("gone: %v, want %v: %v", got, gone, err)
			}
		})
	}
}
