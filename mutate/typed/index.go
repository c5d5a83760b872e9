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

// kept is a testcase; its parts are forgotten one by one, when they are drawn next.
type kept struct{ dropped bool }

// index has the parts of the corpus by what they are, so that each may take the place of one of its kind: what crossover
// and a dictionary are for bytes (fuzzcheck's sub-values).
type index struct {
	parts map[*info][]donor
	by    map[teasel.ID]*kept
}

// donorLimit bounds how many parts of a kind are remembered. Of more than that a new one overwrites an old one.
const donorLimit = 1 << 12

// Kept tells the editor of a testcase, whose parts it may use from now on. The value must stay as it is, but for changes
// that are undone.
func (e *Editor) Kept(id teasel.ID, v *Value) {
	x := &e.corpus
	if x.parts == nil {
		x.parts, x.by = map[*info][]donor{}, map[teasel.ID]*kept{}
	}
	k := &kept{}
	x.by[id] = k
	for i, pl := range v.prepare(e.root).places[1:] { // the value itself is for the scheduler to pick
		n := pl.n.about()
		if s := x.parts[n]; len(s) < donorLimit {
			x.parts[n] = append(s, donor{pl.p, k})
		} else {
			s[(int(id)*31+i)%donorLimit] = donor{pl.p, k}
		}
	}
}

// Dropped tells the editor that a testcase is no longer kept.
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
