package teasel_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// watchedTarget notes the longest script that was run.
type watchedTarget struct {
	windowTarget
	longest *int
}

func (t watchedTarget) Open(context.Context, teasel.Role) (teasel.Executor[script], error) {
	e := &watchedExecutor{windowExecutor{t: t.windowTarget}, t.longest}
	e.run = e.ExecBatch
	e.start()
	return e, nil
}

type watchedExecutor struct {
	windowExecutor
	longest *int
}

func (e *watchedExecutor) Exec(ctx context.Context, in script, o *teasel.Observation) error {
	*e.longest = max(*e.longest, len(in))
	return e.windowExecutor.Exec(ctx, in, o)
}

// A finding in which history has no part is not tried together with it.
func TestAloneIsNotJoined(t *testing.T) {
	const mutatorsMost = 4
	for _, alone := range []bool{false, true} {
		longest := 0
		var starts atomic.Int64
		runWindow(t, []string{"list", "echo"}, false, func(c *teasel.Campaign[script]) {
			c.Target = watchedTarget{windowTarget{starts: &starts}, &longest}
			c.NewDetectors = func() []teasel.Detector {
				n := 0 // seen now and then, and never reproduced
				return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding {
					if n++; n%500 != 0 {
						return nil
					}
					return []teasel.Finding{{Rule: "rare", Severity: teasel.Low, Alone: alone}}
				})}
			}
			c.Runs = 5_000
		})
		if joined := longest > mutatorsMost; joined == alone {
			t.Errorf("alone %v: the longest script had %d calls", alone, longest)
		}
	}
}

// hangTarget hangs on seven and something behind it, and counts the runs for which there is all the time.
type hangTarget struct {
	hung, long int
	least      int // bytes for it to hang for ever; fewer take longer than a quick try waits
}

func (h *hangTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return h, nil
}
func (h *hangTarget) Close() error { return nil }
func (h *hangTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if len(in) > 1 && in[0] == 7 && (o.Ask.Quick || len(in) >= h.least) {
		o.Exit, o.Detail = teasel.ExitHang, "seven"
		if h.hung++; !o.Ask.Quick {
			h.long++
		}
	}
	return nil
}

// A hang is waited for to the end when it is seen, when it is tried first, and when it was made simple: among the quick
// tries for that, what is only slow looks like one.
func TestHangHasTheFullTimeLimit(t *testing.T) {
	for _, test := range []struct {
		seed string
		long int
	}{{"\a0", 2}, {"\a234567890", 3}} {
		h := &hangTarget{}
		c := bytesCampaign(h)
		c.Mutator, c.Seeds, c.StopAfter, c.Runs = harmless{}, [][]byte{[]byte(test.seed)}, 1, 10_000
		s, err := c.Run(context.Background())
		if err != nil || len(s.Findings) != 1 || len(s.Findings[0].Input) != 2 {
			t.Fatalf("findings %v, %v", s.Findings, err)
		}
		if h.long != test.long || h.hung < 4 {
			t.Errorf("%q: %d of %d runs had all the time, expected %d", test.seed, h.long, h.hung, test.long)
		}
	}
}

// What is only slow is not shown in the place of a hang.
func TestSlowInputIsNoHang(t *testing.T) {
	h := &hangTarget{least: 6}
	c := bytesCampaign(h)
	c.Seeds, c.StopAfter = [][]byte{[]byte("\a234567890")}, 1
	s, err := c.Run(context.Background())
	if err != nil || len(s.Findings) != 1 || len(s.Findings[0].Input) < h.least {
		t.Errorf("findings %v, %v", s.Findings, err)
	}
}

// chainTarget shows a fault when fire follows arm at once, in one input or from one to the next, and notes the longest
// script that was run.
type chainTarget struct{ longest *int }

func (t chainTarget) Open(context.Context, teasel.Role) (teasel.Executor[script], error) {
	return &chainExecutor{longest: t.longest}, nil
}

type chainExecutor struct {
	longest *int
	armed   bool
	past    []script
}

// fired is the evidence of an input: whether fire came when it was armed, and what had run up to it.
type fired struct {
	armed bool
	past  []script
}

var (
	_ teasel.Resetter          = (*chainExecutor)(nil)
	_ teasel.Historian[script] = (*chainExecutor)(nil)
)

func (e *chainExecutor) Close() error { return nil }

func (e *chainExecutor) History(o *teasel.Observation) []script {
	return slices.Clone(o.Evidence.(fired).past)
}

func (e *chainExecutor) Reset(context.Context) error {
	e.armed, e.past = false, nil
	return nil
}

func (e *chainExecutor) Exec(_ context.Context, in script, o *teasel.Observation) error {
	*e.longest = max(*e.longest, len(in))
	e.past = append(e.past, slices.Clone(in))
	f := fired{past: e.past}
	o.Exit, o.Runs = teasel.ExitOK, 1
	for _, c := range in {
		f.armed = f.armed || c.Tool == "fire" && e.armed
		e.armed = c.Tool == "arm"
	}
	o.Evidence = f
	return nil
}

// chains are the detectors for a chainTarget.
func chains() []teasel.Detector {
	return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
		if !o.Evidence.(fired).armed {
			return nil
		}
		return []teasel.Finding{{Rule: "chain", Severity: teasel.Low}}
	})}
}

// What the target ran shortly before is tried first: from long histories it takes long to find the one input that matters.
func TestShortHistoryFirst(t *testing.T) {
	longest := 0
	tools := []string{"arm", "fire"}
	for range 30 {
		tools = append(tools, "list")
	}
	s := runWindow(t, tools, false, func(c *teasel.Campaign[script]) {
		c.Target = chainTarget{&longest}
		c.NewDetectors = chains
		c.Generate, c.Runs = 1, 20_000
	})
	if got := inputs(s); len(got) != 1 || got[0] != `chain [{"Tool":"arm","N":0},{"Tool":"fire","N":0}]` || longest > 8 {
		t.Errorf("found %v, and the longest script had %d calls", got, longest)
	}
}

// A fault that shows late is blamed on whatever came last. The finding says what its input shows, not what it was seen with.
func TestFindingIsOfItsInput(t *testing.T) {
	longest := 0
	s := runWindow(t, []string{"list"}, false, func(c *teasel.Campaign[script]) {
		c.Target = chainTarget{&longest}
		c.NewDetectors = func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
				f := o.Evidence.(fired)
				if !f.armed {
					return nil
				}
				last := f.past[len(f.past)-1]
				blamed := last[len(last)-1].Tool
				return []teasel.Finding{{Rule: "crash", Severity: teasel.Low, Fault: "store.go:7", Subject: blamed, Message: "after " + blamed, Detail: "> " + blamed}}
			})}
		}
		c.Seeds, c.Runs = []script{{{Tool: "arm"}, {Tool: "fire"}, {Tool: "list"}}}, 5_000
	})
	if got := inputs(s); len(got) != 1 || got[0] != `crash [{"Tool":"arm","N":0},{"Tool":"fire","N":0}]` {
		t.Fatalf("found %v", got)
	}
	if f := s.Findings[0]; f.Subject != "fire" || f.Message != "after fire" || f.Detail != "> fire" {
		t.Errorf("subject %q, message %q, detail %q", f.Subject, f.Message, f.Detail)
	}
}

// deepTarget is a chainTarget that can have another instance beside.
type deepTarget struct {
	chainTarget
	beside chainTarget
}

func (t deepTarget) Open(ctx context.Context, role teasel.Role) (teasel.Executor[script], error) {
	if role.Background {
		return t.beside.Open(ctx, role)
	}
	return t.chainTarget.Open(ctx, role)
}

// What a target ran before is shown beside the campaign where that can be: scripts of one call are all that it runs itself.
func TestHistoryOnBackground(t *testing.T) {
	longest, beside := 0, 0
	s := runWindow(t, []string{"arm", "fire", "list", "read"}, false, func(c *teasel.Campaign[script]) {
		c.Target = deepTarget{chainTarget{&longest}, chainTarget{&beside}}
		c.NewDetectors = chains
		c.Background, c.Generate, c.Runs, c.StopAfter, c.Duration = true, 1, 0, 1, time.Minute
	})
	if got := inputs(s); len(got) != 1 || got[0] != `chain [{"Tool":"arm","N":0},{"Tool":"fire","N":0}]` || longest != 1 || beside < 2 {
		t.Errorf("found %v; the longest scripts had %d calls, and %d beside", got, longest, beside)
	}
}

// lettersMutator sees each letter of an input as a part and can leave them out.
type lettersMutator struct{ byteMutator }

func (lettersMutator) Join(ins [][]byte) []byte           { return bytes.Join(ins, nil) }
func (lettersMutator) Parts(in []byte) int                { return len(in) }
func (lettersMutator) Keep(in []byte, parts []int) []byte { return keep(in, parts) }

// keep returns some of the elements of a slice.
func keep[S ~[]E, E any](in S, parts []int) (out S) {
	for _, i := range parts {
		out = append(out, in[i])
	}
	return out
}

func (lettersMutator) Simplify(k uint64, _, src []byte) ([]byte, bool) {
	if k >= uint64(len(src)) {
		return nil, false
	}
	return slices.Delete(slices.Clone(src), int(k), int(k)+1), true
}

var _ teasel.Joiner[[]byte] = lettersMutator{}

// mortal ends as exit says with an input that has a k in it, or an a and a b, and its last letter is blamed.
type letterTarget struct{ exit teasel.Exit }

func (m letterTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return m, nil
}
func (letterTarget) Close() error                { return nil }
func (letterTarget) Reset(context.Context) error { return nil }

func (m letterTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; bytes.ContainsRune(in, 'k') || bytes.Contains(in, []byte("ab")) {
		o.Exit, o.Evidence = m.exit, string(in[len(in)-1:])
	}
	return nil
}

// TestOtherFindingMasks: who is blamed for a death that happens without him is no finding; who needs others for it is one.
func TestOtherFindingMasks(t *testing.T) {
	for _, exit := range []teasel.Exit{teasel.ExitCrash, teasel.ExitHang} {
		t.Run(exit.String(), func(t *testing.T) { testBystander(t, exit) })
	}
}

func testBystander(t *testing.T, exit teasel.Exit) {
	c := bytesCampaign(letterTarget{exit})
	c.Mutator, c.Runs = lettersMutator{}, 300
	c.Seeds = [][]byte{[]byte("kx"), []byte("ky"), []byte("xkz"), []byte("xaby"), []byte("ab")}
	blame := teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
		if last, ok := o.Evidence.(string); ok {
			return []teasel.Finding{{Rule: "crash", Subject: last, Severity: teasel.High}}
		}
		return nil
	})
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{blame} }
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Findings {
		got = append(got, f.Subject+" "+string(f.Input))
	}
	slices.Sort(got)
	if want := []string{"b ab", "k k"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// slowLetter is a letterTarget that is slow with an s: where little time will do, it seems to hang there.
type slowLetter struct{ letterTarget }

func (q slowLetter) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return q, nil
}

func (q slowLetter) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if bytes.IndexByte(in, 's') >= 0 && o.Ask.Quick {
		o.Exit, o.Evidence = teasel.ExitHang, "s"
		return nil
	}
	return q.letterTarget.Exec(ctx, in, o)
}

// sameLetters is a lettersMutator whose mutants are the seeds.
type sameLetters struct{ lettersMutator }

func (sameLetters) Mutate(_ *teasel.Rand, dst, src []byte) []byte { return append(dst[:0], src...) }

// A part of the input that is slow, and so seems to hang when it has little time, does not mask the hang of the whole.
func TestSlowPartMasksNothing(t *testing.T) {
	c := bytesCampaign(slowLetter{letterTarget{teasel.ExitHang}})
	c.Mutator, c.Runs = sameLetters{}, 200
	c.Seeds = [][]byte{[]byte("sasab")}
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if last, ok := o.Evidence.(string); ok {
				return []teasel.Finding{{Rule: "hang", Subject: last, Severity: teasel.High}}
			}
			return nil
		})}
	}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range s.Findings {
		found[f.Subject] = true
	}
	if !found["b"] || found["s"] {
		t.Errorf("findings %v, unconfirmed %v, want one of b and none of s", s.Findings, s.Unconfirmed)
	}
}

// flakyOldProcess shows a fault only when its process has run more than a few inputs, and not every time.
type flakyOldProcess struct{ runs int }

func (m *flakyOldProcess) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return m, nil
}
func (m *flakyOldProcess) Close() error { return nil }

func (m *flakyOldProcess) Reset(context.Context) error {
	m.runs = 0
	return nil
}

func (m *flakyOldProcess) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Runs = teasel.ExitOK, 1
	if m.runs++; m.runs > 50 && m.runs%3 > 0 {
		o.Exit = teasel.ExitCrash
	}
	return nil
}

// What is flaky on a target that has run much, and is never seen on a fresh one, is no finding about the input.
func TestFlakyNeedsAFreshTarget(t *testing.T) {
	c := bytesCampaign(&flakyOldProcess{})
	c.Runs = 2000
	s, err := c.Run(context.Background())
	if err != nil || len(s.Findings) > 0 {
		t.Errorf("found %v, %v", s.Findings, err)
	}
}

// describing is a detector that counts the details that it writes: only findings that are reported need them.
type describing struct{ detected, detailed *int }

func (d describing) Detect(o *teasel.Observation) []teasel.Finding {
	*d.detected++
	fs := teasel.Crashes(o)
	for i := range fs {
		fs[i].Describe = func(f *teasel.Finding) {
			*d.detailed++
			f.Detail = o.Detail + " in detail"
		}
	}
	return fs
}

func TestDetailIsWrittenWhenPublished(t *testing.T) {
	var detected, detailed int
	c := bytesCampaign(&hangingTarget{crash: true})
	c.Runs = 4000
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{describing{&detected, &detailed}} }
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || s.Findings[0].Detail != "three in detail" {
		t.Fatalf("findings %+v, %v", s.Findings, err)
	}
	if detected < 5*detailed || detailed > 20 {
		t.Errorf("%d times for %d observations", detailed, detected)
	}
}

// alternatingTarget is a target that crashes every second time it runs a seed.
type alternatingTarget struct{ runs int }

var _ teasel.Resetter = (*alternatingTarget)(nil)

func (w *alternatingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return w, nil
}
func (w *alternatingTarget) Reset(context.Context) error { return nil }
func (w *alternatingTarget) Close() error                { return nil }

func (w *alternatingTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Runs = teasel.ExitOK, 1
	if string(in) == "seed" {
		if w.runs++; w.runs%2 == 1 {
			o.Exit = teasel.ExitCrash
		}
	}
	return nil
}

// A try that fails is not hidden by another one.
func TestFlakyFindingCountsEveryTry(t *testing.T) {
	c := bytesCampaign(&alternatingTarget{})
	c.Mutator, c.Runs = harmless{}, 500 // which makes no second seed
	s, err := c.Run(context.Background())
	if err != nil || len(s.Findings) != 1 || s.Findings[0].Stable*2-s.Findings[0].Tries > 1 || s.Findings[0].Tries-s.Findings[0].Stable*2 > 1 {
		t.Errorf("found %+v, %v, want one that was reproduced every second time", s.Findings, err)
	}
}

// chanceTarget crashes in one of 100 runs, whatever the input is.
type chanceTarget struct{ rnd *rand.Rand }

var _ teasel.Resetter = chanceTarget{}

func (e chanceTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return e, nil
}
func (chanceTarget) Reset(context.Context) error { return nil }
func (chanceTarget) Close() error                { return nil }

func (e chanceTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Runs = teasel.ExitOK, 1
	for range max(len(in), 1) { // a byte is an input
		if e.rnd.IntN(100) == 0 {
			o.Exit = teasel.ExitCrash
		}
	}
	return nil
}

// chanceHistorian has always run a thousand inputs.
type chanceHistorian struct{ chanceTarget }

func (e chanceHistorian) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return e, nil
}
func (chanceHistorian) History(*teasel.Observation) [][]byte {
	return slices.Repeat([][]byte{{'a'}}, 1025)
}

// letterMutator makes inputs of one byte, and joins them.
type letterMutator struct{ blockMutator }

func (letterMutator) Generate(r *teasel.Rand) []byte              { return []byte{byte(r.Uint32())} }
func (m letterMutator) Mutate(r *teasel.Rand, _, _ []byte) []byte { return m.Generate(r) }
func (letterMutator) Join(ins [][]byte) []byte                    { return slices.Concat(ins...) }
func (letterMutator) Parts(in []byte) int                         { return len(in) }
func (letterMutator) Keep(in []byte, parts []int) (out []byte) {
	for _, i := range parts {
		out = append(out, in[i])
	}
	return out
}

// A crash that comes by chance is found, with how seldom it comes: what the target had run before is not to blame, though with a thousand
// inputs it crashes nearly every time.
func TestCrashByChance(t *testing.T) {
	for seed := range uint64(20) {
		byChance := func() chanceTarget { return chanceTarget{rand.New(rand.NewPCG(seed, 1))} }
		for name, target := range map[string]teasel.Target[[]byte]{"alone": byChance(), "with a history": chanceHistorian{byChance()}} {
			c := bytesCampaign(target)
			c.Mutator, c.Seeds, c.Runs, c.Seed, c.Calibrate = letterMutator{}, [][]byte{{'a'}}, 20_000, seed, 2
			s, err := c.Run(t.Context())
			if err != nil || len(s.Findings) != 1 || len(s.Unconfirmed) > 0 {
				t.Errorf("seed %d, %s: found %+v, unconfirmed %+v, %v", seed, name, s.Findings, s.Unconfirmed, err)
				continue
			}
			if f := s.Findings[0]; len(f.Input) != 1 || f.Stable < 1 || f.Tries < 10*f.Stable {
				t.Errorf("seed %d, %s: an input of %d bytes, reproduced %d of %d times", seed, name, len(f.Input), f.Stable, f.Tries)
			}
		}
	}
}

// nothingTarget crashes of an input without a byte.
type nothingTarget struct{}

var _ teasel.Resetter = nothingTarget{}

func (t nothingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (nothingTarget) Close() error                { return nil }
func (nothingTarget) Reset(context.Context) error { return nil }

func (nothingTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; len(in) == 0 {
		o.Exit = teasel.ExitCrash
	}
	return nil
}

// An input may have no parts at all, such as a client that connects and leaves.
func TestInputWithoutParts(t *testing.T) {
	c := bytesCampaign(nothingTarget{})
	c.Mutator, c.Seeds, c.Runs = lettersMutator{}, [][]byte{{}, []byte("a")}, 300
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || !s.Findings[0].Confirmed() {
		t.Errorf("found %+v, %v", s.Findings, err)
	}
}

// slowDeath is a target that crashes at each input of its own, and ends the campaign before it has run one for the third time.
type slowDeath struct {
	stop func()
	runs int
}

func (s *slowDeath) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return s, nil
}

func (s *slowDeath) Close() error { return nil }

func (s *slowDeath) Exec(ctx context.Context, _ []byte, o *teasel.Observation) error {
	if s.runs++; s.runs < 3 {
		o.Exit = teasel.ExitCrash
		return nil
	}
	s.stop()
	<-ctx.Done()
	return ctx.Err()
}

// A finding that was reproduced once before the campaign was stopped is found, and says how often it was tried.
func TestStoppedBetweenTries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := bytesCampaign(&slowDeath{stop: cancel}).Run(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || s.Findings[0].Stable != 1 || s.Findings[0].Tries != 1 {
		t.Errorf("findings %+v, unconfirmed %+v, want one that was shown 1 of 1 times", s.Findings, s.Unconfirmed)
	}
}

// lockingTarget keeps a lock after an input that begins with !, which one with x needs. What has all the time that there is shows it as well.
type lockingTarget struct {
	past    [][]byte // of the process that ran last
	locked  bool
	dead    bool
	longest int // input that was run
}

var _ teasel.Historian[[]byte] = (*lockingTarget)(nil)

func (l *lockingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return l, nil
}

func (l *lockingTarget) Close() error { return nil }

func (l *lockingTarget) Reset(context.Context) error {
	l.past, l.locked, l.dead = nil, false, false
	return nil
}

func (l *lockingTarget) History(*teasel.Observation) [][]byte { return l.past }

func (l *lockingTarget) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if l.dead {
		_ = l.Reset(ctx)
	}
	l.past, l.longest = append(l.past, bytes.Clone(in)), max(l.longest, len(in))
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
	for _, b := range in {
		if l.locked && b == 'x' {
			o.Exit = teasel.ExitCrash
		}
		l.locked = l.locked || b == '!'
	}
	if l.locked && o.Ask.Full {
		o.Exit = teasel.ExitCrash
	}
	l.dead = o.Exit == teasel.ExitCrash
	return nil
}

// The input to blame is found where it shows the finding by itself, and not joined with the one that came next.
func TestEarlierInputIsToBlame(t *testing.T) {
	target := &lockingTarget{}
	c := bytesCampaign(target)
	c.Mutator, c.Seeds, c.Runs, c.Calibrate = blockMutator{}, [][]byte{{'-'}}, 7, 0
	c.Stages = []teasel.Stage[[]byte]{letters("ab!cdx")}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || string(s.Findings[0].Input) != "!" || target.longest != 1 {
		t.Errorf("findings %+v, want one of !; the longest input had %d letters", s.Findings, target.longest)
	}
}

// hoarder is a target that crashes at an input which has run on it before, whatever the input is. It goes on after that, or starts anew.
type hoarder struct {
	anew bool
	seen map[byte]bool
}

var _ teasel.Resetter = (*hoarder)(nil)

func (h *hoarder) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return &hoarder{h.anew, map[byte]bool{}}, nil
}
func (h *hoarder) Close() error { return nil }
func (h *hoarder) Reset(context.Context) error {
	clear(h.seen)
	return nil
}

func (h *hoarder) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; h.seen[in[0]] {
		if o.Exit = teasel.ExitCrash; h.anew {
			clear(h.seen)
		}
		return nil
	}
	h.seen[in[0]] = true
	return nil
}

// A crash that takes the same input twice does not come by chance: nothing that runs it once can show it.
func TestCrashOfTheSecondRun(t *testing.T) {
	for _, anew := range []bool{false, true} {
		c := bytesCampaign(&hoarder{anew: anew})
		c.Mutator, c.Seeds, c.Runs, c.Calibrate = blockMutator{}, [][]byte{{'a'}}, 20_000, 2
		c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
		s, err := c.Run(t.Context())
		if err != nil || len(s.Findings) > 0 || len(s.Unconfirmed) != 1 {
			t.Errorf("it starts anew: %t; found %+v, unconfirmed %+v, %v", anew, s.Findings, s.Unconfirmed, err)
		}
	}
}
