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
type eventReader struct{ r *bufio.Reader }

// A serverEvent is an event of a stream.
type serverEvent struct {
	name, id string
	data     []byte
}

// next returns the next event that has data. With an error, which is io.EOF at the end, there may be an event that nothing ended. One
// that has an id and no data says from where to resume.
func (e eventReader) next() (v serverEvent, err error) {
	for some := false; ; {
		line, err := e.line(len(v.data))
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "data":
			if some {
				v.data = append(v.data, '\n')
			}
			v.data, some = append(v.data, value...), true
		case string(field) == "event":
			v.name = string(value)
		case string(field) == "id":
			v.id = string(value)
		case len(line) == 0 && (some || v.id != ""):
			return v, err
		}
		if err != nil {
			return v, err
		}
	}
}

// line reads a line, newline included, of an event that has so many bytes.
func (e eventReader) line(size int) (line []byte, err error) {
	for {
		part, err := e.r.ReadSlice('\n')
		if line = append(line, part...); size+len(line) > maxLine {
			return line, ErrFlood
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
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
