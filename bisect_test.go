package teasel_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// batchProcessTarget is a target of batches of letters, whose process dies when kills says so of all that it has run since its start. Those
// of the batch that have no answer by then are lost: the one that it died of, as many as late before it, and all after it.
type batchProcessTarget struct {
	size, late int // size 0: one input at a time, by Exec alone
	kills      func(ran []byte) bool
	calls      *[]string             // what it was asked for, in order
	rests      func(ran []byte) bool // says whether it dies when nothing follows; nil: it does not
}

type batchProcess struct {
	t    batchProcessTarget
	ran  []byte
	past [][]byte
}

// lived is the evidence of an input: what its process had run up to it.
type lived [][]byte

var (
	_ teasel.BatchExecutor[[]byte] = (*batchProcess)(nil)
	_ teasel.Resetter              = (*batchProcess)(nil)
	_ teasel.Historian[[]byte]     = (*batchProcess)(nil)
)

func (t batchProcessTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	e := &batchProcess{t: t}
	if t.size == 0 {
		return struct {
			teasel.Executor[[]byte]
			teasel.Resetter
			teasel.Historian[[]byte]
		}{e, e, e}, nil
	}
	return e, nil
}
func (e *batchProcess) Close() error   { return nil }
func (e *batchProcess) BatchSize() int { return e.t.size }
func (e *batchProcess) Reset(context.Context) error {
	*e.t.calls = append(*e.t.calls, "start")
	e.ran, e.past = nil, nil
	return nil
}
func (e *batchProcess) History(o *teasel.Observation) [][]byte {
	h, _ := o.Evidence.(lived)
	return slices.Clone(h)
}

func (e *batchProcess) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	*e.t.calls = append(*e.t.calls, "run "+string(in))
	o.Evidence, o.Features = lived(append(slices.Clip(e.past), bytes.Clone(in))), append(o.Features, 1)
	if o.Exit, o.Runs = teasel.ExitOK, uint32(len(in)); e.run(in) || e.t.rests != nil && e.t.rests(e.ran) {
		o.Exit, o.Detail = teasel.ExitCrash, "died of "+string(e.ran[len(e.ran)-1:])
		e.ran, e.past = nil, nil
	}
	return nil
}

func (e *batchProcess) run(in []byte) (dead bool) {
	e.past = append(e.past, bytes.Clone(in))
	for i := 0; i < len(in) && !dead; i++ {
		e.ran = append(e.ran, in[i])
		dead = e.t.kills(e.ran)
	}
	return dead
}

func (e *batchProcess) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	*e.t.calls = append(*e.t.calls, fmt.Sprintf("batch of %d, %s first", len(ins), ins[0]))
	for i := range ins {
		obs[i].Exit, obs[i].Features = teasel.ExitOK, append(obs[i].Features, 1)
		obs[i].Evidence = lived(append(slices.Clip(e.past), bytes.Clone(ins[i])))
		if !e.run(ins[i]) {
			continue
		}
		for k := max(0, i-e.t.late); k < len(ins); k++ {
			obs[k].Exit = teasel.ExitLost
			if k > i {
				e.past = append(e.past, bytes.Clone(ins[k]))
				obs[k].Evidence = lived(e.past)
			}
		}
		e.ran, e.past = nil, nil
		break
	}
	return len(ins), nil
}

// blockMutator is a lettersMutator that leaves out halves first.
type blockMutator struct{ lettersMutator }

func (blockMutator) Simplify(k uint64, _, src []byte) ([]byte, bool) {
	for size := len(src) / 2; size > 0; size /= 2 {
		if runs := uint64((len(src) + size - 1) / size); k >= runs {
			k -= runs
			continue
		}
		at := int(k) * size
		return slices.Delete(slices.Clone(src), at, min(at+size, len(src))), true
	}
	return nil, false
}

// runProcess runs batches of single letters on a process that dies as kills says.
func runProcess(t *testing.T, text string, size, late int, kills func([]byte) bool) (s teasel.Summary, calls []string) {
	t.Helper()
	c := bytesCampaign(batchProcessTarget{size: size, late: late, kills: kills, calls: &calls})
	c.Mutator, c.Seeds, c.Runs = blockMutator{}, [][]byte{{'-'}}, uint64(len(text)+1)
	c.Stages = []teasel.Stage[[]byte]{letters(text)}
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, calls
}

// bisected returns the inputs of the findings, and how often each was reproduced.
func bisected(s teasel.Summary) string {
	var found []string
	for _, f := range s.Findings {
		found = append(found, fmt.Sprintf("%s %d/%d", f.Input, f.Stable, f.Tries))
	}
	for _, f := range s.Unconfirmed {
		found = append(found, fmt.Sprintf("unconfirmed %s", f.Input))
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func starts(calls []string) (n int) {
	for _, c := range calls {
		if c == "start" {
			n++
		}
	}
	return n
}

// What several inputs have done together, long before the process died, is found and reduced to them in few executions, however many
// inputs have no answer when it dies.
func TestStateOverManyInputs(t *testing.T) {
	inOrder := func(ran []byte) bool { // all five letters, whatever comes between them
		at := 0
		for _, b := range ran {
			if at < 5 && b == "abcde"[at] {
				at++
			}
		}
		return at == 5
	}
	for _, gap := range []int{1, 3, 40, 200} {
		for _, tt := range []struct{ size, late int }{{64, 0}, {64, 5}, {64, 1000}, {1, 0}, {0, 0}} {
			text := ""
			for _, b := range "abcde" {
				text += string(b) + strings.Repeat(".", gap)
			}
			s, calls := runProcess(t, text, tt.size, tt.late, inOrder)
			if got, n := bisected(s), starts(calls); got != "abcde 3/3" || n > 90 {
				t.Errorf("%d inputs between them, batches of %d, %d late: found %s, with %d starts", gap, tt.size, tt.late, got, n)
			}
		}
	}
}

// A long input is reduced to the parts that matter, which are few and far between, with what followed the last of them left out, before
// the budget of minimising is touched.
func TestLongInputIsShortened(t *testing.T) {
	noise := strings.Repeat(".", 60)
	for _, text := range []string{"a.b" + noise, noise + "ab" + noise, "a" + noise + "b", noise + "a" + noise + "b" + noise} {
		var calls []string
		c := bytesCampaign(batchProcessTarget{calls: &calls, kills: func(ran []byte) bool {
			a := bytes.IndexByte(ran, 'a')
			return a >= 0 && bytes.IndexByte(ran[a:], 'b') > 0
		}})
		c.Mutator, c.Seeds, c.Runs, c.MinimizeRuns = blockMutator{}, [][]byte{[]byte(text)}, 2, 1
		c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, n := bisected(s), starts(calls); got != "ab 3/3" || n > 40 {
			t.Errorf("%s: found %s, with %d starts", text, got, n)
		}
	}
}

// anyOf returns what kills a process: any of some letters.
func anyOf(letters string) func([]byte) bool {
	return func(ran []byte) bool { return strings.IndexByte(letters, ran[len(ran)-1]) >= 0 }
}

// If the first input without an answer is to blame, a fresh target and one more batch will do.
func TestFirstInFlight(t *testing.T) {
	text := "!" + strings.Repeat("abcdefg", 9)
	s, calls := runProcess(t, text, 64, 0, anyOf("!"))
	i := slices.Index(calls, "batch of 64, ! first")
	if want := []string{"start", "run !", "batch of 63, a first"}; bisected(s) != "! 3/3" || i < 0 || !slices.Equal(calls[i+1:i+4], want) {
		t.Fatalf("found %s; calls %q, want %q after the first batch", bisected(s), calls, want)
	}
	if n := starts(calls); n > 3 { // one to bisect, one to confirm, one to verify
		t.Errorf("%d starts: %q", n, calls)
	}
	for _, c := range calls {
		if strings.HasPrefix(c, "run ") && c != "run !" {
			t.Errorf("an input that was only in flight was tried: %s", c)
		}
	}
}

// Of several inputs of a batch that kill the process each is found, and nothing is reported for the others.
func TestSeveralDeathsInABatch(t *testing.T) {
	for _, late := range []int{0, 3, 1000} {
		text := "!" + strings.Repeat(".", 39) + "?" + strings.Repeat(".", 13) + "#" + strings.Repeat(".", 9)
		s, calls := runProcess(t, text, 64, late, anyOf("!?#"))
		if got := bisected(s); got != "! 3/3, # 3/3, ? 3/3" || len(calls) > 70 {
			t.Errorf("%d late: found %s in %d calls", late, got, len(calls))
		}
	}
}

// What kills a process some inputs later, or when none follow, is found, and not what is in flight by then.
func TestDeathSomeInputsLater(t *testing.T) {
	for _, late := range []int{0, 3} {
		var calls []string
		after := func(n int) func([]byte) bool {
			return func(ran []byte) bool { i := bytes.IndexByte(ran, '!'); return i >= 0 && len(ran)-1-i >= n }
		}
		c := bytesCampaign(batchProcessTarget{size: 64, late: late, kills: after(10), rests: after(0), calls: &calls})
		c.Mutator, c.Seeds, c.Runs = blockMutator{}, [][]byte{{'-'}}, 128
		c.Stages = []teasel.Stage[[]byte]{letters(strings.Repeat("abcdefg", 8) + "!" + strings.Repeat("hijklmn", 10))}
		c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := bisected(s); got != "! 3/3" {
			t.Errorf("%d late: found %s", late, got)
		}
	}
}

// When a death does not come again, what is reported is all that was in flight, and not the last of it.
func TestDeathThatDoesNotComeAgain(t *testing.T) {
	died := false
	s, _ := runProcess(t, "abcdefgh", 8, 0, func(ran []byte) bool {
		was := died
		died = died || ran[len(ran)-1] == 'c'
		return died != was
	})
	if got := bisected(s); got != "unconfirmed cdefgh" {
		t.Errorf("found %s", got)
	}
}

// Where a target dies all the time of what is known already, finding that out takes a tenth of the work; what else kills it is found.
func TestKnownDeathsTakeATenth(t *testing.T) {
	for _, late := range []int{0, 1000} {
		var calls []string
		c := bytesCampaign(batchProcessTarget{size: 64, late: late, kills: anyOf("!?"), calls: &calls})
		round := 0
		c.Mutator, c.Seeds, c.Runs = blockMutator{}, [][]byte{{'-'}}, 64*1000
		c.Stages = []teasel.Stage[[]byte]{lettersFunc(func() string {
			round++
			text := []byte(strings.Repeat(".", 64))
			if text[20] = '!'; round > 400 && round%3 == 0 {
				text[10] = '?'
			}
			return string(text)
		})}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var bisect uint64
		for _, st := range s.Stages {
			if st.Name == "bisect" {
				bisect = st.Executions
			}
		}
		if got := bisected(s); !strings.HasPrefix(got, "! 3/3, ? 3/3") || bisect > s.Executions/9 {
			t.Errorf("%d late: found %s, and %d of %d executions were to bisect", late, got, bisect, s.Executions)
		}
	}
}

// lettersFunc is a stage that makes inputs of single letters.
type lettersFunc func() string

func (lettersFunc) Name() string { return "letters" }

func (l lettersFunc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	return letters(l()).Run(ctx, w, tc)
}
