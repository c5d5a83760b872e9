package netproto

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

func TestAnswersAreErrors(t *testing.T) {
	for answers, all := range map[[2]string]bool{
		{"HTTP/1.1 500 Internal Server Error\r\n", "HTTP/1.1 404 Not Found\r\n"}: true,
		{"-ERR unknown command\r\n", "error: no database\n"}:                     true,
		{"530 Please login\r\n", "SIP/2.0 503 Service Unavailable\r\n"}:          true,
		{"HTTP/1.1 500 Internal Server Error\r\n", "HTTP/1.1 200 OK\r\n"}:        false,
		{"5000 entries\r\n", "500 entries\r\n"}:                                  false,
		{"errand 1\n", "err 1\n"}:                                                false,
	} {
		var r Answers
		for _, a := range answers {
			r.add([]byte(a))
		}
		if n, _ := r.Refused(); (n == 2) != all {
			t.Errorf("%q: %d answers are all errors, want that: %t", answers, n, all)
		}
	}
}

// What a server has written that answers nothing is kept with what may help, and one that answers needs no help.
func TestSilence(t *testing.T) {
	const script = `import socket, sys
print("tftpd: cannot set groups for user nobody", file=sys.stderr)
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    c, _ = s.accept()
    if c.recv(100) == b"hello":
        c.sendall(b"hello")
    c.close()
`
	a := &Answers{}
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}"}, Answers: a})
	say := func(text string) (written, hint string) {
		if err := e.Exec(t.Context(), dialogue.Raw([]byte(text)), &teasel.Observation{}); err != nil {
			t.Fatal(err)
		}
		return a.Silence()
	}
	if written, hint := say("x"); written != "tftpd: cannot set groups for user nobody" || !strings.Contains(hint, "--user root") {
		t.Errorf("written %q, hint %q", written, hint)
	}
	if written, hint := say("hello"); written != "" || hint != "" {
		t.Errorf("it has answered: written %q, hint %q", written, hint)
	}
}
