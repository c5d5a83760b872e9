package virgin

// Deaths distinguishes crashes by the set of counters that they have reached, regardless of the number of hits, as AFL does with
// virgin_crash. Counters that differ between runs of the same input are ignored. In the zero value no crash is known. It is for
// one goroutine at a time.
type Deaths struct {
	seen     map[uint32]bool // counters that new crashes have reached
	variable map[uint32]bool // counters that differ between runs of the same input
	known    map[uint64]*crashPath
	paths    []*crashPath // all paths in known, the oldest first
}

// crashPath is the set of counters that a crash has reached.
type crashPath struct {
	death   Death
	reached []uint32
	news    bool // the crash has reached a counter that no earlier one had reached
}

// Death identifies a crash.
type Death struct {
	Name  uint64
	Exact bool // all runs of the input have reached the same counters, so that another Deaths gives the crash the same Name
}

// Rerun runs an input once more and returns the counters, which are valid until the next run. same is false if the run has not
// ended as the first one did.
type Rerun func() (trace []byte, same bool, err error)

// How often an input is run again to find variable counters, and how often if there are any: together with the first run, these
// are AFL's CAL_CYCLES and CAL_CYCLES_LONG.
const (
	calibrationRuns     = 7
	calibrationRunsLong = 39
)

// Judge identifies a crash found while fuzzing. It returns false if the crash has reached only counters that earlier crashes had
// reached, but not the same set as any crash that Judge has accepted: such a crash is treated as a duplicate. rerun is called if
// the crash seems to be new.
func (d *Deaths) Judge(trace []byte, rerun Rerun) (Death, bool, error) {
	first := counters(trace)
	if p := d.find(first); p != nil && p.news {
		return p.death, true, nil
	}
	if !d.unseen(first) {
		return Death{}, false, nil
	}
	exact, err := d.calibrate(first, rerun, func() bool {
		p := d.find(first)
		return p != nil && p.news || !d.unseen(first)
	})
	if err != nil {
		return Death{}, false, err
	}
	p := d.find(first)
	switch {
	case p != nil && p.news:
		return p.death, true, nil
	case !d.unseen(first):
		return Death{}, false, nil
	case p == nil:
		p = d.add(first, exact)
	}
	p.news = true
	for _, c := range first {
		d.seen[c] = true
	}
	return p.death, true, nil
}

// Name identifies a crash whether it is new or not. rerun is called if the crash is not known.
func (d *Deaths) Name(trace []byte, rerun Rerun) (Death, error) {
	first := counters(trace)
	if p := d.find(first); p != nil {
		return p.death, nil
	}
	exact, err := d.calibrate(first, rerun, func() bool { return d.find(first) != nil })
	if err != nil {
		return Death{}, err
	}
	p := d.find(first)
	if p == nil {
		p = d.add(first, exact)
	}
	return p.death, nil
}

// Known identifies a crash that Judge or Name has seen before, and returns false otherwise.
func (d *Deaths) Known(trace []byte) (Death, bool) {
	p := d.find(counters(trace))
	if p == nil {
		return Death{}, false
	}
	return p.death, true
}

// calibrate runs an input repeatedly to find variable counters, until enough returns true or there were enough runs. exact reports
// that there are none. The first run may differ from all others, since it may have been made in a process that had run other
// inputs: it is not considered for exact.
func (d *Deaths) calibrate(first []uint32, rerun Rerun, enough func() bool) (exact bool, err error) {
	var other []uint32
	runs, compared, varies := calibrationRuns, 0, false
	for i := 0; i < runs && !enough(); i++ {
		trace, same, err := rerun()
		if err != nil {
			return false, err
		}
		if !same {
			continue
		}
		c := counters(trace)
		d.compare(first, c)
		if compared++; compared == 1 {
			other = c
		} else if d.compare(other, c) {
			varies, runs = true, calibrationRunsLong
		}
	}
	return compared >= calibrationRuns && !varies, nil
}

// compare records the counters that differ between two runs of the same input, and reports whether there are any.
func (d *Deaths) compare(a, b []uint32) (differ bool) {
	before := len(d.variable)
	differs := func(c uint32) {
		if differ = true; d.variable == nil {
			d.variable = map[uint32]bool{}
		}
		d.variable[c] = true
	}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			differs(a[0])
			a = a[1:]
		default:
			differs(b[0])
			b = b[1:]
		}
	}
	for _, c := range a {
		differs(c)
	}
	for _, c := range b {
		differs(c)
	}
	if len(d.variable) > before { // without these, two paths may have become equal
		clear(d.known)
		for _, p := range d.paths {
			d.index(p)
		}
	}
	return differ
}

// add adds a path to the known ones.
func (d *Deaths) add(reached []uint32, exact bool) *crashPath {
	if d.known == nil {
		d.known, d.seen = map[uint64]*crashPath{}, map[uint32]bool{}
	}
	p := &crashPath{death: Death{Name: max(d.hash(reached), 1), Exact: exact}, reached: reached}
	d.paths = append(d.paths, p)
	d.index(p)
	return p
}

// index adds a path to the index. Of two equal paths the one that was new, or else the older one, is kept.
func (d *Deaths) index(p *crashPath) {
	h := d.hash(p.reached)
	if old := d.known[h]; old == nil || p.news && !old.news {
		d.known[h] = p
	}
}

func (d *Deaths) find(reached []uint32) *crashPath { return d.known[d.hash(reached)] }

// hash returns a hash of the counters that are not variable.
func (d *Deaths) hash(reached []uint32) uint64 {
	h := uint64(1)
	for _, c := range reached {
		if !d.variable[c] {
			h = mix(h, uint64(c))
		}
	}
	return h
}

// unseen reports whether a counter that is not variable was reached for the first time.
func (d *Deaths) unseen(reached []uint32) bool {
	for _, c := range reached {
		if !d.variable[c] && !d.seen[c] {
			return true
		}
	}
	return false
}

// counters returns the indexes of the counters that are not 0, in ascending order.
func counters(trace []byte) (reached []uint32) {
	for i, hits := range trace {
		if hits != 0 {
			reached = append(reached, uint32(i))
		}
	}
	return reached
}
