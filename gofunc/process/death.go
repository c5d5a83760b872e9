package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
)

// input is an encoded value and what a child has said of it.
type input struct {
	data       []byte
	complexity float64
}

// died reports what has ended a process: the input in its page is tried again in fresh processes and simplified as long as
// the same comes of it.
func (w *worker) died(ctx context.Context, c *child, how string) (err error) {
	fault := link.Died(c.stderr.String(), how, c.hung)
	if c.full {
		fault = tooMuch
	}
	finding := fault.Finding(c.stderr.String())
	finding.Occurrences, finding.Worker, finding.Execution = 1, w.number, w.draws
	id := finding.ID()
	if w.deaths[id]++; w.deaths[id] > 1 {
		return w.publish(ctx, teasel.News{Sightings: []teasel.Sighting{{ID: id, Times: 1}}})
	}
	packed, ok := c.page.Current()
	if !ok {
		finding.Detail = "The input is too large to be recorded.\n" + finding.Detail
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{finding}})
	}
	m, err := newAutopsy(ctx, w.t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	in, err := m.unpack(packed)
	if err != nil {
		return err
	}
	finding.Input, finding.Original, finding.Complexity = in.data, in.data, in.complexity
	tries := w.t.Tries
	if tries == 0 {
		tries = 3
	}
	for finding.Tries = 0; finding.Tries < tries; finding.Tries++ {
		got, err := m.run(ctx, in)
		if err != nil {
			return err
		}
		if got == id {
			finding.Stable++
		}
	}
	if finding.Stable == 0 {
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{finding}})
	}
	if small, err := m.minimize(ctx, in, id); err != nil {
		return err
	} else if small.complexity < in.complexity {
		finding.Input, finding.Complexity = small.data, small.complexity
	}
	return w.publish(ctx, teasel.News{Findings: []teasel.Finding{finding}})
}

var tooMuch = link.Fault{Rule: "go/out-of-memory", Severity: teasel.High, Subject: "test", Message: "the test process held more memory than it may"}

// publish tells the hub. A campaign that has ended takes the news too.
func (w *worker) publish(ctx context.Context, n teasel.News) error {
	if _, err := w.h.Join().Sync(context.WithoutCancel(ctx), n); err != nil && !errors.Is(err, teasel.ErrStop) {
		return fmt.Errorf("reporting a finding: %w", err)
	}
	return nil
}

// autopsy runs inputs that may end the process: one child knows the values and runs none, others are for running.
type autopsy struct {
	t      *Test
	editor *server
	runner *server // nil: there is none at present
	left   int     // executions for minimising
}

func newAutopsy(ctx context.Context, t *Test) (*autopsy, error) {
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	m := &autopsy{t: t, editor: s, left: t.MinimizeRuns}
	if m.left == 0 {
		m.left = 256
	}
	return m, nil
}

func (m *autopsy) close() (err error) {
	if m.runner != nil {
		err = m.runner.close()
	}
	return errors.Join(err, m.editor.close())
}

// known asks the child that runs nothing. It is an error if that one dies.
func (m *autopsy) known(r link.Request) (link.Answer, error) {
	a, dead, err := m.editor.ask(r)
	if dead {
		err = fmt.Errorf("the test process ended when it was asked to %s: %s: %s", r.Op, m.editor.how, m.editor.stderr)
	}
	return a, err
}

func (m *autopsy) unpack(packed []byte) (input, error) {
	a, err := m.known(link.Request{Op: link.Unpack, Data: packed})
	return input{a.Data, a.Complexity}, err
}

// run runs an input and returns the id of what was found; "" if it ended well.
func (m *autopsy) run(ctx context.Context, in input) (id string, err error) {
	if m.runner == nil {
		if m.runner, err = m.t.serve(ctx); err != nil {
			return "", err
		}
	}
	s := m.runner
	a, dead, err := s.ask(link.Request{Op: link.Run, Data: in.data})
	if err != nil {
		return "", err
	}
	var f teasel.Finding
	switch {
	case dead:
		fault := link.Died(s.stderr.String(), s.how, s.hung)
		if s.full {
			fault = tooMuch
		}
		f = fault.Finding("")
		m.runner = nil
		return f.ID(), s.close()
	case a.Failure != "":
		f = link.Failed(a.Failure).Finding("")
		return f.ID(), nil
	}
	return "", nil
}

// minimize goes down while the same is found.
func (m *autopsy) minimize(ctx context.Context, in input, id string) (input, error) {
	if m.left < 0 {
		return in, nil
	}
	for k := uint64(0); m.left > 0; k++ {
		a, err := m.known(link.Request{Op: link.Simplify, Data: in.data, K: k})
		if err != nil {
			return in, err
		}
		if !a.OK {
			break
		}
		if a.Complexity >= in.complexity {
			continue
		}
		m.left--
		c := input{a.Data, a.Complexity}
		got, err := m.run(ctx, c)
		if err != nil {
			return in, err
		}
		if got == id {
			in, k = c, ^uint64(0) // from the first candidate on
		}
	}
	return in, nil
}

// Judge runs one encoded input in a process of its own and returns the id of what was found; "" if it ended well.
func Judge(ctx context.Context, t *Test, data []byte) (id string, err error) {
	m, err := newAutopsy(ctx, t)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	return m.run(ctx, input{data: data})
}
