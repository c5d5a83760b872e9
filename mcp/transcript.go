package mcp

import (
	"time"

	"github.com/teaselfuzz/teasel/mutate"
)

// Class says what a line is in JSON-RPC.
type Class uint8

const (
	ClassInvalid      Class = iota // not JSON, or JSON that is none of the others
	ClassRequest                   // has a method and an id that is a string or an integer
	ClassNotification              // has a method and no id
	ClassResponse                  // has an id and a result or an error, and no method
	ClassBatch                     // an array
)

// Message is a line of either side, read leniently: what is wrong with it is kept, not refused.
type Message struct {
	Class  Class
	Why    string       // of ClassInvalid: what is wrong; "": nothing
	Root   *mutate.JSON // nil when it is not JSON
	ID     string       // the JSON text of the id as it stands on the wire; "": none
	Method string
	Params *mutate.JSON
	Result *mutate.JSON
	Error  *mutate.JSON
	Twice  bool // an object of the envelope (root or params) has a member name twice
}

// Sent is one line that was written.
type Sent struct {
	Step       int    // of the script
	Raw        []byte // as it went on the wire, placeholders replaced
	Message    Message
	Regular    bool // a well-formed request whose id nobody else uses: exactly one answer is due
	Unresolved bool // a placeholder had nothing to stand for
	Withdrawn  bool // it was cancelled before an answer came: one may come or not
	Answer     int  // index in Received of the first answer; -1: none
	At         time.Duration

	place  int64  // among all lines to the server
	logged int    // bytes of Transcript.Stderr that stood there before; 0: none, or nobody knows
	again  bool   // its id is one that an earlier request had which has no answer: what comes may be that
	token  string // its progress token, as the server keeps it; "": it keeps none
	taken  bool   // another request may be using it
}

// Received is one line that was read and that belongs to the script.
type Received struct {
	Raw     []byte
	Message Message
	Sent    int  // index in Sent of the request it answers; -1: none that we know of
	Loose   bool // its id is not the request's text, only the same value in another type or notation
	At      time.Duration

	starved time.Duration // of it the server had work to do and no processor to do it on, before an answer
}

// EndKind says how a server process ended.
type EndKind uint8

const (
	EndInvalid   EndKind = iota // it has not ended
	EndExited                   // by itself, with a code
	EndSignalled                // by a signal that was not ours
	EndKilled                   // by us
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
	What   string    // "memory": bytes held after Sizes[i] executions; "time": microseconds for an input of Sizes[i] bytes; "shape": for the Sizes[i]th line
	Sizes  []float64 // strictly rising
	Values []float64
}

// Transcript is the evidence of one execution: all that was said and what became of the server. It is good until the
// next execution but one.
type Transcript struct {
	Script   *Script
	Session  *Session
	Sent     []Sent
	Received []Received // in order of arrival
	Noise    [][]byte   // lines on standard output that are no message at all, at most 16, cut to 4 KiB
	Noisy    int        // how many such lines there were
	// NoiseAfter says for each line of Noise how many lines had been sent when it came, those after the first request that
	// still waited for its answer left out; nil: nobody knows.
	NoiseAfter []int
	Stderr     []byte // written to standard error meanwhile, at most 64 KiB, the end of it
	End        End
	Hung       bool // a regular request got no answer in time, though the server answered a ping sent after it
	Deaf       bool // nor did it answer the ping
	Idle       bool // meanwhile it used no processor
	Busy       bool // meanwhile it used one
	Flood      bool // it wrote more than it may without being asked: cut off
	Cut        bool // its answers were too much to be kept: only how the server fared is known
	Growth     *Growth

	past  *history // of the process that has run the script
	place int      // how many it had run before it
}
