package server

import (
	"net"
	"strings"
	"testing"
	"time"
)

// Of a server that runs already no error says that it was started, and no hint how.
func TestErrorsOfRunningServer(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"silent":      func(net.Conn) {},
		"hangs up":    func(c net.Conn) { c.Close() },
		"no HTTP":     func(c net.Conn) { c.Write([]byte("220 ready\r\n")) },
		"has no body": func(c net.Conn) { c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					serve(c)
				}
			}()
			c := &Command{URL: "http://" + l.Addr().String() + "/mcp", Timeout: time.Second, StartTimeout: time.Second}
			s, err := c.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			_, err = c.Initialize(t.Context(), s)
			start, ok := err.(*StartError)
			if !ok || !strings.HasPrefix(err.Error(), `connecting to server "http://127.0.0.1:`) || strings.Contains(start.Hint, "npx") || strings.Contains(err.Error(), "standard") {
				t.Errorf("the error is %v, with the hint %q", err, start.hint())
			}
		})
	}
}
