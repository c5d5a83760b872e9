package teasel_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/teaselfuzz/teasel"
)

// slowTarget is a server that takes half a second to start and ten milliseconds for a request. It dies of one request in a hundred, in
// twenty ways, does not answer some, and gives wrong answers of every severity.
type slowTarget struct{}

type slowServer struct{ up bool }

func (slowTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return &slowServer{}, nil
}
func (e *slowServer) Close() error                { return nil }
func (e *slowServer) BatchSize() int              { return 64 }
func (e *slowServer) Reset(context.Context) error { e.up = false; return nil }

// wait sleeps; the clock is that of the test.
func (e *slowServer) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Exec sends requests of two letters each.
func (e *slowServer) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	began := time.Now()
	defer func() { o.Elapsed = time.Since(began) }()
	o.Exit, o.Evidence = teasel.ExitOK, string(in)
	for ; len(in) > 1 && o.Exit == teasel.ExitOK; in = in[2:] {
		took := 10 * time.Millisecond
		if !e.up {
			took += 500 * time.Millisecond
		}
		e.up = true
		switch {
		case in[0] == 'h' && in[1] < 32:
			if took += 5 * time.Second; o.Ask.Quick {
				took -= 4 * time.Second
			}
			o.Exit, o.Detail, o.Expensive = teasel.ExitHang, fmt.Sprint("no answer to ", in[1]%4), true
		case in[0] < 20 && in[1]%8 == 0:
			o.Exit, o.Detail, e.up = teasel.ExitCrash, fmt.Sprint("died of ", in[0]), false
		}
		if err := e.wait(ctx, took); err != nil {
			return err
		}
	}
	return nil
}

func (e *slowServer) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := e.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
		if obs[i].Exit == teasel.ExitCrash {
			for k := i; k < len(ins); k++ {
				obs[k].Exit = teasel.ExitLost
			}
			break
		}
	}
	return len(ins), nil
}

// wrongAnswers finds what is wrong with an answer: little of it is severe.
func wrongAnswers(o *teasel.Observation) []teasel.Finding {
	for in, _ := o.Evidence.(string); len(in) > 1 && o.Exit == teasel.ExitOK; in = in[2:] {
		severity := teasel.Info
		switch n := in[0]; {
		case n < 102:
			severity = teasel.High
		case n < 106:
			severity = teasel.Medium
		case n < 110:
			severity = teasel.Low
		}
		if in[0] >= 100 && in[0] != 'h' {
			return []teasel.Finding{{Rule: "answer", Severity: severity, Subject: in[:1], Group: fmt.Sprint(in[1] % 8)}}
		}
	}
	return nil
}

// pairMutator makes requests by chance.
type pairMutator struct{ blockMutator }

func (pairMutator) Parts(in []byte) int { return len(in) / 2 }

func (pairMutator) Keep(in []byte, parts []int) (out []byte) {
	for _, i := range parts {
		out = append(out, in[2*i:2*i+2]...)
	}
	return out
}
func (pairMutator) Generate(r *teasel.Rand) []byte {
	return []byte{byte(r.Uint32()), byte(r.Uint32())}
}
func (m pairMutator) Mutate(r *teasel.Rand, _, _ []byte) []byte { return m.Generate(r) }

// Nothing that is more than low and was seen within a minute is left unconfirmed, although the server starts slowly and dies all the time.
func TestNothingSevereIsLeft(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			c := bytesCampaign(slowTarget{})
			c.Mutator, c.Background, c.Duration, c.Seed = pairMutator{}, true, time.Minute, seed
			c.NewDetectors = func() []teasel.Detector {
				return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes), teasel.DetectorFunc(wrongAnswers)}
			}
			began := time.Now()
			s, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			severe := 0
			for _, f := range s.Findings {
				if f.Severity > teasel.Low {
					severe++
				}
			}
			for _, f := range s.Unconfirmed {
				if f.Severity > teasel.Low && f.Found <= time.Minute {
					t.Errorf("seed %d: %v %s of severity %v is unconfirmed", seed, f.Rule, f.Group, f.Severity)
				}
			}
			if took := time.Since(began); severe < 30 || took > 70*time.Second {
				t.Errorf("seed %d: %d findings that are more than low in %v", seed, severe, took)
			}
		})
	}
}

// Findings that come together are confirmed in the order of their worth: the worst first and, among equals, the cheap first.
func TestWorstFirst(t *testing.T) {
	const worth = "pchHMLI"
	c := bytesCampaign(dyingBatch{func(in []byte, o *teasel.Observation) {
		o.Exit, o.Evidence = teasel.ExitOK, string(in[:1])
		switch in[0] {
		case 'c':
			o.Exit = teasel.ExitCrash
		case 'h':
			o.Exit = teasel.ExitHang
		}
	}})
	c.Seeds, c.Runs, c.MinimizeRuns = nil, 50, -1
	for _, letter := range "IcLHhMp" {
		c.Seeds = append(c.Seeds, []byte(string(letter)))
	}
	severities := map[string]teasel.Severity{"p": teasel.Critical, "c": teasel.Critical, "h": teasel.Critical, "H": teasel.High,
		"M": teasel.Medium, "L": teasel.Low, "I": teasel.Info}
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			letter := o.Evidence.(string)
			if severities[letter] == 0 {
				return nil
			}
			return []teasel.Finding{{Rule: "letter", Subject: letter, Severity: severities[letter]}}
		})}
	}
	order := ""
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventFound {
			order += e.Finding.Subject
		}
		return nil
	})}
	if _, err := c.Run(t.Context()); err != nil || order != worth {
		t.Errorf("confirmed in the order %s, want %s: %v", order, worth, err)
	}
}

// A finding that the target's own description shows is confirmed without another execution, also when it is seen last.
func TestStaticFinding(t *testing.T) {
	for _, background := range []bool{false, true} {
		seen, runs := 0, 0
		c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
			runs++
			o.Exit, o.Evidence = teasel.ExitOK, "description"
		}))
		c.Runs, c.Tries, c.Background = 1, 5, background
		if background {
			c.Runs, c.StopAfter = 0, 1
		}
		c.NewDetectors = func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
				seen++
				return []teasel.Finding{{Rule: "described", Severity: teasel.High, Static: true}}
			})}
		}
		s, err := c.Run(t.Context())
		if err != nil || len(s.Findings) != 1 || len(s.Unconfirmed) > 0 {
			t.Fatalf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
		}
		f := s.Findings[0]
		if f.Stable != 5 || f.Tries != 5 || string(f.Input) != "seed" || !background && runs != 1 {
			t.Errorf("background %v: reproduced %d of %d times with %q, after %d executions", background, f.Stable, f.Tries, f.Input, runs)
		}
	}
}

// seenLast is a target that is found to be wrong just before a minute is over, and takes long when it is tried again.
type seenLast struct {
	*slowServer
	began time.Time
	seen  *bool
}

func (l seenLast) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return struct{ teasel.Executor[[]byte] }{l}, nil // no batches
}

func (l seenLast) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	took := 10 * time.Millisecond
	if *l.seen {
		took = 2500 * time.Millisecond
	}
	if err := l.wait(ctx, took); err != nil {
		return err
	}
	o.Exit = teasel.ExitOK
	if time.Since(l.began) > time.Minute-25*time.Millisecond {
		*l.seen = true
		o.Exit, o.Elapsed = teasel.ExitCrash, took
	}
	return nil
}

// What is seen last is confirmed after the end if it is more than low, and a campaign that has nothing of that kind ends in two seconds.
func TestEndHasTimeForSevereFindings(t *testing.T) {
	for _, background := range []bool{false, true} {
		for severity, most := range map[teasel.Severity]time.Duration{teasel.Low: 62 * time.Second, teasel.Medium: 70 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				c := bytesCampaign(seenLast{slowServer: &slowServer{}, began: time.Now(), seen: new(bool)})
				c.Background, c.Duration = background, time.Minute
				c.NewDetectors = func() []teasel.Detector {
					return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
						return []teasel.Finding{{Rule: "crash", Severity: severity}}
					})}
				}
				began := time.Now()
				s, err := c.Run(t.Context())
				if err != nil || s.Stopped != "duration" {
					t.Fatalf("stopped by %q, %v", s.Stopped, err)
				}
				if took := time.Since(began); len(s.Findings) > 0 != (severity > teasel.Low) || took > most {
					t.Errorf("background %v: found %v, unconfirmed %v after %v", background, s.Findings, s.Unconfirmed, took)
				}
			})
		}
	}
}

// Where runs are counted, a finding that was reproduced is published before the next of its severity is tried: a campaign that ends after
// one has one.
func TestStopAfterOne(t *testing.T) {
	c := bytesCampaign(dyingBatch{func(in []byte, o *teasel.Observation) {
		if accept(in, o); in[0] != '.' {
			o.Exit, o.Detail = teasel.ExitCrash, string(in[:1])
		}
	}})
	c.Mutator, c.Runs, c.StopAfter = blockMutator{}, 500, 1
	c.Seeds = [][]byte{[]byte("a......."), []byte("b......."), []byte("c.......")}
	if s, err := c.Run(t.Context()); err != nil || len(s.Findings) != 1 {
		t.Errorf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
	c.Counts = func(f *teasel.Finding) bool { return f.Message != "a" } // as one that is known
	s, err := c.Run(t.Context())
	if counted := slices.DeleteFunc(slices.Clone(s.Findings), func(f teasel.Finding) bool { return !c.Counts(&f) }); err != nil || len(counted) != 1 {
		t.Errorf("with one that does not count: findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
}

// A finding that takes a second for each simpler input which is tried does not keep back others that take no time.
func TestLongJobGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const letters, length = "abcdefghijklmnop", 40
		c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
			o.Exit, o.Evidence = teasel.ExitOK, string(in)
			if bytes.HasPrefix(in, []byte("aa")) && len(in) < length {
				time.Sleep(time.Second)
			} else {
				time.Sleep(time.Millisecond)
			}
		}))
		c.Mutator, c.Background, c.Duration, c.Seeds = pairMutator{}, true, 40*time.Second, nil
		for i := range letters {
			c.Seeds = append(c.Seeds, bytes.Repeat([]byte{letters[i]}, length))
		}
		c.NewDetectors = func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
				in := o.Evidence.(string)
				if len(in) == 0 || !strings.Contains(letters, in[:1]) || strings.Trim(in, in[:1]) != "" || in[0] == 'a' && len(in) < length {
					return nil
				}
				return []teasel.Finding{{Rule: "letter", Subject: in[:1], Severity: teasel.Medium}}
			})}
		}
		order := ""
		c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventFound && !strings.Contains(order, e.Finding.Subject) {
				order += e.Finding.Subject
			}
			return nil
		})}
		if _, err := c.Run(t.Context()); err != nil || len(order) != len(letters) || !strings.HasSuffix(order, "a") {
			t.Errorf("found in the order %s, want a, which takes longest, at the end: %v", order, err)
		}
	})
}
