package teasel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
)

// The processes of a Go function. A worker runs it in its own process and dies of what kills it. Its parent does not know the
// type of the values: it finds the one that was running in a file that it shares with the worker, makes an errand of it, and
// starts the worker again where it was. The errand is confirmed and minimised on the background executor of a worker, each
// run of which may end a process that is there for nothing else.

const (
	workerEnv = "TEASEL_TEST_WORKER" // its number and the inputs that it had made
	victimEnv = "TEASEL_TEST_VICTIM"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(victimEnv) != "":
		err = victim()
	case os.Getenv(workerEnv) != "":
		err = goWorker(os.Getenv(workerEnv))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// goWorker is a worker process.
func goWorker(role string) error {
	var state teasel.WorkerState
	if _, err := fmt.Sscan(role, &state.Number, &state.Draws); err != nil {
		return err
	}
	rw, err := pipe.Inherit(3, 4)
	if err != nil {
		return err
	}
	x, err := pipe.Dial(context.Background(), rw, pipe.Config{})
	if err != nil {
		return err
	}
	c := orders(&processes{record: record{file: os.NewFile(5, "record")}})
	c.Background, c.Errands = true, true
	c.Resume = &teasel.Snapshot{Workers: make([]teasel.WorkerState, state.Number+1)}
	c.Resume.Workers[state.Number] = state
	return errors.Join(c.Work(context.Background(), x, state.Number), x.Close())
}

// record is where a worker notes what it is about to run: how many values it has run, then the value.
type record struct {
	file *os.File
	runs uint64
}

func (r *record) write(in order) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r.runs++
	_, err = r.file.WriteAt(append(binary.BigEndian.AppendUint64(nil, r.runs), append(data, '\n')...), 0)
	return err
}

// read returns what was running when the worker ended.
func (r *record) read() (runs uint64, in []byte, err error) {
	page := make([]byte, 4096)
	n, _ := r.file.ReadAt(page, 0)
	end := bytes.IndexByte(page[min(8, n):n], '\n')
	if end < 0 {
		return 0, nil, errors.New("the worker has recorded nothing")
	}
	return binary.BigEndian.Uint64(page), page[8 : 8+end], nil
}

// processes is the target of a worker process.
type processes struct{ record record }

func (p *processes) Open(_ context.Context, role teasel.Role) (teasel.Executor[order], error) {
	if role.Background {
		return &processExecutor{}, nil
	}
	return &goExecutor{p.record.write, map[teasel.Feature]float64{}}, nil
}

// victim runs the values that it is given until one of them ends it.
func victim() error {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var o order
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return err
		}
		total(o, func(int) {})
		fmt.Println("ok")
	}
	return nil
}

// processExecutor runs each value in a process that may die of it.
type processExecutor struct {
	cmd    *exec.Cmd // nil: there is none
	in     *json.Encoder
	end    func() error
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func (v *processExecutor) Exec(ctx context.Context, in order, o *teasel.Observation) error {
	if v.cmd == nil {
		if err := v.start(ctx); err != nil {
			return err
		}
	}
	if err := v.in.Encode(in); err == nil && v.out.Scan() {
		o.Exit = teasel.ExitOK
		return nil
	}
	var exit *exec.ExitError
	if err := v.Close(); ctx.Err() != nil {
		return ctx.Err()
	} else if !errors.As(err, &exit) {
		return fmt.Errorf("a victim ended: %w", err)
	} else if o.Exit, o.Detail = teasel.ExitCrash, exit.Error(); exit.ExitCode() == 2 {
		text, _, _ := strings.Cut(v.stderr.String(), "\n")
		o.Detail = strings.TrimPrefix(text, "panic: ")
	}
	return nil
}

func (v *processExecutor) start(ctx context.Context) error {
	v.stderr.Reset()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), victimEnv+"=1"), &v.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	v.cmd, v.in, v.end, v.out = cmd, json.NewEncoder(in), in.Close, bufio.NewScanner(out)
	return nil
}

// Close ends the process. The error is how it has ended.
func (v *processExecutor) Close() error {
	if v.cmd == nil {
		return nil
	}
	_ = v.end()
	err := v.cmd.Wait()
	v.cmd = nil
	return err
}

// witness is the exchange of a worker as its parent sees it.
type witness struct {
	teasel.Exchange
	state   teasel.WorkerState // as it was reported last
	entries map[string]bool    // that the hub has got from any worker
}

func (w *witness) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	if !n.Died {
		w.state = n.Worker
	}
	for _, e := range n.Entries {
		w.entries[e.Key] = true
	}
	return w.Exchange.Sync(ctx, n)
}

// startWorker runs one worker process to its end and returns how that was.
func startWorker(ctx context.Context, x *witness, r *record) error {
	down, toWorker, err := os.Pipe()
	if err != nil {
		return err
	}
	fromWorker, up, err := os.Pipe()
	if err != nil {
		return errors.Join(err, down.Close(), toWorker.Close())
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"="+fmt.Sprint(x.state.Number, x.state.Draws))
	cmd.ExtraFiles, cmd.Stderr = []*os.File{down, up, r.file}, os.Stderr
	err = cmd.Start()
	_, _ = down.Close(), up.Close()
	if err == nil {
		serve := pipe.Serve(ctx, pipe.Files(fromWorker, toWorker), x, pipe.Config{})
		if err = cmd.Wait(); err == nil {
			err = serve
		}
	}
	return err
}

// A worker that dies of what it runs loses nothing: what it died of is confirmed and minimised as an errand, it goes on behind
// that, and what it had found is there.
func TestGoFake(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "record"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, entries := &record{file: file}, map[string]bool{}
	h := &teasel.Hub{StopAfter: 2, Runs: 50_000_000}
	h.Seed([]byte(`{}`))
	var state teasel.WorkerState
	deaths := 0
	for h.Summary().Stopped == "" {
		before := state.Draws
		x := &witness{h.Join(), state, entries}
		err := startWorker(t.Context(), x, r)
		state = x.state
		exit, died := errors.AsType[*exec.ExitError](err)
		if !died || exit.ExitCode() != 3 {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		deaths++
		runs, in, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		state.Draws = max(state.Draws, before+runs) + 1 // behind the input that it died of
		f := teasel.Crashes(&teasel.Observation{Exit: teasel.ExitCrash, Detail: exit.Error()})[0]
		f.Input = slices.Clone(in)
		if err := h.Errand(teasel.Errand{Worker: state.Number, Finding: f}); err != nil {
			t.Fatal(err)
		}
	}
	s := h.Summary()
	found := map[string]string{}
	for _, f := range s.Findings {
		if found[f.Message] = string(f.Input); !f.Confirmed() {
			t.Errorf("%s was reproduced %d times of %d", f.Message, f.Stable, f.Tries)
		}
	}
	if len(found) != 2 || len(s.Unconfirmed) > 0 {
		t.Errorf("%d deaths, %d executions, found %v, unconfirmed %v", deaths, s.Executions, found, s.Unconfirmed)
	}
	// The last name may be left: the worker that made it simpler may have died of something else.
	simple := regexp.MustCompile(`^{"Express":false,"Items":\[{"Name":"n0","Count":13},{"Name":"n1","Count":0},{"Name":"\w*","Count":-9\d}\]}$`)
	if in := found["exit status 3"]; !simple.MatchString(in) {
		t.Errorf("the errand has come to %s", in)
	}
	// A worker that dies while it makes the other one simpler leaves it as it is.
	if in := found["express of seven"]; !strings.Contains(in, `"Express":true`) || !strings.Contains(in, `"Count":7`) {
		t.Errorf("the panic has the input %s", in)
	}
	if deaths == 0 {
		t.Error("no worker has died")
	}
	kept := map[string]bool{}
	for _, e := range h.Snapshot().Entries {
		kept[e.Key] = true
	}
	if evicted := len(entries) - len(kept); evicted > s.Evicted {
		t.Errorf("of %d testcases that workers have found %d are kept and %d evicted", len(entries), len(kept), s.Evicted)
	}
}
