package conn

import (
	"context"
	"errors"
	"time"
)

// A Conn carries messages to and from one live server: bytes, one frame each, whatever is in them. One goroutine uses it.
type Conn interface {
	// Send queues one message. more says that the message goes on with the next Send: nothing ends it on the wire yet.
	Send(message []byte, more bool)
	// Flush writes what is queued. When the server takes nothing for as long as limit the error is [ErrBlocked]; when it takes
	// nothing any more, [ErrBroken].
	Flush(ctx context.Context, limit time.Duration) error
	// Recv appends what has come to frames, and returns as soon as that is one frame, or when until has passed. The error says
	// that nothing more will come: io.EOF, or [ErrFlood]. Frames are valid until the next Recv.
	Recv(ctx context.Context, until time.Time, frames []Frame) ([]Frame, error)
	// Unread reports whether the server has not yet taken all that was written.
	Unread() bool
	// CloseSend says that nothing more will be sent, after what is queued.
	CloseSend() error
	// Received returns how many bytes have come.
	Received() int64
	// Close ends the connection.
	Close() error
}

// A Frame is one message from the server.
type Frame struct{ Body []byte }

// The ways in which a connection fails that are the server's.
var (
	ErrBlocked = errors.New("the server does not read what is sent to it")
	ErrBroken  = errors.New("the server has closed its input")
	ErrFlood   = errors.New("the server writes without end")
)
