package triage

import "testing"

func TestLocked(t *testing.T) {
	own := Frame{Function: "store", File: "store.c", Line: 7}
	for _, test := range []struct {
		inner string
		want  bool
	}{
		{"pthread_mutex_lock", true}, {"__pthread_mutex_lock", true}, {"__interceptor_pthread_mutex_lock", true}, {"pthread_mutex_timedlock", true},
		{"pthread_rwlock_rdlock", true}, {"pthread_rwlock_wrlock", true}, {"pthread_rwlock_clockwrlock", true}, {"pthread_spin_lock", true},
		{"__lll_lock_wait", true}, {"sem_wait", true}, {"sem_timedwait", true},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", true}, {"std::sys::sync::rwlock::futex::RwLock::write_contended", true},
		{"pthread_cond_wait", false}, {"pthread_mutex_unlock", false}, {"pthread_join", false}, {"std::thread::join", false}, {"nanosleep", false}, {"sem_post", false},
	} {
		if got := (Stack{{Function: "futex_wait", Module: "/lib/libc.so.6"}, {Function: test.inner, Module: "/lib/libc.so.6"}, own}).Locked(); got != test.want {
			t.Errorf("%s: %v, want %v", test.inner, got, test.want)
		}
	}
	if (Stack{own, {Function: "pthread_mutex_lock", Module: "/lib/libc.so.6"}}).Locked() {
		t.Error("a function that a lock has called does not wait for it")
	}
}
