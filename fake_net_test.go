package teasel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

// A network protocol in small: a real server at the other end of TCP, see fake_net_server_test.go. A testcase is picked for a
// state; the dialogue that leads there is sent as it is, and only what comes after it is changed. Where each state is
// reached is the kind's own note on the testcase.

type dialogue []string

// netTarget has a server for each executor.
type netTarget struct{}

type netExecutor struct {
	server  *netServer
	history []dialogue // that the server has had, oldest first
}

var (
	_ teasel.Resetter            = (*netExecutor)(nil)
	_ teasel.Historian[dialogue] = (*netExecutor)(nil)
)

// netTimeout is how long an answer may take: the server's take a millisecond, and a machine may be busy.
const netTimeout = 300 * time.Millisecond

// reached is where in a dialogue each state was entered.
type reached map[teasel.Feature]int

func (netTarget) Open(context.Context, teasel.Role) (teasel.Executor[dialogue], error) {
	return &netExecutor{}, nil
}

func (e *netExecutor) Close() error {
	if e.server != nil {
		e.server.close()
	}
	e.server, e.history = nil, nil
	return nil
}

// Reset makes the next run start the server again.
func (e *netExecutor) Reset(context.Context) error { return e.Close() }

func (e *netExecutor) History(*teasel.Observation) []dialogue {
	return e.history
}

func (e *netExecutor) Exec(_ context.Context, d dialogue, o *teasel.Observation) (err error) {
	if e.server == nil || e.server.lastWords() != "" {
		if err := e.Close(); err != nil {
			return err
		}
		if e.server, err = startNetServer(); err != nil {
			return err
		}
	}
	e.history = append(e.history, slices.Clone(d))
	last, at, note := "", 0, reached{}
	o.Exit, err = e.talk(d, func(code string) {
		o.Features = append(o.Features, textFeature(last+" "+code))
		if code == "100" { // unasked: it belongs to no request
			return
		}
		at++
		if code[0] == '2' {
			f := teasel.State(uint64(textFeature(code)))
			o.Features = append(o.Features, f)
			if _, ok := note[f]; !ok {
				note[f] = at
			}
		}
		last = code
	})
	switch o.Exit {
	case teasel.ExitHang:
		o.Detail, o.Expensive = "no answer", true
	case teasel.ExitCrash:
		o.Detail, o.Expensive = e.server.lastWords(), true
	}
	if o.Ask.Features {
		o.Note = note
	}
	return err
}

// talk sends a dialogue and passes on the code of each answer.
func (e *netExecutor) talk(d dialogue, answered func(code string)) (teasel.Exit, error) {
	c, err := net.Dial("tcp", e.server.listener.Addr().String())
	if err != nil {
		return teasel.ExitInvalid, err
	}
	defer c.Close()
	lines := bufio.NewReader(c)
	for _, word := range d {
		if err := c.SetDeadline(time.Now().Add(netTimeout)); err != nil {
			return teasel.ExitInvalid, err
		}
		if _, err := fmt.Fprintln(c, word); err != nil {
			return teasel.ExitCrash, nil
		}
		for code := "100"; code == "100"; {
			line, err := lines.ReadString('\n')
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return teasel.ExitHang, nil
			}
			if err != nil {
				return teasel.ExitCrash, nil
			}
			code, _, _ = strings.Cut(line, " ")
			answered(code)
		}
	}
	return teasel.ExitOK, nil
}

func textFeature(s string) teasel.Feature {
	h := fnv.New64a()
	h.Write([]byte(s))
	return teasel.Feature(h.Sum64()>>1 | 1)
}

type dialogueMutator struct{}

func (dialogueMutator) Generate(r *teasel.Rand) dialogue { return dialogue{words[r.IntN(len(words))]} }
func (dialogueMutator) Complexity(d dialogue) float64    { return float64(len(d)) }

func (m dialogueMutator) Mutate(r *teasel.Rand, dst, src dialogue) dialogue {
	return m.tail(r, append(dst[:0], src...), 0)
}

func (dialogueMutator) tail(r *teasel.Rand, d dialogue, from int) dialogue {
	w := words[r.IntN(len(words))]
	if from >= len(d) || r.IntN(2) == 0 {
		return append(d, w)
	}
	d[from+r.IntN(len(d)-from)] = w
	return d
}

// Simplify removes messages: halves first, then quarters, down to single ones, at any place where they are few.
func (dialogueMutator) Simplify(k uint64, dst, src dialogue) (dialogue, bool) {
	for size := (len(src) + 1) / 2; size > 0; size-- {
		stride := 1
		if size > 4 {
			stride = size
		}
		places := uint64((len(src)-1)/stride + 1)
		if k < places {
			from := int(k) * stride
			return append(append(dst[:0], src[:from]...), src[min(from+size, len(src)):]...), true
		}
		if k -= places; size > 4 {
			size = max(size/2, 4) + 1
		}
	}
	return dst, false
}

// tail changes only what comes after the state that the testcase was picked for.
type tail struct{ t *testing.T }

func (tail) Name() string { return "tail" }

func (s tail) Run(ctx context.Context, w *teasel.Worker[dialogue], tc *teasel.Testcase[dialogue]) error {
	note, ok := tc.Note.(reached)
	if !ok {
		s.t.Errorf("testcase %s has no note", tc.Key)
	}
	if tc.Focus != 0 && !tc.Focus.IsState() {
		s.t.Errorf("focus %x is no state", tc.Focus)
	}
	for range w.Energy(0, 16) {
		d := w.Slot()
		*d = dialogueMutator{}.tail(w.Rand(), append((*d)[:0], tc.Input...), note[tc.Focus])
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Join puts dialogues one after another, on one connection.
func (dialogueMutator) Join(ds []dialogue) dialogue { return slices.Concat(ds...) }

// Parts returns how many messages there are.
func (dialogueMutator) Parts(d dialogue) int                  { return len(d) }
func (dialogueMutator) Keep(d dialogue, parts []int) dialogue { return keep(d, parts) }

func TestNetFake(t *testing.T) {
	for _, workers := range []int{1, 2} {
		if workers == 2 && testing.Short() {
			continue
		}
		c := &teasel.Campaign[dialogue]{Target: netTarget{}, Mutator: dialogueMutator{}, Codec: jsonCodec[dialogue]{},
			NewScheduler: policy.NewStateScheduler, Notes: positions{}, Calibrate: 3, Workers: workers,
			NewPool: func() teasel.Pool { return policy.Compose(teasel.NewPool(), policy.NewDiverse(8)) },
			Stages:  []teasel.Stage[dialogue]{tail{t}}, Runs: 100_000, StopAfter: 3, MinimizeRuns: 8192, Seed: 5}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Findings {
			var d dialogue
			if err := json.Unmarshal(f.Input, &d); err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprintf("%s: %s, confirmed: %t", f.Message, strings.Join(d, " "), f.Confirmed()))
		}
		slices.Sort(got)
		want := []string{
			"no answer: user pass type cwd noop, confirmed: true",
			"quit after retr: user pass type cwd pasv stor retr quit, confirmed: true",
			"too many files: user pass stor stor stor list, confirmed: true",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers, %d executions:\n%s\nwant\n%s", workers, s.Executions, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if s.Stopped != "findings" {
			t.Errorf("%d workers: stopped by %q", workers, s.Stopped)
		}
	}
}

// positions stores the notes of dialogues.
type positions struct{}

func (positions) EncodeNote(note any) ([]byte, error) { return json.Marshal(note) }

func (positions) DecodeNote(data []byte) (any, error) {
	var at reached
	err := json.Unmarshal(data, &at)
	return at, err
}
