package conn

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// A Conn carries messages to and from one live server: bytes, one frame each, whatever is in them. One goroutine uses it.
type Conn interface {
	// Send queues one message, and returns the number of the exchange that it begins; 0: it begins none.
	Send(m Message) (exchange int64)
	// Flush writes what is queued. When the server takes nothing for as long as limit the error is [ErrBlocked], and the rest stays queued; when it takes
	// nothing any more, [ErrBroken].
	Flush(ctx context.Context, limit time.Duration) error
	// Recv appends what has come to frames, and returns as soon as that is one frame, or when until has passed. The error says
	// that nothing more will come: io.EOF, [ErrRefused] or [ErrFlood]; or, of our own, [ErrLocal]. Frames are valid until the next Recv.
	Recv(ctx context.Context, until time.Time, frames []Frame) ([]Frame, error)
	// Unread reports whether the server has not yet taken all that was written, or an exchange is not over.
	Unread() bool
	// Drop gives an exchange up.
	Drop(exchange int64)
	// Release says that nobody waits for an exchange. One that is not over gives its place to a message that finds none.
	Release(exchange int64)
	// Queued reports whether the message that begins an exchange waits for a place.
	Queued(exchange int64) bool
	// CloseSend says that nothing more will be sent, after what is queued.
	CloseSend() error
	// Received returns how many bytes have come.
	Received() int64
	// Close ends the connection.
	Close() error
}

// A Message is what is sent to a server.
type Message struct {
	Body   []byte // valid until the next Flush returns
	More   bool   // it goes on with the next message: nothing ends it on the wire yet
	Fields string // over HTTP, lines that the head of the request has beside those of every message; Head is what differs from that
	Head   string // over HTTP, how the head of the request differs from that of every message, see [HTTP]; "": it does not
	// Apart says that over HTTP the message has a connection of its own, so that it does not queue behind others, and that nobody
	// waits for its response.
	Apart bool
	Cut   bool // over HTTP, its connection is closed as soon as it is written
	Fresh bool // over HTTP, its connection is a new one: that this is closed without a response is the message's doing
}

// A Frame is one message from the server, or the end of an exchange.
type Frame struct {
	Body     []byte      // nil: none came with it
	Exchange int64       // that it belongs to; 0: only what is in it says what it answers
	Status   int         // of the HTTP response, [NoResponse] or [MaybeUnread]; 0: not over HTTP
	Header   http.Header // of the HTTP response; nil: not over HTTP, or there is none
	Last     bool        // the exchange is over
	EventID  string      // of a server-sent event
	Wrote    time.Time   // when the message that began the exchange was written
	Err      error       // why there is no response, or not all of it
}

// The statuses of exchanges whose connection the server has closed without a response.
const (
	NoResponse  = -1
	MaybeUnread = -2 // the connection had carried others, so that the server may have closed it before it read the message
)

// The ways in which a connection fails that are the server's.
var (
	ErrBlocked = errors.New("the server does not read what is sent to it")
	ErrBroken  = errors.New("the server has closed its input")
	ErrFlood   = errors.New("the server writes without end")
	ErrRefused = errors.New("nobody listens at the server's address")
)

// ErrLocal says that this machine has no room for another connection, which is nobody's fault but ours.
var ErrLocal = errors.New("no connection can be made from here")
