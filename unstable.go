package teasel

import "slices"

// unstableSet holds the features that did not recur when a testcase was calibrated. They no longer count as new, like the
// variable edges of AFL++ (calibrate_case marks them as discovered).
type unstableSet struct {
	known      map[Feature]struct{}
	order      []unstableFeature
	reported   int  // of order, to the reporters
	calibrated bool // a testcase was calibrated
}

type unstableFeature struct {
	Feature
	from int // number of the link that found it
}

func newUnstableSet() unstableSet { return unstableSet{known: map[Feature]struct{}{}} }

// add returns those of fs that were not known.
func (u *unstableSet) add(fs []Feature, from int) (fresh []Feature) {
	for _, f := range fs {
		if _, dup := u.known[f]; !dup {
			u.known[f] = struct{}{}
			u.order = append(u.order, unstableFeature{f, from})
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// since returns what others than a link have found from a place in the order on, and the next place.
func (u *unstableSet) since(at, link int) (fs []Feature, next int) {
	for _, f := range u.order[at:] {
		if f.from != link {
			fs = append(fs, f.Feature)
		}
	}
	return fs, len(u.order)
}

// news returns what has not been reported yet.
func (u *unstableSet) news() (fs []Feature) {
	fs, u.reported = u.since(u.reported, -1)
	return fs
}

func (u *unstableSet) sorted() []Feature {
	fs, _ := u.since(0, -1)
	slices.Sort(fs)
	return fs
}

// without returns the stable ones of fs.
func (u *unstableSet) without(fs FeatureSet) FeatureSet {
	if len(u.known) == 0 {
		return fs
	}
	var stable []Feature
	for f := range fs.All() {
		if _, unstable := u.known[f]; !unstable {
			stable = append(stable, f)
		}
	}
	if len(stable) == fs.Len() {
		return fs // shares its memory with the worker's
	}
	return NewFeatureSet(stable...)
}
