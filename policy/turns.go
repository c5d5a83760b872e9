package policy

import "github.com/teaselfuzz/teasel"

// turns holds the testcases of one state, in the order in which they were added, with the number of turns of each. Adding, removing,
// counting and choosing take O(log n). The zero value is empty.
type turns struct {
	// nodes is a binary tree: the root is node 1, the children of i are 2i and 2i+1. The second half are leaves, one for each
	// position.
	nodes []node
	ids   []teasel.ID       // by position, including removed ones
	place map[teasel.ID]int // positions of the testcases that were not removed
}

// node holds the smallest number of turns of the testcases below it, and how many testcases have that number; 0 if there are none.
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

// fewest returns the smallest number of turns, and how many testcases have that number.
func (t *turns) fewest() (turns uint64, due int) {
	if len(t.nodes) == 0 {
		return 0, 0
	}
	return t.nodes[1].fewest, t.nodes[1].due
}

// due returns the i-th of the testcases with the smallest number of turns.
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

// add adds a testcase, which must be new.
func (t *turns) add(id teasel.ID, turns uint64) {
	if len(t.ids) == len(t.nodes)/2 {
		t.grow()
	}
	t.place[id] = len(t.ids)
	t.ids = append(t.ids, id)
	t.set(id, turns)
}

// set sets the number of turns of a testcase.
func (t *turns) set(id teasel.ID, turns uint64) { t.update(t.place[id], node{turns, 1}) }

// remove removes a testcase, which must have been added.
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

// grow doubles the room for testcases and reuses the positions of removed ones.
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
