package netproto

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Each datagram is a response: those that come at once are not taken for one, of which only the first part would count.
func TestDatagramsAreResponses(t *testing.T) {
	const script = `import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
def say(client, code):
    s.sendto(b"SIP/2.0 " + code + b"\r\nTo: <sip:b@127.0.0.1>;tag=7\r\nContent-Length: 0\r\n\r\n", client)
while True:
    data, client = s.recvfrom(65536)
    if data.startswith(b"INVITE"):
        say(client, b"100 Trying")
        say(client, b"200 OK")
`
	m, err := model.Load("model/protocols/sip.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, Target{Address: "udp://127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}"}, Timeout: 200 * time.Millisecond, Model: m})
	var o teasel.Observation
	for _, s := range dialogue.Seeds(m) {
		if s.Messages[0].Name == "invite" {
			if err := e.Exec(t.Context(), &dialogue.Dialogue{Messages: s.Messages[:1:1]}, &o); err != nil {
				t.Fatal(err)
			}
			if got := e.session.State(); got != "answered" {
				t.Errorf("the call is %q, want it answered", got)
			}
			return
		}
	}
	t.Fatal("no seed begins with an INVITE")
}
