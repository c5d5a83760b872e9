package teasel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
)

// A Go function in small: a typed value, changed in place and changed back, in a child process, because coverage
// counters are global to one. What kills the process without a word is found by its parent, who reads the input from
// a file that the child shares with it and needs to know nothing of the input's type.

type item struct {
	Name  string
	Count int
}

type order struct {
	Express bool
	Items   []item
}

// total is the function under test. Each if is an edge.
func total(o order, edge func(int)) {
	edge(8)
	if len(o.Items) < 3 {
		return
	}
	edge(1)
	for i, it := range o.Items[:2] {
		if it.Name != fmt.Sprint("n", i) {
			return
		}
		edge(2 + i)
	}
	if o.Items[2].Count == 7 && o.Express { // two changes at once, with nothing between them to climb by
		panic("express of seven")
	}
	if o.Items[2].Count < -90 {
		edge(9)
		if o.Items[0].Count == 13 {
			os.Exit(3)
		}
	}
}

type goTarget struct{ current *os.File }

type goExecutor struct{ current *os.File }

func (t goTarget) Open(context.Context, teasel.Role) (teasel.Executor[order], error) {
	return goExecutor(t), nil
}
func (e goExecutor) Close() error { return nil }

func (e goExecutor) Exec(_ context.Context, in order, o *teasel.Observation) error {
	if e.current != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		if _, err := e.current.WriteAt(append(data, '\n'), 0); err != nil {
			return err
		}
	}
	o.Exit = teasel.ExitOK
	defer func() {
		if p := recover(); p != nil {
			o.Exit, o.Detail = teasel.ExitCrash, fmt.Sprint(p)
		}
	}()
	total(in, func(e int) { o.Features = append(o.Features, teasel.Feature(e)) })
	return nil
}

// orderMutator changes orders in place. Each change leaves behind how to take it back.
type orderMutator struct{ undo []func(*order) }

var _ teasel.Undoer[order] = (*orderMutator)(nil)

func (m *orderMutator) Generate(r *teasel.Rand) order { return order{Items: []item{{"a", r.IntN(5)}}} }

func (m *orderMutator) Mutate(r *teasel.Rand, _, src order) order {
	out := order{src.Express, slices.Clone(src.Items)}
	m.Change(r, &out)
	m.undo = m.undo[:len(m.undo)-1]
	return out
}

func (m *orderMutator) Change(r *teasel.Rand, in *order) {
	n := len(in.Items)
	switch k := r.IntN(5); {
	case k == 0:
		in.Express = !in.Express
		m.undo = append(m.undo, func(o *order) { o.Express = !o.Express })
	case k == 1 && n < 6 || n == 0:
		old := in.Items
		in.Items = append(in.Items[:n:n], item{"a", r.IntN(9)})
		m.undo = append(m.undo, func(o *order) { o.Items = old })
	case k == 2:
		old := in.Items
		in.Items = in.Items[:n-1]
		m.undo = append(m.undo, func(o *order) { o.Items = old })
	case k == 3:
		i := r.IntN(n)
		old := in.Items[i].Name
		in.Items[i].Name = "n" + strconv.Itoa(r.IntN(3))
		m.undo = append(m.undo, func(o *order) { o.Items[i].Name = old })
	default:
		i := r.IntN(n)
		old := in.Items[i].Count
		in.Items[i].Count = r.IntN(201) - 100
		m.undo = append(m.undo, func(o *order) { o.Items[i].Count = old })
	}
}

func (m *orderMutator) Undo(in *order) {
	last := len(m.undo) - 1
	m.undo[last](in)
	m.undo = m.undo[:last]
}

func (m *orderMutator) Complexity(in order) float64 {
	c := 0.0
	for _, it := range in.Items {
		c += 4 + float64(len(it.Name))
		if it.Count != 0 {
			c++
		}
	}
	if in.Express {
		c++
	}
	return c
}

func goCampaign(current *os.File) *teasel.Campaign[order] {
	return &teasel.Campaign[order]{Target: goTarget{current}, NewMutator: func() teasel.Mutator[order] { return &orderMutator{} }, Codec: jsonCodec[order]{},
		Seeds: []order{{}}, Calibrate: 1, Runs: 400_000, Seed: 11}
}

func TestUndoFake(t *testing.T) {
	c := goCampaign(nil)
	c.StopAfter = 1
	c.Target = safeTarget{}
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || s.Findings[0].Message != "express of seven" {
		t.Fatalf("findings %v after %d executions", s.Findings, s.Executions)
	}
	c.Workers, c.Mutator, c.NewMutator = 2, &orderMutator{}, nil
	if _, err := c.Run(context.Background()); err == nil {
		t.Error("two workers share an undo stack")
	}
	c.Workers, c.Runs, c.Background = 1, 0, true
	if _, err := c.Run(context.Background()); err == nil {
		t.Error("a worker and its background executor share an undo stack")
	}
}

// safeTarget keeps away from what ends the process.
type safeTarget struct{}

func (safeTarget) Open(context.Context, teasel.Role) (teasel.Executor[order], error) {
	return safeExecutor{}, nil
}

type safeExecutor struct{ goExecutor }

func (e safeExecutor) Exec(ctx context.Context, in order, o *teasel.Observation) error {
	if len(in.Items) > 0 && in.Items[0].Count == 13 {
		o.Exit = teasel.ExitOK
		return nil
	}
	return e.goExecutor.Exec(ctx, in, o)
}

const childEnv = "TEASEL_TEST_CHILD"

func TestMain(m *testing.M) {
	if number, err := strconv.Atoi(os.Getenv(childEnv)); err == nil {
		if err := childWork(number); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func childWork(number int) error {
	rw, err := pipe.Inherit(3, 4)
	if err != nil {
		return err
	}
	x, err := pipe.Dial(context.Background(), rw, pipe.Config{})
	if err != nil {
		return err
	}
	return errors.Join(goCampaign(os.NewFile(5, "current")).Work(context.Background(), x, number), x.Close())
}

// child runs one worker process to its end and returns how that was.
func child(ctx context.Context, x teasel.Exchange, number int, current *os.File) error {
	down, toChild, err := os.Pipe()
	if err != nil {
		return err
	}
	fromChild, up, err := os.Pipe()
	if err != nil {
		return errors.Join(err, down.Close(), toChild.Close())
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(number))
	cmd.ExtraFiles = []*os.File{down, up, current}
	cmd.Stderr = os.Stderr
	err = cmd.Start()
	_, _ = down.Close(), up.Close()
	if err == nil {
		serve := pipe.Serve(ctx, pipe.Files(fromChild, toChild), x, pipe.Config{})
		if err = cmd.Wait(); err == nil {
			err = serve
		}
	}
	return err
}

func TestGoFake(t *testing.T) {
	current, err := os.Create(filepath.Join(t.TempDir(), "current"))
	if err != nil {
		t.Fatal(err)
	}
	defer current.Close()
	h := &teasel.Hub{StopAfter: 2}
	h.Seed([]byte(`{}`))
	deaths := 0
	for number := range 20 {
		x := h.Join()
		err := child(t.Context(), x, number, current)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 3 {
			deaths++
			page := make([]byte, 4096)
			n, _ := current.ReadAt(page, 0)
			in := page[:slices.Index(page[:n], '\n')]
			// The parent says so itself. It comes to the hub as everything else does.
			_, err = h.Join().Sync(t.Context(), teasel.News{Findings: []teasel.Finding{{Rule: "exit", Severity: teasel.High,
				Subject: "total", Message: "exit status 3", Input: in, Stable: 1, Tries: 1}}, Leaving: true})
		}
		if err != nil && !errors.Is(err, teasel.ErrStop) {
			t.Fatal(err)
		}
		if h.Summary().Stopped != "" {
			break
		}
	}
	s := h.Summary()
	if len(s.Findings) != 2 || deaths == 0 {
		t.Fatalf("%d deaths, findings %v", deaths, s.Findings)
	}
	for _, f := range s.Findings {
		var o order
		if err := json.Unmarshal(f.Input, &o); err != nil || len(o.Items) < 3 {
			t.Errorf("%s has input %s", f.Message, f.Input)
		}
	}
}
