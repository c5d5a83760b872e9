package netproto

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// Nothing is lost of answers that come while a message is still being sent.
func TestAnswersToLongMessage(t *testing.T) {
	e := open(t, Target{Address: "stdio", Command: []string{"/bin/cat"}})
	long := bytes.Repeat([]byte("long"), 1<<18)
	var o teasel.Observation
	if err := e.Exec(context.Background(), dialogue.Raw(long, []byte("next")), &o); err != nil {
		t.Fatal(err)
	}
	if want := fingerprint(&dialogue.Response{}, long); !slices.Contains(e.responses.all, want) {
		t.Errorf("the answer of %d bytes is not seen: features %x, want %x", len(long), e.responses.all, want)
	}
}

// A server of somebody else's gets the whole of a message that is longer than the kernel's buffers.
func TestLongMessageToRemoteServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	long := append(bytes.Repeat([]byte("l"), 32<<20), '\n')
	got := make(chan int, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(c).ReadBytes('\n')
			fmt.Fprintln(c, len(line))
			got <- len(line)
			c.Close()
		}
	}()
	defer func() {
		l.Close()
		<-ended
	}()
	e := open(t, Target{Address: l.Addr().String()})
	if err := e.Exec(context.Background(), dialogue.Raw(long), &teasel.Observation{Ask: teasel.Ask{Quiet: true}}); err != nil {
		t.Fatal(err)
	}
	<-got // of the first contact
	if n := <-got; n != len(long) {
		t.Errorf("%d bytes of %d were sent", n, len(long))
	}
}
