package typed

import (
	"unsafe"

	"github.com/teaselfuzz/teasel"
)

// donor is a part of a testcase that may be spliced into another value.
type donor struct {
	p    unsafe.Pointer
	from *kept
}

// kept is a testcase. When it is dropped, its parts are removed lazily, when they are drawn.
type kept struct{ dropped bool }

// index holds the parts of the corpus by node, so that each may replace a part of the same node. It corresponds to crossover and a
// dictionary for bytes (fuzzcheck's sub-values).
type index struct {
	parts map[*info][]donor
	by    map[teasel.ID]*kept
}

// donorLimit is the maximum number of parts of a node in the index. A further part overwrites an old one.
const donorLimit = 1 << 12

// Kept adds the parts of a testcase to the index. The value must not change afterwards, except for changes that are undone.
func (e *Editor) Kept(id teasel.ID, v *Value) {
	x := &e.corpus
	if x.parts == nil {
		x.parts, x.by = map[*info][]donor{}, map[teasel.ID]*kept{}
	}
	k := &kept{}
	x.by[id] = k
	for i, pl := range v.prepare(e.root).places[1:] { // not the value itself, which the scheduler picks
		n := pl.n.about()
		if s := x.parts[n]; len(s) < donorLimit {
			x.parts[n] = append(s, donor{pl.p, k})
		} else {
			s[(int(id)*31+i)%donorLimit] = donor{pl.p, k}
		}
	}
}

// Dropped removes the parts of a testcase, which is no longer kept, from the index.
func (e *Editor) Dropped(id teasel.ID) {
	if k := e.corpus.by[id]; k != nil {
		k.dropped = true
		delete(e.corpus.by, id)
	}
}

// draw returns a random part.
func (x *index) draw(r *teasel.Rand, n *info) (unsafe.Pointer, bool) {
	for s := x.parts[n]; len(s) > 0; s = x.parts[n] {
		i := r.IntN(len(s))
		if !s[i].from.dropped {
			return s[i].p, true
		}
		last := len(s) - 1
		s[i], s[last] = s[last], donor{}
		x.parts[n] = s[:last]
	}
	return nil, false
}
