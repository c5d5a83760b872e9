package triage

import "regexp"

// locking matches functions that wait for a lock: pthread_mutex_lock and its like; __lll_lock_wait of a static program;
// Mutex::lock_contended and RwLock::read_contended of Rust, RawMutex::lock_slow of its crate parking_lot.
var locking = regexp.MustCompile(`(?i)(?:mutex|rwlock|spin)\w*(?:rd|wr|timed|clock|_)lock|lll_lock_wait|_contended\b|lock_(?:\w+_)?slow|\bsem_(?:timed|clock)?wait`)

// Locked reports whether a thread with that stack waits for a lock, as far as the names of its innermost functions tell.
func (s Stack) Locked() bool {
	top := s.Top()
	for i := range s {
		if &s[i] == top {
			break
		}
		if locking.MatchString(s[i].Function) {
			return true
		}
	}
	return false
}
