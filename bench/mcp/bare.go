package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// pipeSize is what a Linux pipe holds. The client writes and reads in one
// goroutine, so what it has in flight must fit.
const pipeSize = 64 << 10

// warmUp is run before the clock: the server's JIT is not what we measure.
const warmUp = time.Second

// initialize opens the session with id 0; calls count up from 1.
const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// client calls one tool as fast as the server answers and does nothing else
// that the protocol does not ask for: it is the limit a fuzzer can come near to.
type client struct {
	in     io.Writer
	out    *bufio.Reader
	tail   string // what follows the id in every request
	last   int    // id of the newest request
	flying map[int]struct{}
	buf    []byte
}

// bareClient starts the server and measures one client on it.
func bareClient(ctx context.Context, s settings) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.server[0], s.server[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return sample{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	// A server that stops answering is killed, which ends the read.
	watchdog := time.AfterFunc(s.duration+warmUp+30*time.Second, cancel)

	c := &client{in: in, out: bufio.NewReaderSize(out, pipeSize), flying: make(map[int]struct{}, s.window)}
	rate, err := c.measure(s)
	if err != nil && !watchdog.Stop() {
		err = fmt.Errorf("no answer in time: %w", err)
	}
	watchdog.Stop()
	cancel()
	_ = cmd.Wait() // killed: its status says nothing
	return sample{rate: rate}, err
}

// measure opens the session, tries the tool once, and calls it for a while.
func (c *client) measure(s settings) (rate float64, err error) {
	name, err := json.Marshal(s.tool)
	if err != nil {
		return 0, err
	}
	c.tail = fmt.Sprintf(`,"method":"tools/call","params":{"name":%s,"arguments":%s}}`+"\n", name, s.args)
	if s.request != "" {
		c.tail = "," + s.request[1:] + "\n"
	}
	if n := s.window * (len(c.tail) + 40); n > pipeSize {
		return 0, fmt.Errorf("%d requests of %d bytes do not fit a pipe: use a smaller -window", s.window, len(c.tail)+40)
	}
	if _, err := io.WriteString(c.in, initialize); err != nil {
		return 0, err
	}
	if _, err := c.reply(0); err != nil {
		return 0, fmt.Errorf("opening the session: %w", err)
	}
	if _, err := io.WriteString(c.in, initialized); err != nil {
		return 0, err
	}
	if s.request == "" {
		if err := c.probe(); err != nil {
			return 0, err
		}
	}

	c.call(s.window)
	if _, err := c.spin(warmUp); err != nil {
		return 0, err
	}
	start := time.Now()
	n, err := c.spin(s.duration)
	return float64(n) / time.Since(start).Seconds(), err
}

// probe calls the tool once and refuses to go on if the server refuses.
func (c *client) probe() error {
	c.call(1)
	if err := c.flush(); err != nil {
		return err
	}
	line, err := c.reply(c.last)
	if err != nil {
		return err
	}
	delete(c.flying, c.last)
	var r struct {
		Error  json.RawMessage
		Result struct{ IsError bool }
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if r.Error != nil || r.Result.IsError {
		return fmt.Errorf("the tool refuses: %s", bytes.TrimSpace(line))
	}
	return nil
}

// call adds n requests to what the next flush sends.
func (c *client) call(n int) {
	for range n {
		c.last++
		c.flying[c.last] = struct{}{}
		c.buf = append(c.buf, `{"jsonrpc":"2.0","id":`...)
		c.buf = strconv.AppendInt(c.buf, int64(c.last), 10)
		c.buf = append(c.buf, c.tail...)
	}
}

func (c *client) flush() error {
	_, err := c.in.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// spin sends a request for each reply until d is over and returns how many
// replies came. The window stays full.
func (c *client) spin(d time.Duration) (replies int, err error) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := c.flush(); err != nil {
			return replies, err
		}
		// One read may bring many replies: answer all of them with one write.
		for first := true; first || bytes.IndexByte(c.peek(), '\n') >= 0; first = false {
			line, err := c.line()
			if err != nil {
				return replies, err
			}
			id, ok := replyID(line)
			if !ok {
				continue // a notification or a request of the server's
			}
			if _, ok := c.flying[id]; !ok {
				return replies, fmt.Errorf("reply to %d, which is not in flight", id)
			}
			delete(c.flying, id)
			replies++
			c.call(1)
		}
	}
	return replies, nil
}

// peek is what has arrived and was not read yet.
func (c *client) peek() []byte {
	b, _ := c.out.Peek(c.out.Buffered())
	return b
}

// reply reads on until the reply to id.
func (c *client) reply(id int) ([]byte, error) {
	for {
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		if got, ok := replyID(line); ok && got == id {
			return line, nil
		}
	}
}

// line reads one line. It is only valid until the next call.
func (c *client) line() ([]byte, error) {
	line, err := c.out.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		line, err = c.out.ReadBytes('\n')
		line = append(long, line...)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the server closed its output")
	}
	return line, err
}

// replyID finds the id of a reply. Servers put it first or last, where it is
// found without parsing the rest.
func replyID(line []byte) (id int, ok bool) {
	if rest, found := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)); found {
		if end := bytes.IndexByte(rest, ','); end > 0 && !bytes.HasPrefix(rest[end:], []byte(`,"method":`)) {
			id, err := strconv.Atoi(string(rest[:end]))
			return id, err == nil
		}
	}
	if body, found := bytes.CutSuffix(bytes.TrimRight(line, "\r\n"), []byte("}")); found {
		const key = `"jsonrpc":"2.0","id":`
		if i := bytes.LastIndex(body, []byte(key)); i >= 0 && bytes.HasPrefix(line, []byte(`{"result":`)) {
			if id, err := strconv.Atoi(string(body[i+len(key):])); err == nil {
				return id, true
			}
		}
	}
	var r struct {
		ID     *int
		Method *string
	}
	if json.Unmarshal(line, &r) != nil || r.ID == nil || r.Method != nil {
		return 0, false
	}
	return *r.ID, true
}
