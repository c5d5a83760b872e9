package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/link"
)

// input is an encoded value and what a child has said of it.
type input struct {
	data       []byte
	complexity float64
}

// died reports what has ended a process while it ran an input, if it did, and what had failed in it before and was perhaps not
// yet reported.
func (w *worker) died(ctx context.Context, c *child, running bool, status syscall.WaitStatus) (err error) {
	var finding teasel.Finding
	if running {
		finding = c.fault(status)
		if w.reported(finding.ID()) {
			running = false
			if err := w.publish(ctx, teasel.News{Sightings: []teasel.Sighting{{ID: finding.ID(), Times: 1}}}); err != nil {
				return err
			}
		}
	}
	failures := c.page.Failures()
	if !running && len(failures) == 0 {
		return nil
	}
	m, err := newReproducer(ctx, w.t)
	if err != nil {
		return err
	}
	m.executions = &w.unreported
	defer func() { err = errors.Join(err, m.close()) }()
	for _, f := range failures {
		finding := w.t.failed(f.Text)
		if w.reported(finding.ID()) {
			continue
		}
		if err := w.seen(ctx, m, f.Packed, finding); err != nil {
			return err
		}
	}
	if !running {
		return nil
	}
	packed, ok := c.page.Current()
	if !ok {
		finding.Detail = "The input is too large to be recorded.\n" + finding.Detail
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{finding}})
	}
	return w.seen(ctx, m, packed, finding)
}

// failed is what there is to judge of a test that has failed and left the process alive.
func (t *Test) failed(text string) teasel.Finding {
	return judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTest, Text: text, Test: t.identity()}})[0]
}

func (w *worker) seen(ctx context.Context, m *reproducer, packed []byte, f teasel.Finding) error {
	in, err := m.unpack(packed)
	if err != nil {
		return err
	}
	return w.reproduce(ctx, m, in, f)
}

// maxAttempts is how often reproducing a finding may fail before it is given up. A goroutine that an input has left behind can end the process
// while the next one runs, which is blamed then.
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
	seen := f.ID()
	w.deaths[seen]++
	f.Occurrences, f.Worker, f.Execution = 1, w.number, w.draws
	f.Input, f.Original, f.Complexity = in.data, in.data, in.complexity
	f, err := w.confirm(ctx, m, in, f)
	if err != nil {
		return err
	}
	switch id := f.ID(); {
	case f.Stable == 0:
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{f}})
	case id != seen && w.reported(id):
		return w.publish(ctx, teasel.News{Sightings: []teasel.Sighting{{ID: id, Times: 1}}})
	}
	if err := w.publish(ctx, teasel.News{Findings: []teasel.Finding{f}}); err != nil || w.stopping(ctx) {
		return err
	}
	if slices.Contains(judge.HangRules(), f.Rule) { // each run takes all the time that there is
		m.left = min(m.left, hangRuns)
	}
	small, err := m.minimize(ctx, in, f, func() bool { return w.stopping(ctx) })
	if err != nil {
		return err
	}
	if small.complexity >= in.complexity {
		return w.publish(ctx, teasel.News{})
	}
	f.Message, f.Detail, f.Minimal = small.found.Message, small.found.Detail, small.done
	f.Input, f.Complexity, f.Occurrences = small.data, small.complexity, 0
	return w.publish(ctx, teasel.News{Findings: []teasel.Finding{f}})
}

// confirm counts how often an input shows a finding in a fresh process. The detail is that of a process which has run nothing
// else. If the input shows another finding instead, that is what it is: the process that died first may have lost, or mixed up,
// what was said. Where the time does not suffice, and nothing was reproduced, the tries do not count.
func (w *worker) confirm(ctx context.Context, m *reproducer, in input, f teasel.Finding) (teasel.Finding, error) {
	first, replaced := f, false
	tries := cmp.Or(w.t.Tries, 3)
	for f.Tries = 0; f.Tries < tries; f.Tries++ {
		got, err := m.run(ctx, in)
		if ctx.Err() != nil {
			if f.Stable == 0 {
				f.Tries = 0
			}
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if got.Rule == "" { // the next try must not see what this one has left behind
			if err := m.restart(); err != nil {
				return f, err
			}
			continue
		}
		if got.ID() != f.ID() && f.Stable == 0 && !replaced {
			f.Rule, f.Severity, f.Subject, f.Group, f.Message, f.Signal = got.Rule, got.Severity, got.Subject, got.Group, got.Message, got.Signal
			replaced = true
		}
		if got.ID() == f.ID() {
			f.Stable++
			if m.stack == 0 {
				f.Detail = got.Detail
			}
			if err := m.limitStack(&got); err != nil {
				return f, err
			}
		}
	}
	if f.Stable == 0 {
		first.Tries = f.Tries
		return first, nil
	}
	return f, nil
}

// hangRuns is how many executions there are at most to minimise an input that does not end in time.
const hangRuns = 8

// publish tells the hub. A campaign that has ended takes the news too.
func (w *worker) publish(ctx context.Context, n teasel.News) error {
	n.Leaving = true
	n.Executions, w.unreported = n.Executions+w.unreported, 0
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
	stack  int     // bytes that a goroutine's stack may have in the runner; 0: as many as under plain go test

	executions *uint64                            // where they are counted; nil: nowhere
	cancel     func()                             // ends the editor
	shown      func(made int, complexity float64) // called when a simpler input shows the same; nil: nobody wants to know
}

// newReproducer starts the child that runs nothing. It lives somewhat longer than ctx, so that what was seen last can be read.
func newReproducer(ctx context.Context, t *Test) (*reproducer, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, cancel) })
	end := func() {
		stop()
		cancel()
	}
	s, err := t.serve(own)
	if err != nil {
		end()
		return nil, err
	}
	m := &reproducer{t: t, editor: s, left: t.MinimizeRuns, cancel: end}
	if m.left == 0 {
		m.left = 256
	}
	return m, nil
}

// reproducer starts one whose executions are counted. Both results are nil if ctx has ended.
func (w *worker) reproducer(ctx context.Context, executions *uint64) (*reproducer, error) {
	m, err := newReproducer(ctx, w.t)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil
		}
		return nil, err
	}
	m.executions = executions
	return m, nil
}

func (m *reproducer) close() (err error) {
	if m.runner != nil {
		err = m.runner.close()
	}
	err = errors.Join(err, m.editor.close())
	m.cancel()
	return err
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
		if m.runner, err = m.t.serveWith(ctx, link.Settings{Mode: link.Serve, MaxStack: m.stack}); err != nil {
			return f, false, err
		}
	}
	s := m.runner
	if m.executions != nil {
		*m.executions++
	}
	a, dead, err := s.ask(link.Request{Op: link.Run, Data: in.data})
	switch {
	case err != nil:
		return f, false, err
	case dead:
		m.runner = nil
		return s.fault(s.how), true, s.close()
	case a.Failure != "":
		return m.t.failed(a.Failure), false, nil
	}
	return f, false, nil
}

// limitStack has inputs run with a shallow stack once one has shown that it overflows the whole stack.
func (m *reproducer) limitStack(shown *teasel.Finding) (err error) {
	if shown.Rule == judge.StackRule && m.stack == 0 {
		m.stack = judge.ShallowStack
		err = m.restart()
	}
	return err
}

// restart has the next input run in a fresh process.
func (m *reproducer) restart() (err error) {
	if m.runner != nil {
		err, m.runner = m.runner.close(), nil
	}
	return err
}

// minimised is the simplest input that was found to show a finding.
type minimised struct {
	input
	found teasel.Finding // as it shows it
	done  bool           // no step from it makes it simpler
}

// minimize goes down while the same is found, until stop says so. What overflows a shallow stack has to overflow the whole one in the end.
func (m *reproducer) minimize(ctx context.Context, start input, found teasel.Finding, stop func() bool) (in minimised, err error) {
	if err := m.limitStack(&found); err != nil {
		return minimised{input: start, found: found}, err
	}
	if in, err = m.descend(ctx, start, found, stop); err != nil || m.stack == 0 || in.complexity >= start.complexity {
		return in, err
	}
	m.stack = 0
	if err := m.restart(); err != nil {
		return in, err
	}
	got, err := m.run(ctx, in.input)
	if err == nil && got.ID() == found.ID() {
		in.found = got
		return in, nil
	}
	if ctx.Err() != nil {
		err = nil
	}
	return minimised{input: start, found: found}, err
}

// descend is minimize, with the limits that there are.
func (m *reproducer) descend(ctx context.Context, start input, found teasel.Finding, stop func() bool) (in minimised, err error) {
	in, id := minimised{input: start, found: found}, found.ID()
	first := m.left
	for k := uint64(0); m.left > 0 && !stop(); k++ {
		a, err := m.known(link.Request{Op: link.Simplify, Data: in.data, K: k})
		if err != nil {
			return in, err
		}
		if !a.OK {
			in.done = true
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
			in.input, in.found, k = c, got, ^uint64(0) // from the first candidate on
			if m.shown != nil {
				m.shown(first-m.left, in.complexity)
			}
		}
	}
	return in, nil
}

// Minimize looks for the simplest input that shows the finding with an id, beginning with one that does, in at most so many
// executions. shown, if it is not nil, is called with the executions made and the complexity whenever a simpler one does. If the
// input itself does not show the finding, small.Input is nil; otherwise small is the finding as that input shows it, which is Minimal if
// there is no simpler one.
func Minimize(ctx context.Context, t *Test, data []byte, id string, runs int, shown func(made int, complexity float64)) (small teasel.Finding, err error) {
	m, err := newReproducer(ctx, t)
	if err != nil {
		return small, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	a, err := m.known(link.Request{Op: link.Measure, Data: data})
	if err != nil {
		return small, err
	}
	in := input{data, a.Complexity}
	f, err := m.run(ctx, in)
	if err != nil || f.Rule == "" || f.ID() != id {
		return small, err
	}
	m.left, m.shown = runs, func(made int, complexity float64) {
		if shown != nil {
			shown(made, complexity)
		}
	}
	least, err := m.minimize(ctx, in, f, func() bool { return ctx.Err() != nil })
	small = least.found
	small.Input, small.Minimal = least.data, least.done
	return small, err
}
