package netproto

import (
	"cmp"
	"hash/fnv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// StateReach says how many testcases have reached a state that the model declares, and what has led out of it.
type StateReach struct {
	Name  string
	Times int // testcases that have arrived there, or have sent something there
	Steps []StepReach
}

// StepReach is a message that was sent in a state and the state that its answer led to.
type StepReach struct {
	Message  string
	To       string
	Declared bool // the model has such a transition, be it with another answer than the expected one, or with none
	Times    int  // testcases
}

// Edges returns how many edges of an instrumented server testcases have reached, by their features; 0: the server does not count.
func Edges(testcases []teasel.FeatureSet) int {
	const buckets = 8 // of hits, each a feature of its own
	edges := map[teasel.Feature]struct{}{}
	for _, fs := range testcases {
		for f := range fs.All() {
			if f >= edgeFeatures && f < edgeFeatures+1<<32 {
				edges[(f-edgeFeatures)/buckets] = struct{}{}
			}
		}
	}
	return len(edges)
}

// Answered reports whether the server has answered anything in a testcase of these features. Of a model with states, a response counts
// that the model knows or that has a code. The model may be nil.
func Answered(m *model.Model, fs teasel.FeatureSet) bool {
	silent := map[teasel.Feature]bool{silentFeature: true, closedFeature: true}
	if m != nil {
		for _, f := range dialogue.SilentFeatures(m) {
			silent[f] = true
		}
	}
	for f := range fs.All() {
		if f.IsState() && !silent[f] {
			return true
		}
	}
	return false
}

// stepFeature is the feature of such a step. It is below those of edges and above those that [responses] makes of two answers.
func stepFeature(from, message, to string) teasel.Feature {
	h := fnv.New64a()
	for _, s := range [...]string{from, message, to} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return 1<<31 + 1 + teasel.Feature(stir(h.Sum64())>>34)
}

// States says what of the states of a model testcases have reached: their features, of those that this kind's executors have
// reported, are all that it takes. States, and in them the declared steps, are in the model's order.
func States(m *model.Model, testcases []teasel.FeatureSet) (all []StateReach) {
	times := map[teasel.Feature]int{}
	for _, fs := range testcases {
		for f := range fs.All() {
			times[f]++
		}
	}
	arrived := map[string]int{}
	for _, s := range m.States {
		reach := StateReach{Name: s.Name}
		add := func(message, to string, declared bool) {
			n := times[stepFeature(s.Name, message, to)]
			if !declared && n == 0 {
				return
			}
			arrived[to] = max(arrived[to], n)
			reach.Times = max(reach.Times, n)
			reach.Steps = append(reach.Steps, StepReach{message, to, declared, n})
		}
		declared := map[[2]string]bool{}
		for _, t := range s.Transitions {
			for _, to := range ends(s, &t) {
				if !declared[[2]string{t.Send, to}] {
					declared[[2]string{t.Send, to}] = true
					add(t.Send, to, true)
				}
			}
		}
		for _, msg := range m.Messages {
			for _, to := range m.States {
				if !declared[[2]string{msg.Name, to.Name}] {
					add(msg.Name, to.Name, false)
				}
			}
		}
		all = append(all, reach)
	}
	for i := range all {
		all[i].Times = max(all[i].Times, arrived[all[i].Name])
	}
	return all
}

// MessageReach says how many testcases have sent a message of a model in a state that it declares.
type MessageReach struct {
	Name  string
	Times int // testcases
	First int // features that these were the first to reach
}

// Messages says what testcases have sent, as [States] does: in the model's order.
func Messages(m *model.Model, testcases []teasel.Entry) []MessageReach {
	all, of := make([]MessageReach, len(m.Messages)), map[teasel.Feature]int{}
	for i, msg := range m.Messages {
		all[i].Name = msg.Name
		for _, from := range m.States {
			for _, to := range m.States {
				of[stepFeature(from.Name, msg.Name, to.Name)] = i
			}
		}
	}
	last := make([]int, len(all)) // the number of the last testcase that was counted, from 1 on
	for n := range testcases {
		e := &testcases[n]
		for f := range e.Features.All() {
			if i, ok := of[f]; ok && last[i] <= n {
				last[i] = n + 1
				all[i].Times++
				all[i].First += e.First
			}
		}
	}
	return all
}

// ends returns the states that a transition of s leads to: with the expected answer, with another one, and with none.
func ends(s *model.State, t *model.Transition) (all []string) {
	all = append(all, cmp.Or(t.To, s.Name))
	for _, to := range [...]string{t.Else, t.Timeout} {
		if to != "" {
			all = append(all, to)
		}
	}
	return all
}
