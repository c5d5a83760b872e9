package teasel

import "fmt"

// sightings is what a worker knows of findings, its own and those of earlier runs: which of them jobs work on, and how often they have
// occurred since the hub was told.
type sightings struct {
	known    map[string]*sighting     // by finding id
	repeated []string                 // IDs of published findings that have occurred since the last report
	distinct [len(severityNames)]int  // known ones, by severity
	full     [len(severityNames)]bool // there were too many of a severity, and that was noted
	open     int                      // those that jobs work on
	pending  int                      // those of them that are not published
}

// sighting is what a worker knows of one finding.
type sighting struct {
	open       bool // a job works on it
	done       bool // it was confirmed, or enough jobs have failed to reproduce it
	attempts   int  // jobs that have ended without reproducing it every time
	published  bool
	covered    bool   // it was published under another name
	unreported uint64 // occurrences that were not reported yet
	listed     bool   // its ID is in repeated
}

func newSightings() sightings { return sightings{known: map[string]*sighting{}} }

// resume takes over a finding of an earlier run.
func (s *sightings) resume(f *Finding) {
	s.known[f.ID()] = &sighting{attempts: 1, done: f.Confirmed(), published: true}
}

// see counts an occurrence of a finding. nil: too many different ones of its severity have been seen. note, if it is not
// empty, is for the user.
func (s *sightings) see(f *Finding, id string) (k *sighting, note string) {
	k = s.known[id]
	if k == nil {
		if s.distinct[f.Severity] >= severityFindings {
			if !s.full[f.Severity] {
				note = fmt.Sprintf("%d distinct findings of severity %v have been seen; further ones of that severity are ignored",
					severityFindings, f.Severity)
			}
			s.full[f.Severity] = true
			return nil, note
		}
		s.distinct[f.Severity]++
		k = &sighting{}
		s.known[id] = k
	}
	k.unreported++
	s.list(id, k)
	return k, ""
}

// list has a published finding reported, if it has occurred since then.
func (s *sightings) list(id string, k *sighting) {
	if k.published && k.unreported > 0 && !k.listed {
		k.listed = true
		s.repeated = append(s.repeated, id)
	}
}

// begin notes that a job works on a finding.
func (s *sightings) begin(k *sighting) {
	if k.open {
		return
	}
	k.open = true
	s.open++
	if !k.published {
		s.pending++
	}
}

// reopen has a finding confirmed that others have seen so often.
func (s *sightings) reopen(f *Finding) {
	k := s.known[f.ID()]
	if k == nil {
		k = &sighting{}
		s.known[f.ID()] = k
	}
	s.begin(k)
	k.done = false
	k.unreported += f.Occurrences
}

// publish returns how often a finding that is published now has occurred since it was last reported.
func (s *sightings) publish(id string) (times uint64) {
	k := s.known[id]
	if k.open && !k.published {
		s.pending--
	}
	times = k.unreported
	k.unreported, k.published = 0, true
	return times
}

// cover takes the names of a finding that is about to be published: what is seen under the others is not reported. False: the finding
// was published under another name already.
func (s *sightings) cover(id string, others []string) bool {
	own := s.known[id]
	for _, other := range others {
		k := s.known[other]
		if k == nil {
			k = &sighting{}
			s.known[other] = k
		}
		if k.published && !own.published {
			own.covered = true
		}
	}
	if own.covered {
		return false
	}
	for _, other := range others {
		if k := s.known[other]; !k.published {
			k.done, k.covered = true, true
		}
	}
	return true
}

// close notes that the job for a finding has ended. slow says that it is none: the input was only slow.
func (s *sightings) close(id string, found, slow bool) {
	k := s.known[id]
	if k == nil {
		return
	}
	if k.open {
		s.open--
		if !k.published {
			s.pending--
		}
	}
	k.open, k.done = false, found || k.covered
	switch {
	case slow:
		k.unreported = 0
	case !k.done:
		k.attempts++
		k.done = k.attempts >= maxAttempts
	}
	s.list(id, k)
}

// report returns how often published findings have occurred since the last call.
func (s *sightings) report() (out []Sighting) {
	for _, id := range s.repeated {
		k := s.known[id]
		out = append(out, Sighting{id, k.unreported})
		k.unreported, k.listed = 0, false
	}
	s.repeated = s.repeated[:0]
	return out
}
