package triage

import (
	"syscall"
	"testing"
)

// TestReports reads reports with and without symbols, in the formats of several versions of the sanitizers.
func TestReports(t *testing.T) {
	place := func(module string, offset uint64) []Frame {
		return []Frame{{Function: "at", Module: module, Offset: offset}}
	}
	for _, test := range []struct {
		report      string
		fault       Fault
		access, key string
	}{
		{"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60b at pc 0x1 bp 0x2 sp 0x3\nREAD of size 4 at 0x60b thread T0\n" +
			"    #0 0x4f3 in Parser::next(int) /src/p.cc:12:3\n    #1 0x4f4 in main /src/m.cc:3\n\n0x60b is located\n    #0 0x1 in free\n",
			UseAfterFree, "read", "Parser::next:12 < main"},
		{"==7==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7ff at pc 0x1\nWRITE of size 1 at 0x7ff thread T0\n    #0 0x4f3b  (/tmp/a+0x4f3b)\n",
			StackOverflow, "write", "at"},
		{"==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x4f3b  (/tmp/a+0x4f3b) (BuildId: 12ab)\n", Uninitialised, "", "at"},
		{"==7==ERROR: AddressSanitizer: attempting double-free on 0x60 in thread T0:\n    #0 0x1 in free (/tmp/a+0x1)\n    #1 0x2 in drop a.c:9:1\n", DoubleFree, "", "drop:9"},
		{"a.c:3:5: runtime error: index 9 out of bounds for type 'int[4]'\n    #0 0x1 in get /src/a.c:3:5\n", Undefined, "", "get:3"},
		{"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000010 (pc 0x55 bp 0x1 sp 0x2 T0)\n==7==The signal is caused by a WRITE memory access.\n    #0 0x55 in put a.c:2:1\n",
			NullAccess, "write", "put:2"},
		{"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x414141414141 (pc 0x414141414141 bp 0x1 sp 0x2 T0)\n==7==The signal is caused by a READ memory access.\n",
			WildJump, "execute", ""},
		{"==7==ERROR: AddressSanitizer: something-new on address 0x1\n    #0 0x55 in put a.c:2:1\n", Sanitizer, "", "put:2"},
		{"WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x5643 by thread T2:\n    #0 0x4 in put a.c:9:1\n\n" +
			"  Previous atomic read of size 4 at 0x5643 by main thread:\n    #0 0x5 in get a.c:2:1\n    #1 0x6 in main a.c:20:1\n\n" +
			"  Thread T2 (tid=9, running) created by main thread at:\n    #0 0x7 in begin a.c:7:1\n", DataRace, "", "get:2 < main"},
		{"WARNING: ThreadSanitizer: data race (pid=7)\n  Atomic read of size 4 at 0x5643 by main thread:\n    #0 0x5 in get a.c:2:1\n    #1 0x6 in main a.c:20:1\n\n" +
			"  Previous write of size 4 at 0x5643 by thread T2:\n    #0 0x4 in put a.c:9:1\n\n", DataRace, "", "get:2 < main"},
		{"WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x5643 by thread T2:\n    #0 0x4 in put a.c:9:1\n\n" +
			"  Previous write of size 4 at 0x5643 by thread T1:\n    [failed to restore the stack]\n\n" +
			"  Thread T2 (tid=9, running) created by main thread at:\n    #0 0x7 in begin a.c:7:1\n", DataRace, "", "put:9"},
		{"WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)\n  Cycle in lock order graph: M1 => M2 => M1\n\n" +
			"  Mutex M2 acquired here while holding mutex M1 in main thread:\n    #0 0x4 in pthread_mutex_lock (/tmp/a+0x4)\n    #1 0x4 in put a.c:9:1\n", LockOrder, "", "put:9"},
		{"a.out: a.c:9: put: Assertion `n' failed.\n==7==ERROR: ThreadSanitizer: ABRT on unknown address 0x6afc (pc 0x7f)\n    #0 0x4 in abort (/lib/libc.so.6+0x4)\n    #1 0x4 in put a.c:9:1\n", Abort, "", "put:9"},
		{"/my code/a b.c:3:5: runtime error: division by zero\n", Undefined, "", "/my code/a b.c:3"},
		{"==7==ERROR: AddressSanitizer: strcpy-param-overlap: memory ranges [0x1,0x4) and [0x2, 0x5) overlap\n    #0 0x1 in strcpy (/tmp/a+0x1)\n" +
			"    #1 0x2 in P::put(int, char const*) /my code/a b.c:9:1\n    #2 0x3  (/my code/a+0x3)\n", Sanitizer, "", "P::put:9 < at"},
		{"==7==ERROR: AddressSanitizer: new-delete-type-mismatch on 0x60 in thread T0:\n  object passed to delete has wrong type:\n    #0 0x1 in operator delete(void*, unsigned long) (/tmp/a+0x1)\n    #1 0x2 in drop a.cc:9:1\n",
			BadFree, "", "drop:9"},
		{"==7==ERROR: AddressSanitizer: calloc parameters overflow: count * size (9 * 9) cannot be represented in type size_t (thread T0)\n    #0 0x1 in calloc (/tmp/a+0x1)\n    #1 0x2 in make a.c:9:1\n",
			OutOfMemory, "", "make:9"},
		{"==7==ERROR: AddressSanitizer: negative-size-param: (size=-5)\n    #0 0x1 in memcpy (/tmp/a+0x1)\n    #1 0x2 in put a.c:9:1\n", Sanitizer, "", "put:9"},
		{"==7==ERROR: AddressSanitizer: unknown-crash on address 0x8000000020bd at pc 0x5\nWRITE of size 16381 at 0x8000000020bd thread T0\n    #0 0x1 in memcpy (/tmp/a+0x1)\n    #1 0x2 in put a.c:9:1\n",
			InvalidAccess, "write", "put:9"},
		{"malloc(): corrupted top size\n==7==ERROR: ThreadSanitizer: ABRT on unknown address 0x6afc (pc 0x7f)\n    #0 0x4 in abort (/lib/libc.so.6+0x4)\n    #1 0x4 in put a.c:9:1\n", HeapOverflow, "", "put"},
		{"==7== ERROR: libFuzzer: deadly signal\n    #0 0x1 in raise (/tmp/a+0x1)\n    #1 0x2 in put a.c:9:1\n", Signal, "", "put:9"},
		{"a.c:3:5: runtime error: division by zero\n    #0 0x1 in get /src/a.c:3:5\n\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x1\nREAD of size 1\n    #0 0x2 in put /src/a.c:9:1\n",
			HeapOverflow, "read", "put:9"}, // the program has continued after the first report
		{"a.c:3:5: runtime error: division by zero\n    #0 0x1 in get /src/a.c:3:5\n\n==7==ERROR: AddressSanitizer: ABRT on unknown address 0x60 (pc 0x1)\n    #0 0x2 in abort /src/a.c:9:1\n",
			Undefined, "", "get:3"},
		{"==7==ERROR: AddressSanitizer: unknown-crash on address 0x1\n    #0 0x1 in main /src/a.c:9:1\n    #1 0x2 in _start (/tmp/a+0x2)\n", InvalidAccess, "", "main:9"},
		{"nothing of the kind\n", InvalidAccess, "", ""},
	} {
		r := &Report{Fault: InvalidAccess}
		Reader{Frames: place}.Refine(r, test.report, "")
		if r.Fault != test.fault || r.Access != test.access || r.Key() != test.key {
			t.Errorf("%s\nwas read as %s %q in %q, want %s %q in %q", test.report, r.Fault, r.Access, r.Key(), test.fault, test.access, test.key)
		}
	}
}

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "Parser::next(int, char const*)": "Parser::next", "operator delete(void*, unsigned long)": "operator delete",
		"A::operator()(int) const": "A::operator()", "(anonymous namespace)::f(int)": "(anonymous namespace)::f",
		"a::(anonymous namespace)::f(void (*)(int))": "a::(anonymous namespace)::f", "(unknown)": "(unknown)", "operator(": "operator(",
	} {
		if got := withoutParameters(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}

// TestUndefinedThenAssertion: of a report of undefined behaviour and a failed assertion, the later one is the reason for the end.
func TestUndefinedThenAssertion(t *testing.T) {
	const undefined, assertion = "a.c:3:5: runtime error: division by zero\n    #0 0x1 in get /src/a.c:3:5\n", "a: a.c:9: put: Assertion `n' failed.\n"
	for text, want := range map[string]Fault{undefined + assertion: Abort, assertion + undefined: Undefined, undefined: Undefined} {
		r := &Report{Fault: OfSignal(syscall.SIGABRT, text), Message: AbortMessage(text)}
		Reader{}.Refine(r, text, text)
		if r.Fault != want {
			t.Errorf("%q was read as %s, want %s", text, r.Fault, want)
		}
	}
}

// TestOverlapIsOfMemory: an out-of-bounds access has the same place if AddressSanitizer reports it as an overlap.
func TestOverlapIsOfMemory(t *testing.T) {
	const stack = "    #0 0x1 in __asan_memcpy (/tmp/a+0x1)\n    #1 0x2 in main /src/a.c:24:2\n"
	var places []string
	for _, kind := range []string{"heap-buffer-overflow on address 0x60 at pc 0x1", "memcpy-param-overlap: memory ranges [0x1,0x4) and [0x2, 0x5) overlap", "negative-size-param: (size=-5)"} {
		r := &Report{}
		Reader{}.Refine(r, "==7==ERROR: AddressSanitizer: "+kind+"\n"+stack, "")
		places = append(places, r.Place())
	}
	if places[0] == "" || places[1] != places[0] || places[2] != places[0] {
		t.Errorf("places %q, want one", places)
	}
}
