package teasel

import "slices"

// shorten leaves out the parts of a long input that are not needed for the finding. The shortest beginning that reproduces it is found
// from the end on; its last part is needed. Of the parts before that, a binary search finds the last one from which on they suffice; that
// one is needed, and so on with those behind it: each that is needed takes as many executions as the logarithm of how many parts there
// are. All run on fresh targets.
func (p *reproducer[T]) shorten(long T) T {
	all, runs := long, 0
	shows := func(kept ...[]int) (ok, goOn bool) {
		if runs++; runs > maxShorten {
			return false, false
		}
		in, ok := p.candidate(p.q.mut.(Joiner[T]).Keep(all, slices.Concat(kept...)), new(int), true)
		if ok {
			long = in
		}
		return ok, true
	}
	rest := p.beginning(upTo(parts(p.q.mut, all)), shows)
	if len(rest) == 0 {
		return long
	}
	last := rest[len(rest)-1:]
	rest = rest[:len(rest)-1]
	var needed []int
	for {
		low, high := 0, len(rest)+1 // the finding needs none before low, and some before high
		for at := len(rest); high-low > 1; at = (low + high) / 2 {
			switch ok, goOn := shows(needed, rest[at:], last); {
			case !goOn:
				return long
			case ok:
				low = at
			default:
				high = at
			}
		}
		if low == len(rest) {
			return long
		}
		needed, rest = append(needed, rest[low]), rest[low+1:]
	}
}

// upTo returns the numbers of the first n parts.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// beginning returns the shortest beginning of all that shows the finding; nil: there were too many executions.
func (p *reproducer[T]) beginning(all []int, shows func(...[]int) (ok, goOn bool)) []int {
	low, high := 0, len(all) // that many do not suffice, and suffice
	for step := 1; high-low > 1; step *= 2 {
		n := (low + high) / 2
		if low == 0 { // most need the last parts
			n = max(len(all)-step, 1)
		}
		switch ok, goOn := shows(all[:n]); {
		case !goOn:
			return nil
		case ok:
			high = n
		default:
			low = n
		}
	}
	return all[:high]
}

// simplify minimises a finding in slices. Candidates run on the target as it is; after each slice the simplest one is verified on a
// fresh target, and published. If that does not reproduce the finding, all candidates from then on run on a fresh target.
func (p *reproducer[T]) simplify(in T, budget int) {
	published := p.r.version > 0
	for {
		slice := min(budget, minimizeSlice)
		simple, done := p.slice(in, &slice)
		simpler := p.q.mut.Complexity(simple) < p.q.mut.Complexity(in)
		minimal := done
		if simpler && !p.attempt(simple, true, false) {
			if !p.starts { // what this slice has cost is not counted: it has only shown that
				p.starts, p.next = true, 0
				continue
			}
			simpler, minimal = false, false
		}
		budget -= min(budget, minimizeSlice) - slice
		if simpler {
			in = simple
			p.setInput(in)
		}
		p.r.finding.Minimal = minimal
		if simpler || done || !published {
			p.publish(in)
			published = true
		}
		if done || budget <= 0 || p.r.outcome == outcomeDropped {
			return
		}
		p.class = classMinimize
	}
}

// slice minimises an input until the budget, of the price of executions, is spent. done is false if it could go on.
func (p *reproducer[T]) slice(in T, budget *int) (out T, done bool) {
	return descend(p.q.mut, in, 1, &p.next, func(ins []T) (int, T, bool) {
		if *budget <= 0 {
			return -1, in, false
		}
		if c, ok := p.candidate(ins[0], budget, p.starts); ok {
			return 0, c, true
		}
		return -1, in, true
	})
}

// candidate reports whether an input that is to be simpler reproduces the finding, perhaps after it was repaired.
func (p *reproducer[T]) candidate(c T, budget *int, fresh bool) (T, bool) {
	attempt := func(quick bool) bool {
		ok := p.attempt(c, fresh, quick)
		*budget -= p.price(fresh)
		return ok
	}
	ok := attempt(true)
	if m, repairs := p.q.mut.(Repairer[T]); !ok && repairs {
		var zero T
		if repaired, changed := m.Repair(zero, c, p.operands); changed {
			c = repaired
			ok = attempt(true)
		}
	}
	if join, _ := p.q.mut.(Joiner[T]); !ok && join != nil && p.masked {
		if n := join.Parts(c); p.fewestMasked == 0 || n < p.fewestMasked {
			if p.obs.cutShort() { // perhaps it is only slow
				ok = attempt(false)
			}
			if p.masked {
				p.fewestMasked = n
			}
		}
	}
	return c, ok
}
