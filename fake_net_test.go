package teasel_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

// A stateful protocol in small: the state is picked first, then a dialogue that reaches it, and only what comes after
// it is changed. Where each state is reached is the kind's own note on the testcase.

type dialogue []string

var (
	words  = []string{"user", "pass", "cwd", "type", "pasv", "list", "retr", "stor", "noop", "quit"}
	secret = []string{"user", "pass", "type", "cwd", "pasv", "stor", "retr", "quit"}
)

type netTarget struct{}

type netExecutor struct{}

// reached is where in a dialogue each state was entered.
type reached map[teasel.Feature]int

func (netTarget) Open(context.Context, teasel.Role) (teasel.Executor[dialogue], error) {
	return netExecutor{}, nil
}
func (netExecutor) Close() error { return nil }

func (netExecutor) Exec(_ context.Context, d dialogue, o *teasel.Observation) error {
	state, note := 0, reached{}
	o.Exit = teasel.ExitOK
	for i, m := range d {
		last := state
		if m == secret[state] {
			state++
		} else {
			state = 0
		}
		f := teasel.State(uint64(state) + 1)
		o.Features = append(o.Features, f, teasel.Feature(last<<8|state+1))
		if _, ok := note[f]; !ok {
			note[f] = i + 1
		}
		if state == len(secret) {
			o.Exit, o.Detail = teasel.ExitCrash, "server died"
			break
		}
	}
	if o.Ask.Features {
		o.Note = note
	}
	return nil
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

// Simplify removes a message.
func (dialogueMutator) Simplify(k uint64, dst, src dialogue) (dialogue, bool) {
	if k >= uint64(len(src)) {
		return dst, false
	}
	return append(append(dst[:0], src[:k]...), src[k+1:]...), true
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

func TestNetFake(t *testing.T) {
	for _, workers := range []int{1, 2} {
		c := &teasel.Campaign[dialogue]{Target: netTarget{}, Mutator: dialogueMutator{}, Codec: jsonCodec[dialogue]{},
			NewScheduler: policy.NewStateScheduler, Notes: positions{}, Calibrate: 1, Workers: workers,
			NewPool: func() teasel.Pool { return policy.Compose(teasel.NewPool(), policy.NewDiverse(8)) },
			Stages:  []teasel.Stage[dialogue]{tail{t}}, Runs: 100_000, StopAfter: 1, Seed: 5}
		s, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 || !s.Findings[0].Confirmed() {
			t.Fatalf("%d workers: findings %v after %d executions", workers, s.Findings, s.Executions)
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
