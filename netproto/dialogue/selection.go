package dialogue

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Order says which state of a protocol is worked on next.
type Order uint8

// The orders. The zero value means [RareFirst].
const (
	OrderInvalid   Order = iota
	RareFirst            // states that were picked rarely are picked often
	UnvisitedFirst       // states that were never picked, then as RareFirst
	BreadthFirst         // the state that was picked least, the first one found of those
	DepthFirst           // the states found last, mostly the very last
	Targeted             // the state that Selection names; until it is reached, those from which the model leads there shortest
)

var orderNames = [...]string{"invalid", "rare", "unvisited", "breadth", "depth", "targeted"}

func (o Order) String() string {
	if int(o) < len(orderNames) {
		return orderNames[o]
	}
	return "order?"
}

// Orders returns all orders.
func Orders() []Order { return []Order{RareFirst, UnvisitedFirst, BreadthFirst, DepthFirst, Targeted} }

// Selection makes schedulers that pick a state of the protocol first and then a testcase that reaches it. States are those
// that the model declares; where it declares none, each response of another kind or code counts as one.
type Selection struct {
	Model *model.Model // nil: states are learnt from the responses
	Order Order        // the zero value is RareFirst
	State string       // of Targeted: the name of a declared state
	// Share is how many of a hundred picks are made by state; the others are those of the scheduler that Rest makes, so that
	// coverage guides as well. 0: 50.
	Share int
	Rest  func() teasel.Scheduler // nil: teasel.NewScheduler
}

// NewScheduler returns a scheduler of the selection.
func (s Selection) NewScheduler() teasel.Scheduler {
	rest := teasel.NewScheduler
	if s.Rest != nil {
		rest = s.Rest
	}
	return &selection{Selection: s, rest: rest(), at: map[teasel.Feature]int{}, of: map[teasel.ID][]int{}, distance: s.distances()}
}

// distances returns how many transitions each declared state is away from the target.
func (s Selection) distances() map[int]int {
	if s.Model == nil || s.Order != Targeted {
		return nil
	}
	index := map[string]int{}
	for i, st := range s.Model.States {
		index[st.Name] = i
	}
	target, ok := index[s.State]
	if !ok {
		return nil
	}
	distance := map[int]int{target: 0}
	for changed := true; changed; {
		changed = false
		for i, st := range s.Model.States {
			for _, t := range st.Transitions {
				for _, to := range [...]string{t.To, t.Else, t.Timeout} {
					next, known := index[to]
					d, reached := distance[next]
					if old, has := distance[i]; known && reached && (!has || d+1 < old) {
						distance[i], changed = d+1, true
					}
				}
			}
		}
	}
	return distance
}

var _ teasel.Scheduler = (*selection)(nil)

// visited is a state that some testcase reaches.
type visited struct {
	feature teasel.Feature
	members []teasel.ID
	picked  uint64
}

type selection struct {
	Selection
	rest     teasel.Scheduler
	states   []visited // in the order in which they were found
	at       map[teasel.Feature]int
	of       map[teasel.ID][]int
	distance map[int]int // by number of the declared state
	ours     bool        // the last pick was made by state
}

// stateOf is what tells states apart: the declared one, if there is one.
func stateOf(f teasel.Feature) teasel.Feature {
	if n := declared(f); n >= 0 {
		return teasel.State(uint64(n) + 1)
	}
	return f
}

// Add implements [teasel.Scheduler].
func (s *selection) Add(r teasel.Rating) {
	s.rest.Add(r)
	for f := range r.Features.All() {
		if !f.IsState() {
			continue
		}
		key := stateOf(f)
		i, known := s.at[key]
		if !known {
			i = len(s.states)
			s.at[key] = i
			s.states = append(s.states, visited{feature: f})
		}
		if !slices.Contains(s.of[r.ID], i) {
			s.states[i].members = append(s.states[i].members, r.ID)
			s.of[r.ID] = append(s.of[r.ID], i)
		}
	}
}

// Remove implements [teasel.Scheduler].
func (s *selection) Remove(id teasel.ID) {
	s.rest.Remove(id)
	for _, i := range s.of[id] {
		m := &s.states[i].members
		if at := slices.Index(*m, id); at >= 0 {
			*m = slices.Delete(*m, at, at+1)
		}
	}
	delete(s.of, id)
}

// Next implements [teasel.Scheduler].
func (s *selection) Next(r *teasel.Rand) (teasel.Pick, bool) {
	i := -1
	if r.IntN(100) < share(s.Share, 50) {
		i = s.choose(r)
	}
	if s.ours = i >= 0; !s.ours {
		return s.rest.Next(r)
	}
	st := &s.states[i]
	st.picked++
	return teasel.Pick{ID: st.members[r.IntN(len(st.members))], Focus: st.feature, Energy: 1}, true
}

// Done implements [teasel.Scheduler]. The scheduler of the others hears of its own picks only.
func (s *selection) Done(p teasel.Pick, executions uint64, kept int) {
	if !s.ours {
		s.rest.Done(p, executions, kept)
	}
}

// choose returns the state to work on, -1 if none has a testcase.
func (s *selection) choose(r *teasel.Rand) int {
	switch s.Order {
	case UnvisitedFirst:
		for i := range s.states {
			if s.states[i].picked == 0 && len(s.states[i].members) > 0 {
				return i
			}
		}
	case BreadthFirst:
		return s.least(func(i int) uint64 { return s.states[i].picked })
	case DepthFirst:
		for i := len(s.states) - 1; i >= 0; i-- {
			if len(s.states[i].members) > 0 && r.IntN(2) == 0 {
				return i
			}
		}
	case Targeted:
		if len(s.distance) > 0 {
			return s.least(func(i int) uint64 {
				d, ok := s.distance[declared(s.states[i].feature)]
				if !ok {
					d = len(s.Model.States) + 1
				}
				return uint64(d)
			})
		}
	}
	return s.rare(r)
}

// least returns the state with testcases of which a measure is least, the first of them.
func (s *selection) least(measure func(i int) uint64) int {
	best, value := -1, uint64(0)
	for i := range s.states {
		if len(s.states[i].members) == 0 {
			continue
		}
		if v := measure(i); best < 0 || v < value {
			best, value = i, v
		}
	}
	return best
}

// rare draws a state by 1/(1+picks).
func (s *selection) rare(r *teasel.Rand) int {
	sum := 0.0
	for i := range s.states {
		if len(s.states[i].members) > 0 {
			sum += 1 / float64(1+s.states[i].picked)
		}
	}
	x, last := r.Float64()*sum, -1
	for i := range s.states {
		if len(s.states[i].members) == 0 {
			continue
		}
		last = i
		if x -= 1 / float64(1+s.states[i].picked); x < 0 {
			return i
		}
	}
	return last
}
