package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// linearByState is a simple implementation of the rule of [byState].
type linearByState struct {
	byState
	members [][]teasel.ID
}

func (s *linearByState) fewest(at int) uint64 {
	fewest := s.had[s.members[at][0]]
	for _, id := range s.members[at] {
		fewest = min(fewest, s.had[id])
	}
	return fewest
}

func (s *linearByState) add(r teasel.Rating) {
	for f := range r.Features.All() {
		at, known := s.at[f]
		if !known {
			at = len(s.states)
			s.at[f] = at
			s.states, s.picked, s.members = append(s.states, f), append(s.picked, 0), append(s.members, nil)
		}
		if slices.Contains(s.members[at], r.ID) {
			continue
		}
		if len(s.members[at]) > 0 {
			s.had[r.ID] = max(s.had[r.ID], s.fewest(at))
		}
		s.members[at] = append(s.members[at], r.ID)
		s.of[r.ID] = append(s.of[r.ID], at)
		s.reweigh(at)
	}
}

func (s *linearByState) reweigh(at int) {
	s.weight.Set(at, 0)
	if len(s.members[at]) > 0 {
		s.weight.Set(at, max(stateUnit/(1+s.picked[at]), 1))
	}
}

func (s *linearByState) remove(id teasel.ID) {
	for _, at := range s.of[id] {
		s.members[at] = slices.DeleteFunc(s.members[at], func(other teasel.ID) bool { return other == id })
		s.reweigh(at)
	}
	delete(s.of, id)
	delete(s.had, id)
}

func (s *linearByState) next(r *teasel.Rand) (teasel.Pick, bool) {
	if len(s.of) == 0 {
		return teasel.Pick{}, false
	}
	at, _ := s.weight.Draw(r)
	s.picked[at]++
	s.reweigh(at)
	fewest, due := s.fewest(at), []teasel.ID(nil)
	for _, id := range s.members[at] {
		if s.had[id] == fewest {
			due = append(due, id)
		}
	}
	id := due[len(due)-1]
	if r.IntN(2) > 0 {
		id = due[r.IntN(len(due))]
	}
	s.had[id]++
	return teasel.Pick{ID: id, Focus: s.states[at], Energy: 1}, true
}

// TestPicksOfLinearRule: the scheduler makes the same picks as the simple implementation, while testcases are added and removed.
func TestPicksOfLinearRule(t *testing.T) {
	for seed := range uint64(20) {
		r, s := rand.New(rand.NewPCG(seed, 2)), NewStateScheduler()
		plain := &linearByState{byState: *NewStateScheduler().(*byState), members: [][]teasel.ID{nil}}
		mine, theirs := rand.New(rand.NewPCG(seed, 3)), rand.New(rand.NewPCG(seed, 3))
		var live []teasel.ID
		for id := teasel.ID(0); id < 400; {
			switch n := r.IntN(6); {
			case n == 0:
				var fs []teasel.Feature
				for range 1 + r.IntN(4) {
					fs = append(fs, teasel.State(1+r.Uint64N(6)))
				}
				rating := teasel.Rating{ID: id, Features: teasel.NewFeatureSet(fs...)}
				s.Add(rating)
				plain.add(rating)
				live, id = append(live, id), id+1
			case n == 1 && len(live) > 0 && (len(live) > 60 || r.IntN(4) == 0):
				i := r.IntN(len(live))
				s.Remove(live[i])
				plain.remove(live[i])
				live = slices.Delete(live, i, i+1)
			default:
				got, ok := s.Next(mine)
				want, more := plain.next(theirs)
				if got != want || ok != more {
					t.Fatalf("seed %d, %d testcases: picked %+v, %v, want %+v, %v", seed, len(live), got, ok, want, more)
				}
			}
		}
	}
}

// BenchmarkStateScheduler picks among ten thousand testcases of one state.
func BenchmarkStateScheduler(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		s, r := NewStateScheduler(), rand.New(rand.NewPCG(1, 2))
		rating := func(id int) teasel.Rating {
			return teasel.Rating{ID: teasel.ID(id), Features: teasel.NewFeatureSet(teasel.State(1))}
		}
		for i := range n {
			s.Add(rating(i))
		}
		b.Run(fmt.Sprintf("next/%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Next(r)
			}
		})
		next := n
		b.Run(fmt.Sprintf("replace/%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Add(rating(next))
				s.Remove(teasel.ID(next - n))
				next++
			}
		})
	}
}
