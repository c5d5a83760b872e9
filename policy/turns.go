package policy

import "github.com/teaselfuzz/teasel"

// turns has the testcases of one state, in the order in which they came, with the number of turns that each has had. Adding,
// removing, counting and choosing take O(log n). The zero value is empty.
type turns struct {
	// nodes is a binary tree, the root at 1, the children of i at 2i and 2i+1. The latter half are leaves, one for each place.
	nodes []node
	ids   []teasel.ID       // by place, those that were removed included
	place map[teasel.ID]int // of those that were not
}

// node says which number of turns is the fewest among the testcases below it, and how many of them have had just so few; 0:
// none is below it.
type node struct {
	fewest uint64
	due    int
}

func (n node) join(m node) node {
	switch {
	case n.due == 0 || m.due > 0 && m.fewest < n.fewest:
		return m
	case m.due > 0 && m.fewest == n.fewest:
		n.due += m.due
	}
	return n
}

func (t *turns) len() int { return len(t.place) }

func (t *turns) has(id teasel.ID) bool {
	_, ok := t.place[id]
	return ok
}

// fewest returns the fewest turns that a testcase has had, and how many have had just so few.
func (t *turns) fewest() (turns uint64, due int) {
	if len(t.nodes) == 0 {
		return 0, 0
	}
	return t.nodes[1].fewest, t.nodes[1].due
}

// due returns the testcase number i, from 0 on, of those that have had the fewest turns.
func (t *turns) due(i int) teasel.ID {
	fewest, _ := t.fewest()
	at, leaves := 1, len(t.nodes)/2
	for at < leaves {
		at *= 2
		if left := t.nodes[at]; left.fewest == fewest && i < left.due {
			continue
		} else if left.fewest == fewest {
			i -= left.due
		}
		at++
	}
	return t.ids[at-leaves]
}

// add adds a testcase that is not there.
func (t *turns) add(id teasel.ID, turns uint64) {
	if len(t.ids) == len(t.nodes)/2 {
		t.grow()
	}
	t.place[id] = len(t.ids)
	t.ids = append(t.ids, id)
	t.set(id, turns)
}

// set says how many turns a testcase has had.
func (t *turns) set(id teasel.ID, turns uint64) { t.update(t.place[id], node{turns, 1}) }

// remove removes a testcase that is there.
func (t *turns) remove(id teasel.ID) {
	t.update(t.place[id], node{})
	delete(t.place, id)
}

func (t *turns) update(place int, n node) {
	at := len(t.nodes)/2 + place
	t.nodes[at] = n
	for at /= 2; at > 0; at /= 2 {
		t.nodes[at] = t.nodes[2*at].join(t.nodes[2*at+1])
	}
}

// grow makes room for as many testcases again as there are, and gives the places of those that were removed away.
func (t *turns) grow() {
	leaves := 1
	for leaves < 2*t.len() {
		leaves *= 2
	}
	old := *t
	*t = turns{nodes: make([]node, 2*leaves), ids: make([]teasel.ID, 0, leaves), place: make(map[teasel.ID]int, leaves)}
	for place, id := range old.ids {
		if n := old.nodes[len(old.nodes)/2+place]; n.due > 0 {
			t.place[id] = len(t.ids)
			t.nodes[leaves+len(t.ids)] = n
			t.ids = append(t.ids, id)
		}
	}
	for at := leaves - 1; at > 0; at-- {
		t.nodes[at] = t.nodes[2*at].join(t.nodes[2*at+1])
	}
}
