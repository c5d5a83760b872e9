package gofunc

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/mutate/typed"
	"github.com/teaselfuzz/teasel/policy"
)

// child is the test as a process that a campaign has started. The engine's worker lives in it, since the values have a
// type only here.
func (g *target) child(f *testing.F, s *link.Settings) {
	f.Add("")
	begun := false
	g.compares, _ = any(f).(compares)
	if m, ok := any(f).(marks); ok {
		m.TeaselMark()
	}
	f.Fuzz(func(t *testing.T, _ string) { // to have a testing.T
		if begun {
			return
		}
		begun = true
		if err := g.attend(t, s); err != nil {
			fmt.Fprintln(os.Stderr, "gofunc:", err)
			os.Exit(2)
		}
	})
}

// attend does what the settings say until the parent has enough.
func (g *target) attend(t *testing.T, s *link.Settings) error {
	for _, fd := range []int{link.RequestFile, link.AnswerFile, link.PageFile} {
		syscall.CloseOnExec(fd) // what the test starts must not hold them
	}
	answerQuit()
	if s.MaxStack > 0 {
		debug.SetMaxStack(s.MaxStack)
	}
	page, err := link.Map(os.NewFile(link.PageFile, "page"))
	if err != nil {
		return err
	}
	if s.Mode == link.Serve {
		return g.serve(t, s, os.NewFile(link.RequestFile, "requests"), os.NewFile(link.AnswerFile, "answers"), page)
	}
	var constants []string
	if s.Constants {
		f := os.NewFile(link.ConstantsFile, "constants")
		if constants, err = link.ReadConstants(f); err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
	}
	rw, err := pipe.Inherit(link.RequestFile, link.AnswerFile)
	if err != nil {
		return err
	}
	ctx := context.Background()
	x, err := pipe.Dial(ctx, rw, pipe.Config{})
	if err != nil {
		return err
	}
	if err := g.work(ctx, t, s, page, constants, x); err != nil {
		return errors.Join(fmt.Errorf("working: %w", err), x.Close())
	}
	page.Finish()
	return x.Close()
}

// work is the worker until its campaign ends.
func (g *target) work(ctx context.Context, t *testing.T, s *link.Settings, page *link.Page, constants []string, x teasel.Exchange) (err error) {
	pool := g.portfolio().Pool()
	if s.Statistics != "" {
		w, err := newStatistics(x, testName(t), s, pool, g.figures)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		g.statistics, x = w, w
	}
	if g.tried = newTried(g.plan); g.tried != nil {
		x = &finite{Exchange: x, tried: g.tried, test: testName(t), typ: g.plan.Type().String()}
	}
	return g.campaign(t, s, page, constants, pool).Work(ctx, x, s.Worker)
}

// testName returns the name of the fuzz test that a testing.T belongs to.
func testName(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// answerQuit prints the stacks of all goroutines and exits when the parent has waited long enough for an input. What the
// runtime does by itself leaves out goroutines that are running.
func answerQuit() {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() { // until the end of the process
		<-quit
		buf := make([]byte, 1<<20)
		_, _ = os.Stderr.Write(buf[:runtime.Stack(buf, true)])
		os.Exit(2)
	}()
}

// campaign is one worker's.
func (g *target) campaign(t *testing.T, s *link.Settings, page *link.Page, constants []string, pool teasel.Pool) *teasel.Campaign[*typed.Value] {
	e := g.editor()
	learn(e, constants)
	resume := &teasel.Snapshot{Workers: make([]teasel.WorkerState, s.Worker+1)}
	resume.Workers[s.Worker] = teasel.WorkerState{Number: s.Worker, Draws: s.Draws}
	stages := []teasel.Stage[*typed.Value]{teasel.Steps[*typed.Value]{}, typed.Solve{}, teasel.Havoc[*typed.Value]{}, teasel.Splice[*typed.Value]{}}
	if chosen, err := policy.ChooseStages(stages, s.Stages); err == nil { // the command has checked the names
		stages = chosen
	}
	return &teasel.Campaign[*typed.Value]{
		Target: &process{g: g, test: s.Test, parent: t, page: page, e: e}, NewMutator: func() teasel.Mutator[*typed.Value] { return e }, Codec: codec{g},
		Stages: stages, MinimizeRuns: s.MinimizeRuns,
		NewPool: func() teasel.Pool { return pool }, NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(judge.Detect)} },
		Resume: resume, Seed: s.Seed, Runs: s.Runs, Calibrate: calibrateRuns, Tries: s.Tries, Generate: generateShare,
	}
}

// learn gives the editor constants of the source: texts, and those that may be numbers.
func learn(e *typed.Editor, constants []string) {
	e.Texts, e.Words = slices.Clip(e.Texts), slices.Clip(e.Words)
	for _, c := range constants {
		e.Texts = append(e.Texts, c)
		switch len(c) {
		case 2:
			e.Words = append(e.Words, uint64(binary.LittleEndian.Uint16([]byte(c))))
		case 4:
			e.Words = append(e.Words, uint64(binary.LittleEndian.Uint32([]byte(c))))
		case 8:
			e.Words = append(e.Words, binary.LittleEndian.Uint64([]byte(c)))
		}
	}
}

const (
	calibrateRuns = 2    // a new testcase must reach the same again
	generateShare = 0.02 // of the rounds
)

// portfolio returns the pools of a worker.
func (g *target) portfolio() policy.Portfolio {
	if g.pools != nil {
		return g.pools
	}
	return policy.Portfolio{
		{Name: "simplest", Weight: 3},
		{Name: "maximal", New: policy.NewMaximal},
	}
}

// serve answers requests until there are no more.
func (g *target) serve(t *testing.T, s *link.Settings, requests io.Reader, answers io.Writer, page *link.Page) error {
	e := g.editor()
	in, out := json.NewDecoder(requests), json.NewEncoder(answers)
	hello := link.Hello{Version: link.Version, Type: g.plan.Type().String()}
	for _, v := range g.seeds {
		data, err := codec{g}.Encode(v)
		if err != nil {
			return err
		}
		hello.Seeds = append(hello.Seeds, data)
	}
	if err := out.Encode(hello); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	x, err := (&process{g: g, test: s.Test, parent: t, page: page, e: e}).Open(context.Background(), teasel.Role{})
	if err != nil {
		return err
	}
	for {
		var r link.Request
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			page.Finish()
			return x.Close()
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		a, err := g.answer(e, x, r)
		if err != nil {
			a.Err = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
}

func (g *target) answer(e *typed.Editor, x teasel.Executor[*typed.Value], r link.Request) (a link.Answer, err error) {
	if r.Op == link.Check {
		text, err := link.Input(r.Data)
		if err == nil {
			err = g.fits(string(text))
		}
		if err != nil {
			return link.Answer{Failure: err.Error()}, nil
		}
		return link.Answer{OK: true}, nil
	}
	var v *typed.Value
	if r.Op == link.Unpack {
		v, err = g.plan.Unpack(r.Data)
	} else {
		v, err = codec{g}.Decode(r.Data)
	}
	if err != nil {
		return a, err
	}
	a.OK = true
	switch r.Op {
	case link.Unpack, link.Measure:
	case link.Simplify:
		if v, a.OK = e.Simplify(r.K, nil, v); !a.OK {
			return a, nil
		}
	case link.Run:
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := x.Exec(context.Background(), v, &o); err != nil {
			return a, err
		}
		a.OK = o.Exit == teasel.ExitOK
		if f, ok := o.Evidence.(*judge.Failure); ok {
			a.Failure = f.Text
		}
	default:
		return a, fmt.Errorf("there is no request %q", r.Op)
	}
	a.Complexity = e.Complexity(v)
	a.Data, err = codec{g}.Encode(v)
	return a, err
}
