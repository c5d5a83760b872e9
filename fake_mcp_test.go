package teasel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A server of requests and replies in small: a window of requests in flight, a process that dies without saying of
// which, state that outlives a request, and answers that take their time.

type call struct {
	Tool string
	N    int
}

type script []call

type fakeServer struct {
	armed  bool
	opened map[int]bool
	uses   int
	dead   bool
	queue  []call
}

func (s *fakeServer) send(c call) {
	switch {
	case s.dead:
	case c.Tool == "divide" && c.N == 42,
		c.Tool == "fire" && s.armed,
		c.Tool == "use" && s.opened[c.N] && s.uses > 0:
		s.dead = true
	case c.Tool == "arm":
		s.armed = true
	case c.Tool == "disarm":
		s.armed = false
	case c.Tool == "open":
		s.opened[c.N%4] = true
	case c.Tool == "close":
		delete(s.opened, c.N%4)
		s.uses++
	}
	s.queue = append(s.queue, c)
}

type reply struct {
	call
	text string
}

func (s *fakeServer) recv() (reply, bool) {
	c := s.queue[0]
	if s.dead && len(s.queue) <= 2 { // the last replies die with the process
		return reply{}, false
	}
	s.queue = s.queue[1:]
	text := "ok"
	if c.Tool == "echo" && c.N < 0 {
		text = "Traceback (most recent call last)"
	} else if c.N%7 == 0 {
		text = fmt.Sprintf("%s multiple", c.Tool)
	}
	return reply{c, text}, true
}

type windowTarget struct {
	starts *atomic.Int64 // several workers share it
	late   bool
	again  *int // what asks for "expensive" comes late, and is counted here if it is run again; nil: it does not come late
}

func (t windowTarget) Open(context.Context, teasel.Role) (teasel.Executor[script], error) {
	e := &windowExecutor{t: t}
	e.run = e.ExecBatch
	e.start()
	return e, nil
}

type windowExecutor struct {
	pipeline[script]
	t         windowTarget
	s         *fakeServer
	past      []script // since the start
	slow      []script // sent, and not yet answered
	expensive []script
}

// heard is the evidence of an input.
type heard struct {
	replies []reply
	past    []script
}

var (
	_ teasel.BatchExecutor[script] = (*windowExecutor)(nil)
	_ teasel.Pipeliner[script]     = (*windowExecutor)(nil)
	_ teasel.Resetter              = (*windowExecutor)(nil)
	_ teasel.Historian[script]     = (*windowExecutor)(nil)
)

func (e *windowExecutor) start() {
	e.s = &fakeServer{opened: map[int]bool{}}
	e.past = nil
	e.t.starts.Add(1)
}

func (e *windowExecutor) Close() error                { return nil }
func (e *windowExecutor) Reset(context.Context) error { e.start(); return nil }
func (e *windowExecutor) BatchSize() int              { return 16 }

func (e *windowExecutor) History(o *teasel.Observation) []script {
	h, _ := o.Evidence.(heard)
	return slices.Clone(h.past)
}

func (e *windowExecutor) Late(_ context.Context, o *teasel.Observation) (script, bool) {
	if len(e.expensive) > 0 {
		in := e.expensive[0]
		e.expensive = e.expensive[1:]
		o.Exit, o.Expensive, o.Features = teasel.ExitOK, true, append(o.Features, teasel.Feature(1000+len(in)))
		return in, true
	}
	if len(e.slow) < 3 {
		return nil, false
	}
	in := e.slow[0]
	e.slow = e.slow[1:]
	o.Exit, o.Detail = teasel.ExitHang, "slow never answered"
	return in, true
}

func (e *windowExecutor) Exec(ctx context.Context, in script, o *teasel.Observation) error {
	obs := []teasel.Observation{*o}
	_, err := e.ExecBatch(ctx, []script{in}, obs)
	*o = obs[0]
	return err
}

func (e *windowExecutor) ExecBatch(_ context.Context, ins []script, obs []teasel.Observation) (int, error) {
	ran := len(e.past)
	for _, in := range ins {
		e.past = append(e.past, slices.Clone(in))
		for _, c := range in {
			e.s.send(c)
		}
	}
	past := e.past
	for i, in := range ins {
		o := &obs[i]
		o.Exit, o.Runs = teasel.ExitOK, uint32(len(in))
		var replies []reply
		for _, c := range in {
			r, ok := e.s.recv()
			if !ok {
				for j := range obs[i:] {
					obs[i+j].Exit, obs[i+j].Detail, obs[i+j].Evidence = teasel.ExitLost, "server died", heard{past: past[:ran+i+j+1]}
				}
				if len(ins) == 1 {
					o.Exit = teasel.ExitCrash
				}
				e.start()
				return len(ins), nil
			}
			if e.t.late && c.Tool == "slow" {
				if len(ins) == 1 {
					o.Exit, o.Detail = teasel.ExitHang, "slow never answered"
				} else {
					e.slow = append(e.slow, slices.Clone(in))
				}
				continue
			}
			replies = append(replies, r)
			f := teasel.Feature(1469598103934665603)
			for _, b := range c.Tool + "\x00" + r.text {
				f = (f ^ teasel.Feature(b)) * 1099511628211
			}
			o.Features = append(o.Features, f>>1)
		}
		o.Evidence = heard{replies, past[:ran+i+1]}
		if e.t.again != nil && slices.ContainsFunc(in, func(c call) bool { return c.Tool == "expensive" }) {
			if o.Features = nil; o.Ask.Features {
				*e.t.again++
			}
			e.expensive = append(e.expensive, slices.Clone(in))
		}
	}
	return len(ins), nil
}

// traces finds replies with a stack trace in them.
func traces(o *teasel.Observation) (fs []teasel.Finding) {
	h, _ := o.Evidence.(heard)
	for _, r := range h.replies {
		if strings.Contains(r.text, "Traceback") {
			fs = append(fs, teasel.Finding{Rule: "trace", Severity: teasel.Medium, Subject: r.Tool, Message: r.text})
		}
	}
	return fs
}

type scriptMutator struct{ tools []string }

func (m scriptMutator) call(r *teasel.Rand) call {
	return call{m.tools[r.IntN(len(m.tools))], r.IntN(140) - 20}
}

func (m scriptMutator) Generate(r *teasel.Rand) script { return script{m.call(r)} }

func (m scriptMutator) Mutate(r *teasel.Rand, dst, src script) script {
	s := append(dst[:0], src...)
	switch i := r.IntN(max(1, len(s))); {
	case len(s) == 0 || r.IntN(4) == 0 && len(s) < 4:
		s = append(s, m.call(r))
	case r.IntN(4) == 0:
		s = append(s[:i], s[i+1:]...)
	default:
		s[i].N += r.IntN(101) - 50
	}
	return s
}

// Simplify removes halves, quarters and so on down to single calls, then makes numbers zero.
func (m scriptMutator) Simplify(k uint64, dst, src script) (script, bool) {
	at, n := int(k), len(src)
	for size := max(n/2, 1); size > 0 && n > 0; size /= 2 {
		if blocks := (n + size - 1) / size; at >= blocks {
			at -= blocks
			continue
		}
		return append(append(dst[:0], src[:at*size]...), src[min(n, (at+1)*size):]...), true
	}
	if at >= n {
		return dst, false
	}
	s := append(dst[:0], src...)
	s[at].N = 0
	return s, true
}

func (m scriptMutator) Parts(s script) int                { return len(s) }
func (m scriptMutator) Keep(s script, parts []int) script { return keep(s, parts) }

func (m scriptMutator) Join(ins []script) (s script) {
	for _, in := range ins {
		s = append(s, in...)
	}
	return s
}

func (m scriptMutator) Complexity(s script) (c float64) {
	for _, x := range s {
		if c += 10; x.N != 0 {
			c++
		}
	}
	return c
}

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Encode(v T) ([]byte, error) { return json.Marshal(v) }
func (jsonCodec[T]) Decode(data []byte) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}

// An expensive input whose observation comes late is kept for what it has shown, without being run again.
func TestLateObservationsAreKept(t *testing.T) {
	again, kept := 0, 0
	runWindow(t, []string{"list", "expensive"}, false, func(c *teasel.Campaign[script]) {
		c.Target, c.Runs = windowTarget{new(atomic.Int64), false, &again}, 2000
		c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventAdded && bytes.Contains(e.Entry.Data, []byte("expensive")) {
				if kept++; e.Entry.Features.Len() != 1 || e.Entry.Features.Append(nil)[0] > 1010 {
					t.Errorf("%s was kept for %v", e.Entry.Data, e.Entry.Features)
				}
			}
			return nil
		})}
	})
	if kept == 0 || again > 0 {
		t.Errorf("%d that came late were kept, and there were %d executions again", kept, again)
	}
}

func runWindow(t *testing.T, tools []string, late bool, edit func(*teasel.Campaign[script])) teasel.Summary {
	t.Helper()
	var starts atomic.Int64
	c := &teasel.Campaign[script]{Target: windowTarget{&starts, late, nil}, Mutator: scriptMutator{tools}, Codec: jsonCodec[script]{},
		NewDetectors: func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes), teasel.DetectorFunc(traces)}
		},
		Generate: 0.2, Calibrate: 1, Runs: 60_000, Seed: 3}
	if edit != nil {
		edit(c)
	}
	s, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inputs(s teasel.Summary) (out []string) {
	for _, f := range s.Findings {
		out = append(out, f.Rule+" "+string(f.Input))
		if !f.Confirmed() {
			out = append(out, fmt.Sprintf("shown only %d of %d", f.Stable, f.Tries))
		}
	}
	return out
}

func TestWindowFake(t *testing.T) {
	for _, test := range []struct {
		name  string
		tools []string
		late  bool
		want  string // what matches the only finding; "": there is none
	}{
		{"one call kills", []string{"divide", "list"}, false, `^crash \[divide 42\]$`},
		{"a pair kills", []string{"arm", "disarm", "fire", "list"}, false, `^crash \[arm 0 fire 0\]$`},
		{"history kills", []string{"open", "close", "use"}, false, // close anywhere before, perhaps long ago, or of another one
			`^crash \[((close 0 open 0|open 0 close [0-9]*[1-9][0-9]*) use 0|open [0-9]+ close 0 use [123])\]$`},
		{"reply shows it", []string{"echo"}, false, `^trace \[echo -`},
		{"late", []string{"slow", "list"}, true, `^hang \[slow 0\]$`},
		{"clean", []string{"list", "disarm"}, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			short := strings.NewReplacer(`{"Tool":"`, "", `","N":`, " ", "}", "", ",", " ")
			got := short.Replace(strings.Join(inputs(runWindow(t, test.tools, test.late, nil)), "; "))
			if ok, err := regexp.MatchString(test.want, got); err != nil || !ok || test.want == "" && got != "" {
				t.Errorf("got %s, want %s: %v", got, test.want, err)
			}
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (events []string, sum string) {
		s := runWindow(t, []string{"arm", "fire", "divide", "echo", "open", "close", "use"}, false, func(c *teasel.Campaign[script]) {
			c.Seed, c.Runs = seed, 30_000
			c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
				if e.Kind != teasel.EventProgress {
					events = append(events, fmt.Sprint(e.Kind, e.Entry.Key, e.Entry.Features, e.Entry.Execution, e.Finding.ID(), string(e.Finding.Input), e.Finding.Execution))
				}
				return nil
			})}
		})
		return events, fmt.Sprint(s.Executions, s.Corpus, s.Features, inputs(s))
	}
	a, as := run(7)
	b, bs := run(7)
	if !slices.Equal(a, b) || as != bs {
		t.Errorf("the same seed gave two runs:\n%s\n%s", as, bs)
	}
	if c, _ := run(8); slices.Equal(a, c) {
		t.Error("another seed gave the same run")
	}
	if len(a) < 5 {
		t.Errorf("only %d events: nothing was compared", len(a))
	}
}
