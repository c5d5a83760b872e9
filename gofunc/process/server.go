package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel/gofunc/link"
)

// ErrNotTyped is what Describe returns for a fuzz test that does not use package gofunc.
var ErrNotTyped = errors.New("the fuzz test is not typed: it does not call gofunc.Fuzz")

// Description is what a typed fuzz test says of itself.
type Description struct {
	Type  string   // of its inputs
	Seeds [][]byte // encoded
}

// Describe starts the test once, and asks it. It returns [ErrNotTyped] if it ends well and without an answer.
func (t *Test) Describe(ctx context.Context) (*Description, error) {
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	return &Description{s.hello.Type, s.hello.Seeds}, s.close()
}

// Check returns for each encoded input why it is no value of the test's type, such as JSON with a field that the type does not
// have; nil: it is one.
func (t *Test) Check(ctx context.Context, inputs ...[]byte) (why []error, err error) {
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	why = make([]error, len(inputs))
	for i, in := range inputs {
		a, dead, err := s.ask(link.Request{Op: link.Check, Data: in})
		if dead {
			err = fmt.Errorf("the test process ended when it was asked to %s: exit status %d: %s", link.Check, s.how.ExitStatus(), s.stderr)
		}
		if err != nil {
			return nil, err
		}
		if !a.OK {
			why[i] = errors.New(a.Failure)
		}
	}
	return why, nil
}

// server is a child that answers requests. It is over when the child has died.
type server struct {
	*child
	in    *json.Decoder
	out   *json.Encoder
	hello link.Hello
	ended bool
	how   syscall.WaitStatus // it ended
}

func (t *Test) serve(ctx context.Context) (*server, error) {
	return t.serveWith(ctx, link.Settings{Mode: link.Serve})
}

func (t *Test) serveWith(ctx context.Context, settings link.Settings) (*server, error) {
	c, err := t.start(ctx, settings)
	if err != nil {
		return nil, err
	}
	s := &server{child: c, in: json.NewDecoder(c.answers), out: json.NewEncoder(c.requests)}
	if err := s.in.Decode(&s.hello); err != nil {
		s.end()
		err = errors.Join(s.release())
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), err)
		case s.how.Exited() && s.how.ExitStatus() == 0:
			return nil, errors.Join(ErrNotTyped, err)
		default:
			return nil, errors.Join(fmt.Errorf("starting %s: %s", t.Name, strings.TrimSpace(s.stderr.String()+"\n"+s.stdout.String())), err)
		}
	}
	if s.hello.Version != link.Version {
		err := fmt.Errorf("the test speaks version %d of the protocol, this teasel version %d: make their versions equal", s.hello.Version, link.Version)
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) end() {
	if !s.ended {
		s.ended, s.how = true, s.wait()
	}
}

// close ends the child and waits for it.
func (s *server) close() error {
	err := s.requests.Close()
	s.end()
	return errors.Join(err, s.answers.Close(), s.page.Close())
}

// ask makes a request. dead says that the child has died of it.
func (s *server) ask(r link.Request) (a link.Answer, dead bool, err error) {
	if s.ended {
		return a, true, nil
	}
	if s.out.Encode(r) != nil || s.in.Decode(&a) != nil { // it is gone
		s.end()
		return a, true, nil
	}
	if a.Err != "" {
		return a, false, fmt.Errorf("asking the test to %s: %s", r.Op, a.Err)
	}
	return a, false, nil
}
