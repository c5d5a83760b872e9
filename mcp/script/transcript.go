package script

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Sent is one line that was written.
type Sent struct {
	Step       int    // of the script
	Raw        []byte // as it went on the wire, placeholders replaced
	Message    jsonrpc.Message
	Regular    bool        // a well-formed request whose id nobody else uses: exactly one answer is due
	Unresolved bool        // a placeholder had nothing to stand for
	Withdrawn  bool        // it was cancelled before an answer came: one may come or not
	Status     int         // of the HTTP response, conn.NoResponse or conn.MaybeUnread; 0: none yet, or not over HTTP
	Header     http.Header // of the response; nil: none yet, or not over HTTP
	EventID    string      // of the first event of the response that has one: the rest of the stream is behind it
	Broken     bool        // the response has no message though one is due, or not all of one
	Answer     int         // index in Received of the first answer; -1: none
	At         time.Duration

	Place  int64  // among all lines to the server
	Logged int    // bytes of Transcript.Stderr that stood there before; 0: none, or nobody knows
	Again  bool   // its id is one that an earlier request had which has no answer, or one that is left out here: what comes may be that
	Token  string // its progress token, as the server keeps it; "": it keeps none
	Taken  bool   // another request may be using it
}

// Received is one line that was read and that belongs to the script.
type Received struct {
	Raw     []byte
	Message jsonrpc.Message
	Sent    int    // index in Sent of the request it answers; -1: none that we know of
	Via     int    // over HTTP, one more than the index in Sent of the line in whose response it came; 0: nobody knows
	EventID string // over HTTP, of the server-sent event that it was; "": it has none
	Loose   bool   // its id is not the request's text, only the same value in another type or notation
	At      time.Duration

	Starved time.Duration // of it the server had work to do and no processor to do it on, before an answer
}

// EndKind says how a server process ended.
type EndKind uint8

const (
	EndInvalid   EndKind = iota // it has not ended
	EndExited                   // by itself, with a code
	EndSignalled                // by a signal that was not ours
	EndKilled                   // by us
	EndGone                     // nobody listens at its address any more, and its process is not ours
)

// End is how a server process ended.
type End struct {
	Kind   EndKind
	Code   int    // of EndExited
	Signal string // of EndSignalled, for example "segmentation fault"
	Stderr []byte // the last it wrote there, at most 64 KiB
	Closed bool   // it closed its standard output and was still running after a while
	EOF    bool   // its standard input had been closed by us before: ending is right
}

// Growth is what the executor measured on purpose: how memory or time grew while one input was repeated or made bigger.
type Growth struct {
	What      string    // "memory": bytes held after Sizes[i] executions; "files": open; "open": files, and processes; "time": microseconds for an input of Sizes[i] bytes; "shape": for the Sizes[i]th line
	Sizes     []float64 // strictly rising
	Values    []float64
	Processes []float64 // with "open"
	Used      []float64 // with "memory": microseconds of the processor by then
}

// Waiting is what a process waits for that uses no processor.
type Waiting uint8

// What there is to wait for.
const (
	WaitsUnknown Waiting = iota
	WaitsInside          // nothing beyond the process can end it
	WaitsOutside         // a connection, or a child that works
)

// Transcript is the evidence of one execution: all that was said and what became of the server. It is good until the
// next execution but one.
type Transcript struct {
	Script   *Script
	Session  *session.Session
	Sent     []Sent
	Received []Received // in order of arrival
	Noise    [][]byte   // lines on standard output that are no message at all, at most 16, cut to 4 KiB
	Noisy    int        // how many such lines there were
	// NoiseAfter says for each line of Noise how many lines had been sent when it came, those after the first request that
	// still waited for its answer left out; nil: nobody knows.
	NoiseAfter   []int
	Stderr       []byte // written to standard error meanwhile, at most 64 KiB, the end of it
	End          End
	Hung         bool    // a regular request got no answer in time, though the server answered a ping sent after it
	Unresponsive bool    // nor did it answer the ping
	AwaitsClient bool    // a request of the server has no answer that it can tell to be one: it may wait for that
	Ended        bool    // of an unresponsive one, over HTTP: it takes requests, and its responses have no message
	Refuses      string  // over HTTP, why it refuses a new client, of a server that refuses everything; "": it does not
	Idle         bool    // meanwhile it used no processor
	Busy         bool    // meanwhile it used one
	Waits        Waiting // what it waits for that does not answer
	Worn         int     // of one that has ended: after how many requests it does, whatever they are; 0: it is not known to
	Flood        bool    // it wrote more than it may without being asked: cut off
	Cut          bool    // its answers were too much to be kept: only how the server fared is known
	Growth       *Growth

	Past  *history.Ring // what the server has run, in the order in which it was sent
	Place int           // how much of it, up to the end of this script
}

// LeastLeak is how many bytes memory has to grow by between the first and the last measure for it to be a leak.
const LeastLeak = 16 << 20

// IsTask reports whether a request goes on as a task after its answer, and its progress with it.
func IsTask(s *Sent, answer *jsonrpc.Message) bool {
	return s.Message.Params.Get("task") != nil || answer.Result.Get("task") != nil
}

// Bounds of the noise that is kept.
const (
	maxNoise     = 16
	MaxNoiseLine = 4 << 10
)

// Head returns how the head of a line's request differed, as its step has it.
func (t *Transcript) Head(s *Sent) string {
	if t.Script == nil || s.Step >= len(t.Script.Steps) {
		return ""
	}
	return t.Script.Steps[s.Step].Head
}

// Spoken returns a line for people: what it says, or of one that says nothing how its head differs.
func (t *Transcript) Spoken(s *Sent) string {
	if len(s.Raw) > 0 {
		return jsonrpc.Cut(s.Raw, 160)
	}
	return strings.ReplaceAll(t.Head(s), "\n", ", ")
}

// AddNoise keeps a line that is no message. It comes of the first request that waits for its answer, if there is one:
// most servers work in order.
func (t *Transcript) AddNoise(raw []byte) {
	t.Noisy++
	if len(t.Noise) == maxNoise {
		return
	}
	after := len(t.Sent)
	if i := slices.IndexFunc(t.Sent, func(s Sent) bool { return (s.Regular || s.Withdrawn) && s.Answer < 0 }); i >= 0 {
		after = i + 1
	}
	t.Noise = append(t.Noise, bytes.Clone(raw[:min(len(raw), MaxNoiseLine)]))
	t.NoiseAfter = append(t.NoiseAfter, after)
}

// Unanswered returns the first request to which an answer is due; -1: there is none.
func (t *Transcript) Unanswered() int {
	for i := range t.Sent {
		if s := &t.Sent[i]; s.Regular && s.Answer < 0 {
			return i
		}
	}
	return -1
}

// AskedDuring returns what the first request is about that had no answer yet when a request of the server came; "": there was none.
func (t *Transcript) AskedDuring(received int) string {
	for i := range t.Sent {
		s := &t.Sent[i]
		if s.Message.Class == jsonrpc.ClassRequest && s.At <= t.Received[received].At && (s.Answer < 0 || s.Answer > received) {
			return session.Subject(t.Session, &s.Message)
		}
	}
	return ""
}

// Sends reports whether a line of the script has the word in it.
func (t *Transcript) Sends(word string) bool {
	for i := range t.Sent {
		if strings.Contains(string(t.Sent[i].Raw[:min(len(t.Sent[i].Raw), session.MaxNotedText)]), word) {
			return true
		}
	}
	return false
}

// Answers returns the line of the script that an answer with the given id belongs to, other than by a number of
// ours: exactly, then loosely, then, as the id null says that none could be read, the only line it can be.
func (t *Transcript) Answers(id string) (sent int, loose bool) {
	if i := t.Asking(id); i >= 0 {
		return i, false
	}
	if id == "null" {
		return t.unreadable(), false
	}
	for i := range t.Sent {
		s := &t.Sent[i]
		if s.Message.ID != "" && s.Answer < 0 && jsonrpc.SameLoosely(s.Message.ID, id) {
			return i, true
		}
	}
	for i := range t.Sent { // it has been answered already
		if t.Sent[i].Message.ID == id {
			return i, false
		}
	}
	return -1, false
}

// Asking returns the first unanswered line of the script that has that very id; -1: none has.
func (t *Transcript) Asking(id string) int {
	return slices.IndexFunc(t.Sent, func(s Sent) bool {
		return s.Message.ID == id && s.Answer < 0 && s.Message.Class != jsonrpc.ClassNotification
	})
}

// unreadable returns the only unanswered line whose id a server could not make out; -1: there is none, or several. A
// line that every server can read is one only if the script says nothing else.
func (t *Transcript) unreadable() int {
	found := -1
	for i := range t.Sent {
		s := &t.Sent[i]
		if s.Answer >= 0 || !s.WantsAnswer() || s.Regular && len(t.Sent) > 1 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// WantsAnswer reports whether a server may be expected to say something to the line.
func (s *Sent) WantsAnswer() bool {
	switch s.Message.Class {
	case jsonrpc.ClassNotification, jsonrpc.ClassResponse:
		return false
	case jsonrpc.ClassBatch:
		return len(s.Message.Root.Items) == 0 || batchHasRequest(s.Message.Root)
	}
	return s.Message.Why != WhyUnfinished && len(bytes.TrimSpace(s.Raw)) > 0
}

func batchHasRequest(root *mutate.JSON) bool {
	for _, item := range root.Items {
		if item == nil || item.Kind != mutate.Object || item.Get("id") != nil || item.Get("method") == nil {
			return true
		}
	}
	return false
}

// WhyUnfinished is what is wrong with the part of a line that more of it follows.
const WhyUnfinished = "the line goes on"

// Stands reports whether the server is as it should be.
func (t *Transcript) Stands() bool {
	return t.End.Kind == EndInvalid && !t.End.Closed && !t.Unresponsive && t.Refuses == "" && !t.Hung && !t.Flood
}

// Uncertain reports whether something may come that nobody has waited for: an answer to what was cancelled or has an id of the
// script's own, or progress of what is answered; or the end of the server, since of the last line nothing has come that says that it is done.
func (t *Transcript) Uncertain() bool {
	if n := len(t.Sent); n > 0 && t.Sent[n-1].Answer < 0 {
		return true
	}
	for i := range t.Received {
		if t.Received[i].Message.Method == "notifications/progress" {
			return true
		}
	}
	for i := range t.Sent {
		if s := &t.Sent[i]; s.Answer < 0 && !s.Regular && s.Message.Class == jsonrpc.ClassRequest {
			return true
		}
	}
	return false
}

// UnansweredBatch returns the first unanswered batch; -1: there is none.
func (t *Transcript) UnansweredBatch() int {
	for i := range t.Sent {
		if s := &t.Sent[i]; s.Answer < 0 && s.Message.Class == jsonrpc.ClassBatch {
			return i
		}
	}
	return -1
}

// Guilty returns the step that the end of the server is put down to: the first unanswered or else the last that was sent.
func (t *Transcript) Guilty() int {
	if i := t.Unanswered(); i >= 0 {
		return t.Sent[i].Step
	}
	if n := len(t.Sent); n > 0 {
		return t.Sent[n-1].Step
	}
	return 0
}

// FirstUnanswered returns the first request that is not answered, whether an answer is due or not; nil: there is none.
func (t *Transcript) FirstUnanswered() *Sent {
	for i := range t.Sent {
		if s := &t.Sent[i]; s.Answer < 0 && (s.Regular || s.Message.Class == jsonrpc.ClassRequest) {
			return s
		}
	}
	return nil
}
