package teasel_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// netServer is a small server with what makes real ones hard to fuzz: a login in steps, answers that take a while, a line
// now and then that nobody has asked for, a number in each answer that never repeats, and a memory that outlasts
// a connection. It "dies" by closing its listener and all connections, and does not come back by itself.
type netServer struct {
	listener net.Listener
	handlers sync.WaitGroup

	mu       sync.Mutex
	open     []net.Conn
	stored   int    // files, by all connections since the start
	requests int    // the same
	words    string // what it said last: why it died
	stopped  bool
}

var (
	words  = []string{"user", "pass", "cwd", "type", "pasv", "list", "retr", "stor", "noop", "quit"}
	secret = []string{"user", "pass", "type", "cwd", "pasv", "stor", "retr"} // the way in; then "quit" kills it
)

const (
	netWaits  = 4 // in this state a "noop" is never answered
	netStored = 3 // so many files, stored after a login, and the next "list" kills it
	netNotice = 7 // requests from one unasked line to the next
)

func startNetServer() (*netServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &netServer{listener: l}
	s.handlers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			if s.open = append(s.open, c); s.stopped {
				c.Close()
			}
			s.mu.Unlock()
			s.handlers.Go(func() { s.serve(c) })
		}
	})
	return s, nil
}

func (s *netServer) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(o net.Conn) bool { return o == c })
		s.mu.Unlock()
	}()
	in, state := bufio.NewScanner(c), 0
	for in.Scan() {
		text, next, died := s.answer(in.Text(), state)
		switch {
		case died:
			s.stop()
			return
		case text == "":
			continue // and so it hangs
		}
		state = next
		if _, err := c.Write([]byte(text)); err != nil {
			return
		}
	}
}

// answer returns what a request is answered with and the state that follows, "" for one that is never answered.
func (s *netServer) answer(word string, state int) (text string, next int, died bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.requests%netNotice == 0 {
		text = "100 busy\n"
	}
	switch {
	case state < len(secret) && word == secret[state]:
		state++
	case state == len(secret) && word == "quit":
		s.words = "quit after retr"
		return "", 0, true
	case state == netWaits && word == "noop":
		return "", state, false
	case state >= 2 && word == "stor":
		s.stored++
	case state >= 2 && word == "list":
		if s.stored >= netStored {
			s.words = "too many files"
			return "", 0, true
		}
		time.Sleep(time.Millisecond)
	default:
		return text + fmt.Sprintf("500 no %d\n", s.requests), 0, false
	}
	return text + fmt.Sprintf("2%02d ok %d\n", state, s.requests), state, false
}

// stop ends the listener and all connections; close also waits until they are gone.
func (s *netServer) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.listener.Close()
	for _, c := range s.open {
		c.Close()
	}
}

func (s *netServer) close() {
	s.stop()
	s.handlers.Wait()
}

func (s *netServer) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.words
}

// The server itself does what the fuzzer is to find out.
func TestNetServer(t *testing.T) {
	for _, tt := range []struct{ dialogues, want string }{
		{"user pass list", "200 ok"},
		{strings.Join(secret, " ") + " quit", "quit after retr"},
		{"user pass stor stor|user pass stor|user pass list", "too many files"},
		{"user pass stor stor|user pass list", ""},
	} {
		s, err := startNetServer()
		if err != nil {
			t.Fatal(err)
		}
		e := &netExecutor{server: s}
		for d := range strings.SplitSeq(tt.dialogues, "|") {
			if _, err := e.talk(strings.Fields(d), func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
		want := tt.want
		if strings.HasPrefix(want, "200") {
			want = ""
		}
		if got := s.lastWords(); got != want {
			t.Errorf("%s: it says %q, want %q", tt.dialogues, got, want)
		}
		s.close()
	}
}
