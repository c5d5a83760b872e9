package judge

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// Fault is what the executor saw go wrong, as far as it can tell without reading what the server has written.
type Fault uint8

// The faults, the gravest last.
const (
	FaultInvalid    Fault = iota
	FaultNone             // nothing: the server may still have written a report
	FaultResponse         // a response breaks the model, or an expectation of the user's
	FaultFiles            // files stay open behind dialogues
	FaultMemory           // memory stays held behind dialogues, more than they have sent
	FaultLimit            // more memory is held than the user allows
	FaultFlood            // it never stops answering
	FaultHealth           // the user's command says that it is not well
	FaultUnanswered       // it takes connections, sleeps, and answers nobody any more
	FaultClosed           // it runs, but takes no connections any more
	FaultStuck            // it neither sleeps nor gets anywhere
	FaultHang             // it uses processor time without an end
	FaultDeath            // it is no more
)

// Evidence is what was seen of one dialogue. Its slices are lent until the next one.
type Evidence struct {
	Fault   Fault
	At      int    // message after which it showed, from 0 on; -1: before the first, or Gone is set and it is not known
	Message string // name of that message; "": it has none
	Closed  bool   // it showed when the connection had been closed behind that message
	// Repeated is how often the dialogue had been held before on the same server, to see what it leaves behind, when the fault
	// showed. Such a fault may come of what they have left, or of chance.
	Repeated int
	Worn     int            // messages after which it has ended, whatever they are; 0: it is not known to end so
	Used     bool           // it had been sent much before: the message need not be to blame
	Signal   syscall.Signal // that ended the server; 0: none
	Status   int            // its exit status
	Forked   bool           // it was a process that the server has forked, and the server goes on
	Stack    []Frame        // functions in which the server was when a signal ended it, innermost first; none: unknown
	Guessed  bool           // Stack is what an image of its memory looks like
	Output   []byte         // what the server has written to standard output and standard error since the dialogue began
	Text     string         // what else there is to say, in one sentence without a full stop
	Key      string         // tells faults of one kind apart, for example the name of a response
	Talk     []Turn
	Some     bool  // some clients are answered, where others are not
	Gone     *Gone // the server is not ours, and serves nobody any more; nil: it is ours
}

// Gone is what is known of a server that somebody else has started, and that takes no connections or answers nobody any more.
type Gone struct {
	Last []Turn // what it was sent in the last dialogues, oldest first: one of them may be to blame
	Held int    // dialogues that it had in all, this one included
}

// Frame is one function of a stack, inlined ones included.
type Frame struct {
	Function    string // "": unknown
	File        string // "": unknown
	Line        int    // 0: unknown
	Column      int    // as a report says it; 0: unknown
	Module      string // program or library
	Offset      uint64 // address in it
	DebugColumn int    // of the debug information, which tells calls on one line apart; 0: unknown
}

// String returns the frame on one line.
func (f Frame) String() string { return triage.Frame(f).String() }

// Turn is one message and what the server has answered to it.
type Turn struct {
	Name      string // of the message; "": it has none, or the server spoke first
	Sent      []byte // nil: the server spoke first
	Received  []byte
	State     string // that the model says the server is in afterwards; "": unknown
	Reconnect bool   // on a new connection
	Closed    bool   // we have closed the connection, within the dialogue
	Client    int    // which of several clients it is, from 0 on
}

// mostShown is how many bytes of a message are written down.
const mostShown = 512

// clients returns how many clients the dialogue has.
func (e *Evidence) clients() (n int) {
	for i := range e.Talk {
		n = max(n, e.Talk[i].Client+1)
	}
	return n
}

// Transcript writes the dialogue down for a person, each message in quotes as in Go. Where there are several clients, each line says
// whose it is.
func (e *Evidence) Transcript() string {
	var b strings.Builder
	several := e.clients() > 1
	for _, t := range e.Talk {
		who := ""
		if several {
			who = fmt.Sprintf("client %d ", t.Client+1)
		}
		if t.Closed {
			fmt.Fprintf(&b, "%s- connection closed\n", who)
		}
		if t.Reconnect {
			fmt.Fprintf(&b, "%s- new connection\n", who)
		}
		if t.Sent != nil {
			fmt.Fprintf(&b, "%s> %s\n", who, line(t.Name, t.Sent))
		}
		if len(t.Received) > 0 {
			fmt.Fprintf(&b, "%s< %s\n", who, line(t.State, t.Received))
		}
	}
	return b.String()
}

// Sent returns the messages that a transcript tells of, with their names. Sent is nil of those that were not written down whole.
// Lines that are none of a transcript are passed over.
func Sent(transcript string) (turns []Turn) {
	for l := range strings.Lines(transcript) {
		text := strings.TrimSuffix(l, "\n")
		if rest, ok := strings.CutPrefix(text, "client "); ok {
			_, text, _ = strings.Cut(rest, " ")
		}
		text, ok := strings.CutPrefix(text, "> ")
		at := strings.IndexByte(text, '"')
		if !ok || at < 0 {
			continue
		}
		t := Turn{Name: strings.TrimSuffix(text[:at], " ")}
		if data, err := strconv.Unquote(text[at:]); err == nil {
			t.Sent = []byte(data)
		}
		turns = append(turns, t)
	}
	return turns
}

func line(name string, data []byte) string {
	if name != "" {
		name += " "
	}
	if len(data) > mostShown {
		return fmt.Sprintf("%s%s and %d bytes more", name, quoted(data[:mostShown]), len(data)-mostShown)
	}
	return name + quoted(data)
}

// quoted returns data as a literal with an escape for each byte that is no printable character of ASCII: bytes of a binary protocol may
// happen to be UTF-8.
func quoted(data []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range data {
		q := strconv.QuoteToASCII(string(data[i : i+1]))
		b.WriteString(q[1 : len(q)-1])
	}
	b.WriteByte('"')
	return b.String()
}

// Refused reports whether a server that ended with a status had answered the message before and has written of no fault: where each
// conversation has a process of its own, that is how a program refuses a client, and nobody else has lost anything.
func (e *Evidence) Refused() bool {
	if e.Fault != FaultDeath || e.Signal != 0 || e.Forked {
		return false
	}
	for i := len(e.Talk) - 1; i >= 0; i-- {
		if t := &e.Talk[i]; t.Received != nil || t.Sent != nil || t.Reconnect {
			return t.Received != nil && e.report().rule == RuleExit
		}
	}
	return false
}
