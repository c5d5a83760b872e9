// Package history remembers the last inputs that a process has run, so that what several of them did together can be reproduced.
package history

// What a [Ring] holds at most.
const (
	MaxInputs = 1024
	MaxBytes  = 1 << 20
)

// maxSpare is the capacity beyond which memory that has held long inputs is released.
const maxSpare = 4 << 20

// A Ring holds the last inputs of one process in encoded form, at most [MaxInputs] of [MaxBytes] together, but always the last one.
// The zero value is empty. Adding an input allocates nothing once the ring has grown. One goroutine at a time uses a ring.
type Ring struct {
	entries []entry // as many as there may be; entry i of the count is at (first+i) modulo its length
	first   int
	count   int
	packed  []byte // the inputs one after the other, after some bytes of inputs that are forgotten
	unused  int    // how many bytes those are
	added   int
}

type entry struct {
	size int
	slow bool
}

// Added returns how many inputs have been added since the ring was empty, those that are forgotten included. It is the place of the
// next one.
func (r *Ring) Added() int { return r.added }

// Add appends a copy of an encoded input and returns its place: how many were added before it.
func (r *Ring) Add(data []byte) (place int) {
	if r.entries == nil {
		r.entries = make([]entry, MaxInputs)
	}
	if r.count == MaxInputs {
		r.drop()
	}
	if r.unused > MaxBytes {
		r.compact()
	}
	r.packed = append(r.packed, data...)
	*r.entry(r.count) = entry{size: len(data)}
	r.count++
	for len(r.packed)-r.unused > MaxBytes && r.count > 1 {
		r.drop()
	}
	r.added++
	return r.added - 1
}

// MarkSlow has Before leave out the input at a place, because replaying a few slow inputs takes longer than all others. A place that
// is forgotten already is ignored.
func (r *Ring) MarkSlow(place int) {
	if i := r.index(place); i >= 0 && i < r.count {
		r.entry(i).slow = true
	}
}

// Before returns the inputs that were added before the one at a place, oldest first, without those that are forgotten or slow.
// They are parts of the ring's memory and valid until the next call of Add or Clear.
func (r *Ring) Before(place int) (inputs [][]byte) { return r.before(place, false) }

// before is Before, with the last input even if it is slow where slow is true.
func (r *Ring) before(place int, slow bool) (inputs [][]byte) {
	at, n := r.unused, min(r.index(place), r.count)
	for i := range n {
		e := r.entry(i)
		if !e.slow || slow && i == n-1 {
			inputs = append(inputs, r.packed[at:at+e.size:at+e.size])
		}
		at += e.size
	}
	return inputs
}

// Snapshot returns a ring of its own with what Before returns for a place, and the input before that place even if it is slow. Its inputs stay
// when those of r are forgotten.
func (r *Ring) Snapshot(place int) *Ring {
	c := new(Ring)
	for _, in := range r.before(place, true) {
		c.Add(in)
	}
	return c
}

// Clear forgets everything, places included, and keeps the memory.
func (r *Ring) Clear() { r.first, r.count, r.packed, r.unused, r.added = 0, 0, r.packed[:0], 0, 0 }

// index returns which of the entries is at a place; it is negative for one that is forgotten.
func (r *Ring) index(place int) int { return r.count - (r.added - place) }

func (r *Ring) entry(i int) *entry { return &r.entries[(r.first+i)%MaxInputs] }

// drop forgets the oldest input.
func (r *Ring) drop() {
	r.unused += r.entry(0).size
	r.first = (r.first + 1) % MaxInputs
	r.count--
}

// compact moves the inputs to the beginning of the memory, or to memory of their size if it has become too large.
func (r *Ring) compact() {
	to := r.packed[:0]
	if cap(to) > maxSpare {
		to = nil
	}
	r.packed, r.unused = append(to, r.packed[r.unused:]...), 0
}
