package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/link"
)

// input is an encoded value and what a child has said of it.
type input struct {
	data       []byte
	complexity float64
}

// died reports what has ended a process, and what had failed in it before and was perhaps not yet reported.
func (w *worker) died(ctx context.Context, c *child, status syscall.WaitStatus) (err error) {
	finding := c.fault(status)
	failures := c.page.Failures()
	known := w.reported(finding.ID())
	if known {
		err = w.publish(ctx, teasel.News{Sightings: []teasel.Sighting{{ID: finding.ID(), Times: 1}}})
		if len(failures) == 0 || err != nil {
			return err
		}
	}
	m, err := newReproducer(ctx, w.t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	for _, packed := range failures {
		in, err := m.unpack(packed)
		if err != nil {
			return err
		}
		f, err := m.run(ctx, in)
		if err != nil {
			return err
		}
		if id := f.ID(); f.Rule == "" || w.reported(id) {
			continue
		}
		if err := w.reproduce(ctx, m, in, f); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	packed, ok := c.page.Current()
	if !ok {
		finding.Detail = "The input is too large to be recorded.\n" + finding.Detail
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{finding}})
	}
	in, err := m.unpack(packed)
	if err != nil {
		return err
	}
	return w.reproduce(ctx, m, in, finding)
}

// maxAttempts is how often reproducing a finding may fail before it is given up. A goroutine that an input has left behind can
// end the process while the next one runs, which is blamed then.
const maxAttempts = 3

// reported reports whether the hub has a finding, or this worker has tried to reproduce it often enough.
func (w *worker) reported(id string) bool {
	if w.deaths[id] >= maxAttempts {
		return true
	}
	for _, f := range w.h.Summary().Findings {
		if f.ID() == id {
			return true
		}
	}
	return false
}

// reproduce tries an input again in fresh processes and reports what comes of it, and then what simpler input does the same.
// What there is no time to try again is unconfirmed.
func (w *worker) reproduce(ctx context.Context, m *reproducer, in input, f teasel.Finding) error {
	id := f.ID()
	w.deaths[id]++
	f.Occurrences, f.Worker, f.Execution = 1, w.number, w.draws
	f.Input, f.Original, f.Complexity = in.data, in.data, in.complexity
	tries := w.t.Tries
	if tries == 0 {
		tries = 3
	}
	for f.Tries = 0; f.Tries < tries; f.Tries++ {
		got, err := m.run(ctx, in)
		if ctx.Err() != nil {
			return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{f}})
		}
		if err != nil {
			return err
		}
		if got.Rule != "" && got.ID() == id {
			f.Stable++
		}
	}
	if f.Stable == 0 {
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{f}})
	}
	if err := w.publish(ctx, teasel.News{Findings: []teasel.Finding{f}}); err != nil {
		return err
	}
	if slices.Contains(judge.HangRules(), f.Rule) { // each run takes all the time that there is
		m.left = min(m.left, hangRuns)
	}
	small, err := m.minimize(ctx, in, id, func() bool { return ctx.Err() != nil || w.h.Summary().Stopped != "" })
	if err != nil || small.complexity >= in.complexity {
		return err
	}
	f.Input, f.Complexity, f.Occurrences = small.data, small.complexity, 0
	return w.publish(ctx, teasel.News{Findings: []teasel.Finding{f}})
}

// hangRuns is how many executions there are at most to minimise an input that does not end in time.
const hangRuns = 8

// publish tells the hub. A campaign that has ended takes the news too.
func (w *worker) publish(ctx context.Context, n teasel.News) error {
	n.Leaving = true
	x, over := w.join()
	defer over()
	if _, err := x.Sync(context.WithoutCancel(ctx), n); err != nil && !errors.Is(err, teasel.ErrStop) {
		return fmt.Errorf("reporting a finding: %w", err)
	}
	return nil
}

// reproducer runs inputs that may end the process: one child knows the values and runs none, others are for running.
type reproducer struct {
	t      *Test
	editor *server
	runner *server // nil: there is none at present
	left   int     // executions for minimising

	shown func(made int, complexity float64) // called when a simpler input shows the same; nil: nobody wants to know
}

func newReproducer(ctx context.Context, t *Test) (*reproducer, error) {
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	m := &reproducer{t: t, editor: s, left: t.MinimizeRuns}
	if m.left == 0 {
		m.left = 256
	}
	return m, nil
}

func (m *reproducer) close() (err error) {
	if m.runner != nil {
		err = m.runner.close()
	}
	return errors.Join(err, m.editor.close())
}

// known asks the child that runs nothing. It is an error if that one dies.
func (m *reproducer) known(r link.Request) (link.Answer, error) {
	a, dead, err := m.editor.ask(r)
	if dead {
		err = fmt.Errorf("the test process ended when it was asked to %s: exit status %d: %s", r.Op, m.editor.how.ExitStatus(), m.editor.stderr)
	}
	return a, err
}

func (m *reproducer) unpack(packed []byte) (input, error) {
	a, err := m.known(link.Request{Op: link.Unpack, Data: packed})
	return input{a.Data, a.Complexity}, err
}

// run runs an input and returns what was found; without a rule it ended well. A death counts only in a process that has run
// nothing else.
func (m *reproducer) run(ctx context.Context, in input) (teasel.Finding, error) {
	used := m.runner != nil
	f, dead, err := m.attempt(ctx, in)
	if err == nil && dead && used {
		f, _, err = m.attempt(ctx, in)
	}
	return f, err
}

func (m *reproducer) attempt(ctx context.Context, in input) (f teasel.Finding, dead bool, err error) {
	if m.runner == nil {
		if m.runner, err = m.t.serve(ctx); err != nil {
			return f, false, err
		}
	}
	s := m.runner
	a, dead, err := s.ask(link.Request{Op: link.Run, Data: in.data})
	switch {
	case err != nil:
		return f, false, err
	case dead:
		m.runner = nil
		return s.fault(s.how), true, s.close()
	case a.Failure != "":
		return judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTest, Text: a.Failure, Test: s.test}})[0], false, nil
	}
	return f, false, nil
}

// minimize goes down while the same is found, until stop says so.
func (m *reproducer) minimize(ctx context.Context, in input, id string, stop func() bool) (input, error) {
	first := m.left
	for k := uint64(0); m.left > 0 && !stop(); k++ {
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
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return in, err
		}
		if got.Rule != "" && got.ID() == id {
			in, k = c, ^uint64(0) // from the first candidate on
			if m.shown != nil {
				m.shown(first-m.left, in.complexity)
			}
		}
	}
	return in, nil
}

// Minimize looks for the simplest input that shows the finding with an id, beginning with one that does, in at most so many
// executions. shown, if it is not nil, is called with the executions made and the complexity whenever a simpler one does. If the
// input itself does not show the finding, the result is nil.
func Minimize(ctx context.Context, t *Test, data []byte, id string, runs int, shown func(made int, complexity float64)) (small []byte, err error) {
	m, err := newReproducer(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	a, err := m.known(link.Request{Op: link.Measure, Data: data})
	if err != nil {
		return nil, err
	}
	in := input{data, a.Complexity}
	f, err := m.run(ctx, in)
	if err != nil || f.Rule == "" || f.ID() != id {
		return nil, err
	}
	m.left, m.shown = runs, func(made int, complexity float64) {
		if shown != nil {
			shown(made, complexity)
		}
	}
	in, err = m.minimize(ctx, in, id, func() bool { return ctx.Err() != nil })
	return in.data, err
}

// Judge runs one encoded input in a process of its own and returns what was found; a finding without a rule says that it
// ended well.
func Judge(ctx context.Context, t *Test, data []byte) (f teasel.Finding, err error) {
	m, err := newReproducer(ctx, t)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	return m.run(ctx, input{data: data})
}
