package conn

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// eventReader reads server-sent events, as the HTML standard defines them.
type eventReader struct {
	r     *bufio.Reader
	hold  func() error // is called before more than smallSize bytes of an event are read
	begun bool
	cr    bool // the last line ended with one: a line feed behind it belongs to it
}

// A serverEvent is an event of a stream.
type serverEvent struct {
	name, id string
	data     []byte
}

// next returns the next event that has data, or an id and no data: it says from where to resume. One that no blank line ends is none.
func (e *eventReader) next() (v serverEvent, err error) {
	for some := false; ; {
		line, err := e.line(len(v.data))
		if err != nil {
			return serverEvent{}, err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && (some || v.id != ""):
			return v, nil
		case len(line) == 0:
			v.name = ""
		case string(field) == "data":
			if some {
				v.data = append(v.data, '\n')
			}
			v.data, some = append(v.data, value...), true
		case string(field) == "event":
			v.name = string(value)
		case string(field) == "id" && bytes.IndexByte(value, 0) < 0:
			v.id = string(value)
		}
	}
}

// line reads a line, without its end, of an event that has so many bytes.
func (e *eventReader) line(size int) (line []byte, err error) {
	for {
		if _, err := e.r.Peek(1); err != nil {
			return nil, err
		}
		part, _ := e.r.Peek(e.r.Buffered())
		if e.cr && part[0] == '\n' {
			e.r.Discard(1)
			e.cr = false
			continue
		}
		end, ended := bytes.IndexByte(part, '\n'), true
		if end < 0 {
			end, ended = len(part), false
		}
		if cr := bytes.IndexByte(part[:end], '\r'); cr >= 0 {
			end, ended = cr, true
		}
		if line = append(line, part[:end]...); size+len(line) > maxLine {
			return nil, ErrFlood
		}
		if size+len(line) > smallSize {
			if err := e.hold(); err != nil {
				return nil, err
			}
		}
		e.cr = ended && part[end] == '\r'
		if !ended {
			e.r.Discard(end)
			continue
		}
		e.r.Discard(end + 1)
		if !e.begun {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		e.begun = true
		return line, nil
	}
}

// Opens asks for the stream of HTTP+SSE and reports whether it has named where to post within that time.
func (c *HTTP) Opens(ctx context.Context, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	c.Flush(ctx, limit)
	for c.posts == "" && c.ended == nil && ctx.Err() == nil && time.Now().Before(deadline) {
		c.Recv(ctx, time.Now().Add(Slice), nil)
	}
	return c.posts != ""
}

// takeEvent notes what has come over HTTP+SSE. A message is an event of the stream, or the body of a refusal.
func (c *HTTP) takeEvent(e event, frames []Frame) []Frame {
	f := e.frame
	switch {
	case e.name == "endpoint":
		if u, err := c.cfg.URL.Parse(string(f.Body)); err == nil && c.posts == "" {
			c.posts = u.RequestURI()
			c.assign()
		}
		return frames
	case f.Exchange != 0:
		if f.Status < http.StatusMultipleChoices || len(f.Body) == 0 || f.Body[0] != '{' {
			return frames
		}
	case f.Last: // the stream is at its end
		c.ended = io.EOF
		return frames
	case len(f.Body) == 0: // an event that says only from where to resume
		return frames
	}
	return append(frames, Frame{Body: f.Body})
}

// retarget returns a request that goes where the stream has said.
func (c *HTTP) retarget(r *request) []byte {
	target := []byte(r.method + " " + c.cfg.URL.RequestURI() + " ")
	if rest, ok := bytes.CutPrefix(r.bytes, target); ok {
		return append([]byte(r.method+" "+c.posts+" "), rest...)
	}
	return r.bytes
}
