package gofunc

import (
	"context"
	"runtime"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

var (
	_ teasel.Target[*typed.Value]   = (*process)(nil)
	_ teasel.Executor[*typed.Value] = (*executor)(nil)
	_ teasel.Learner                = (*executor)(nil)
)

// process is the target in a test process. Counters are global to one, so it is opened once.
type process struct {
	g      *target
	test   string // tells it from all others, see judge.Failure
	parent *testing.T
	page   *link.Page // nil: nobody watches
	e      *typed.Editor
}

// Open implements teasel.Target.
func (p *process) Open(context.Context, teasel.Role) (teasel.Executor[*typed.Value], error) {
	x := &executor{process: p, counters: counters(), recorder: newRecorder(), failures: map[string]bool{},
		runner: runner{parent: p.parent, check: p.g.check, fields: findFields()}}
	if p.g.allocations {
		x.runner.mallocs = x.mallocs
	}
	x.novelty = newNovelty(len(x.counters))
	if p.g.statistics != nil {
		p.g.statistics.novelty = x.novelty
	}
	listening.Store(x.recorder)
	return x, nil
}

// executor runs inputs in this process.
type executor struct {
	*process
	runner   runner
	counters []byte
	recorder *recorder
	novelty  *novelty
	memory   runtime.MemStats
	failures map[string]bool  // ids of findings whose inputs are in the page
	operands []teasel.Operand // that the compiler's instrumentation has seen
}

// compares is what a test binary that teasel go has built can do: it records what instrumented code compares between two calls.
type compares interface {
	TeaselRecord()
	TeaselRecorded(take func(site uint32, size uint8, constant bool, a, b uint64))
}

// marks is what such a binary can do too: it marks the texts of failures, see agent.Mark.
type marks interface{ TeaselMark() }

// compared takes a comparison of two numbers that are not equal.
func (x *executor) compared(site uint32, size uint8, constant bool, a, b uint64) {
	x.operands = append(x.operands, teasel.Operand{Site: site, Size: size, Const: constant, A: a, B: b})
}

// Exec implements teasel.Executor.
func (x *executor) Exec(_ context.Context, in *typed.Value, o *teasel.Observation) error {
	arg := x.g.plan.Argument(in)
	var packed []byte
	if x.page != nil {
		packed = x.g.plan.Pack(x.page.Room(), in)
		x.page.Begin(packed)
	}
	x.runner.ready()
	x.recorder.begin(o.Ask.Operands)
	clear(x.counters)
	compiled := o.Ask.Operands && x.g.compares != nil
	if compiled {
		x.g.compares.TeaselRecord()
	}
	pending, failure := x.runner.run(arg), ""
	if pending {
		failure = x.runner.settle()
	}
	if compiled {
		x.g.compares.TeaselRecorded(x.compared)
	}
	if x.g.allocations {
		Maximize("allocations", float64(x.runner.objects))
	}
	x.novelty.judge(x.counters, x.recorder, o, func() float64 { return x.e.Complexity(in) })
	if !pending {
		failure = x.runner.settle()
	}
	if o.Ask.Operands {
		o.Operands = append(append(o.Operands, x.recorder.operands...), x.operands...)
		x.operands = x.operands[:0]
	}
	if x.page != nil {
		if x.runner.skipped {
			x.page.Skip()
		}
		if failure != "" {
			x.record(x.evidence(failure), packed)
		}
		x.page.End()
		if x.g.tried != nil {
			x.g.tried.add(packed)
		}
	}
	o.Exit = teasel.ExitOK
	if failure != "" {
		o.Exit, o.Evidence = teasel.ExitCrash, x.evidence(failure)
		o.Features, o.Measures = o.Features[:0], o.Measures[:0]
	}
	x.novelty.reached(o.Measures)
	return nil
}

// evidence is what detectors judge of a failed test.
func (x *executor) evidence(text string) *judge.Failure {
	return &judge.Failure{Cause: judge.CauseTest, Text: text, Test: x.test}
}

// record keeps the first input of every finding where it outlives the process.
func (x *executor) record(failure *judge.Failure, packed []byte) {
	for _, f := range judge.Detect(&teasel.Observation{Evidence: failure}) {
		if id := f.ID(); !x.failures[id] {
			x.failures[id] = true
			x.page.Fail(packed, failure.Text)
		}
	}
}

// mallocs returns the objects that were ever allocated.
func (x *executor) mallocs() uint64 {
	runtime.ReadMemStats(&x.memory)
	return x.memory.Mallocs
}

// Learn implements teasel.Learner.
func (x *executor) Learn(fs []teasel.Feature, complexity float64) { x.novelty.learn(fs, complexity) }

// Close implements teasel.Executor.
func (x *executor) Close() error {
	listening.Store(nil)
	x.runner.close()
	return nil
}
