package virgin

// Deaths tells crashes apart by the counters that they have reached, hits left out, as AFL does with its virgin_crash.
// Counters that differ from one run of an input to the next do not count. The zero value knows none.
type Deaths struct {
	seen     map[uint32]bool // counters that crashes which were news have reached
	variable map[uint32]bool // counters that differ from one run of an input to the next
	known    map[uint64]*path
	paths    []*path // the same, the oldest first
}

// path is what a crash has reached.
type path struct {
	death   Death
	reached []uint32
	news    bool // it has reached something that no earlier one had
}

// Death is how a crash is known.
type Death struct {
	Name  uint64
	Exact bool // all runs of the input have reached the same, so that whoever judges it comes to this name
}

// Again runs an input once more. False: it has not ended as before. The trace is valid until the next run.
type Again func() (trace []byte, same bool, err error)

// How often an input is run again to see what differs, and how often if something does: together with the first run these
// are AFL's CAL_CYCLES and CAL_CYCLES_LONG.
const (
	calibration     = 7
	calibrationLong = 39
)

// Judge judges a crash. False: it has reached nothing that earlier ones had not, and is none of them, so that it is taken for
// one of them. again is called for what seems to be news.
func (d *Deaths) Judge(trace []byte, again Again) (Death, bool, error) {
	first := counters(trace)
	if p := d.find(first); p != nil && p.news {
		return p.death, true, nil
	}
	if !d.unseen(first) {
		return Death{}, false, nil
	}
	exact, err := d.calibrate(first, again, func() bool {
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

// Name names a crash, whether it is news or not. again is called if it is not known.
func (d *Deaths) Name(trace []byte, again Again) (Death, error) {
	first := counters(trace)
	if p := d.find(first); p != nil {
		return p.death, nil
	}
	exact, err := d.calibrate(first, again, func() bool { return d.find(first) != nil })
	if err != nil {
		return Death{}, err
	}
	p := d.find(first)
	if p == nil {
		p = d.add(first, exact)
	}
	return p.death, nil
}

// Known returns how a crash is known, and false if it is not.
func (d *Deaths) Known(trace []byte) (Death, bool) {
	p := d.find(counters(trace))
	if p == nil {
		return Death{}, false
	}
	return p.death, true
}

// calibrate runs an input again to see what differs, until it knows or the caller has enough. exact says that nothing does. The
// first run may differ from all others: it may have begun in a process that had run other inputs.
func (d *Deaths) calibrate(first []uint32, again Again, enough func() bool) (exact bool, err error) {
	var other []uint32
	runs, compared, varies := calibration, 0, false
	for i := 0; i < runs && !enough(); i++ {
		trace, same, err := again()
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
			varies, runs = true, calibrationLong
		}
	}
	return compared >= calibration && !varies, nil
}

// compare notes what differs between two runs of one input, and reports whether anything does.
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
	if len(d.variable) > before { // two paths may be one without them
		clear(d.known)
		for _, p := range d.paths {
			d.index(p)
		}
	}
	return differ
}

// add makes a path known.
func (d *Deaths) add(reached []uint32, exact bool) *path {
	if d.known == nil {
		d.known, d.seen = map[uint64]*path{}, map[uint32]bool{}
	}
	p := &path{death: Death{Name: max(d.hash(reached), 1), Exact: exact}, reached: reached}
	d.paths = append(d.paths, p)
	d.index(p)
	return p
}

// index puts a path where find looks for it. Of two that are the same the one that was news, or the older one, stays.
func (d *Deaths) index(p *path) {
	h := d.hash(p.reached)
	if old := d.known[h]; old == nil || p.news && !old.news {
		d.known[h] = p
	}
}

func (d *Deaths) find(reached []uint32) *path { return d.known[d.hash(reached)] }

// hash returns a number that stands for what was reached, without what varies.
func (d *Deaths) hash(reached []uint32) uint64 {
	h := uint64(1)
	for _, c := range reached {
		if !d.variable[c] {
			h = stir(h, uint64(c))
		}
	}
	return h
}

// unseen reports whether something was reached for the first time that does not vary.
func (d *Deaths) unseen(reached []uint32) bool {
	for _, c := range reached {
		if !d.variable[c] && !d.seen[c] {
			return true
		}
	}
	return false
}

// counters returns the counters that were hit, rising.
func counters(trace []byte) (reached []uint32) {
	for i, hits := range trace {
		if hits != 0 {
			reached = append(reached, uint32(i))
		}
	}
	return reached
}
