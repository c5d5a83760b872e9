// Package policy has pools and schedulers in addition to the engine's own, for targets for which keeping the simplest input of each
// feature is not enough.
package policy

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/fenwick"
)

const (
	weightUnit = 1 << 16
	stateUnit  = 1 << 40 // weight of a state that was never picked; it falls with each pick, and reaches 1 after that many picks
)

var _ teasel.Scheduler = (*byState)(nil)

// byState draws a state first, as AFLNet does: rarely picked states are more likely. It then picks one of the testcases of the state that
// were picked least often, at random or the newest, so that new testcases are picked soon.
type byState struct {
	all    teasel.Scheduler // for testcases without a state
	states []teasel.Feature // in order of discovery; the first is no state
	at     map[teasel.Feature]int
	weight fenwick.Weights // by index in states
	picked []uint64
	member []turns             // of each state
	of     map[teasel.ID][]int // the states that a testcase reaches
	had    map[teasel.ID]uint64
}

// stateless is the index in states of the testcases that reach no state.
const stateless = 0

// NewStateScheduler returns a scheduler that draws a [teasel.State] feature, rarely picked ones more often, and then picks a testcase
// that reaches it; Focus of the pick is the state. Testcases that reach no state are treated like those of one more state, without a
// Focus; among them, [teasel.NewScheduler] picks. Picking, adding and removing a testcase take time proportional to the number of states
// that it reaches and to the logarithm of the number of testcases in these states.
func NewStateScheduler() teasel.Scheduler {
	return &byState{all: teasel.NewScheduler(), states: []teasel.Feature{0}, picked: []uint64{0}, member: make([]turns, 1),
		at: map[teasel.Feature]int{}, of: map[teasel.ID][]int{}, had: map[teasel.ID]uint64{}}
}

func (s *byState) Add(r teasel.Rating) {
	for f := range r.Features.All() {
		if !f.IsState() {
			continue
		}
		at, known := s.at[f]
		if !known {
			at = len(s.states)
			s.at[f] = at
			s.states, s.picked, s.member = append(s.states, f), append(s.picked, 0), append(s.member, turns{})
		}
		if !s.member[at].has(r.ID) { // the testcase may list a state twice
			s.join(r.ID, at)
		}
	}
	if len(s.of[r.ID]) == 0 {
		s.all.Add(r)
		s.join(r.ID, stateless)
	}
	for _, at := range s.of[r.ID] { // a resumed campaign does not know for which of the states it was picked
		s.picked[at] += r.Picked / uint64(len(s.of[r.ID]))
		s.member[at].set(r.ID, s.had[r.ID])
		s.weigh(at)
	}
}

func (s *byState) join(id teasel.ID, at int) {
	fewest, _ := s.member[at].fewest()
	s.had[id] = max(s.had[id], fewest) // the testcase need not catch up with the others
	s.member[at].add(id, s.had[id])
	s.of[id] = append(s.of[id], at)
}

func (s *byState) weigh(at int) {
	w := uint64(0)
	if s.member[at].len() > 0 {
		w = max(stateUnit/(1+s.picked[at]), 1)
	}
	s.weight.Set(at, w)
}

func (s *byState) Remove(id teasel.ID) {
	for _, at := range s.of[id] {
		if at == stateless {
			s.all.Remove(id)
		}
		s.member[at].remove(id)
		s.weigh(at)
	}
	delete(s.of, id)
	delete(s.had, id)
}

// Done implements [teasel.Scheduler].
func (s *byState) Done(p teasel.Pick, executions uint64, kept int) {
	if p.Focus == 0 {
		s.all.Done(p, executions, kept)
	}
}

func (s *byState) Next(r *teasel.Rand) (teasel.Pick, bool) {
	if len(s.of) == 0 {
		return teasel.Pick{}, false
	}
	at := stateless
	if s.member[stateless].len() < len(s.of) {
		at, _ = s.weight.Draw(r)
	}
	s.picked[at]++
	s.weigh(at)
	if at == stateless {
		return s.all.Next(r)
	}
	id := s.turn(r, at)
	s.had[id]++
	for _, other := range s.of[id] {
		s.member[other].set(id, s.had[id])
	}
	return teasel.Pick{ID: id, Focus: s.states[at], Energy: 1}, true
}

// turn returns the testcase of a state to pick next.
func (s *byState) turn(r *teasel.Rand, at int) teasel.ID {
	m := &s.member[at]
	_, due := m.fewest()
	if r.IntN(2) == 0 {
		return m.due(due - 1)
	}
	return m.due(r.IntN(due))
}
