package triage

import (
	"slices"
	"strings"
	"testing"
)

// stackOf returns the stack of calls, innermost first, that are written as function or function:line.
func stackOf(calls string) (s Stack) {
	for _, c := range strings.Fields(calls) {
		name, line, _ := strings.Cut(c, ":")
		f := Frame{Function: name, File: "a.c"}
		for _, d := range line {
			f.Line = 10*f.Line + int(d-'0')
		}
		s = append(s, f)
	}
	return s
}

// TestKeyOfOneBug: stacks of one bug have one key, however an input is nested and, where the line says what the bug is, whoever calls.
func TestKeyOfOneBug(t *testing.T) {
	const assert = "json: a.c:9: int str(char *): Assertion `n > 0' failed."
	for _, tt := range []struct {
		name, message string
		fault         Fault
		stacks        []string
		want          string
	}{
		{"a recursion", "", InvalidAccess, []string{"item:4 list:8 value:2 main:1", "item:4 list:8 item:5 list:8 value:2 main:1"}, "item:4 < list < value"},
		{"a function that calls itself", "", HeapOverflow, []string{"walk:4 main:1", "walk:4 walk:7 main:1", "walk:4 walk:7 walk:7 walk:8 main:1"}, "walk:4 < main"},
		{"two ways into a recursion", "", UseAfterFree, []string{"free:1 sum:3 primary:6 unary:5 product:4 sum:3 program:2 main:1", "free:1 sum:3 program:2 main:1"}, "sum:3 < program < main"},
		{"an assertion", assert, Abort, []string{"abort str:9 value:2 main:1", "abort str:9 object:3 value:2 main:1", "abort str:9 main:5"}, "str:9"},
		{"a division", "", Arithmetic, []string{"divide:3 a:1 main:1", "divide:3 b:1 main:1"}, "divide:3"},
		{"undefined behaviour", "", Undefined, []string{"shift:3 a:1 main:1", "shift:3 b:1 main:1"}, "shift:3"},
		{"a leak", "", Leak, []string{"value:3 list:1 main:1", "value:5 list:1 value:9 list:1 main:1"}, "value < list < main"},
	} {
		for _, calls := range tt.stacks {
			r := Report{Fault: tt.fault, Message: tt.message, Stack: stackOf(calls)}
			if got := r.Key(); got != tt.want {
				t.Errorf("%s: %s: key %q, want %q", tt.name, calls, got, tt.want)
			}
		}
	}
}

// TestKeyOfTwoBugs: what may be two bugs has two keys.
func TestKeyOfTwoBugs(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		fault         Fault
		stacks        [2]string
	}{
		{"callers that pass a wrong pointer", "", InvalidAccess, [2]string{"get:3 a:1 main:1", "get:3 b:1 main:1"}},
		{"callers that give up", "", Abort, [2]string{"abort die:3 a:1 main:1", "abort die:3 b:1 main:1"}},
		{"callers of a function that panics for them", "no room", Panic, [2]string{"fail:3 a:1 main:1", "fail:3 b:1 main:1"}},
		{"lines", "", Arithmetic, [2]string{"divide:3 main:1", "divide:4 main:1"}},
		{"leaks of two functions", "", Leak, [2]string{"a:3 main:1", "b:3 main:1"}},
	} {
		var keys []string
		for _, calls := range tt.stacks {
			r := Report{Fault: tt.fault, Message: tt.message, Stack: stackOf(calls)}
			keys = append(keys, r.Key())
		}
		if len(slices.Compact(keys)) != 2 {
			t.Errorf("%s: both have the key %q", tt.name, keys[0])
		}
	}
}

// TestKeyOfExceptions: one line may raise exceptions of several types, which are several bugs; their texts are none of the bug.
func TestKeyOfExceptions(t *testing.T) {
	for _, tt := range []struct {
		fault         Fault
		message, want string
	}{
		{Abort, "terminate called after throwing an instance of 'std::out_of_range': no 'a' in here", "std::out_of_range"},
		{Abort, "terminate called after throwing an instance of 'std::out_of_range'", "std::out_of_range"},
		{Abort, "terminate called after throwing an instance of 'int': 7", "int"},
		{Abort, "terminate called without an active exception", ""},
		{Abort, "terminating due to uncaught exception of type std::runtime_error: of type x: y", "std::runtime_error"},
		{Abort, "terminating with uncaught exception of type app::Error", "app::Error"},
		{Abort, "while it handled an exception of type 'app::Error'", "app::Error"},
		{Abort, "t: a.c:9: int f(): Assertion `type: x' failed.", ""},
		{Exception, "KeyError: 'a'", "KeyError"},
		{Exception, "KeyError", "KeyError"},
		{Exception, "app.errors.Broken: it is: broken", "app.errors.Broken"},
		{Exception, "java.lang.IllegalStateException: no", "java.lang.IllegalStateException"},
		{Exception, "Uncaught TypeError: a is null", "TypeError"},
		{Exception, "TypeError [ERR_INVALID_ARG_TYPE]: The", "TypeError [ERR_INVALID_ARG_TYPE]"},
		{Exception, "undefined method 'a' for nil (NoMethodError)", ""},
		{Exception, "", ""},
	} {
		r := Report{Fault: tt.fault, Message: tt.message, Stack: stackOf("f:3 main:1")}
		without := Report{Fault: tt.fault, Stack: r.Stack}
		want := without.Key()
		if tt.want != "" {
			want += ", " + tt.want
		}
		if tt.fault == Abort && strings.Contains(tt.message, "Assertion") {
			want = "f:3"
		}
		if got := r.Key(); got != want {
			t.Errorf("%s: key %q, want %q", tt.message, got, want)
		}
	}
}

// TestPlaceOfRecursion: an access has one place, however deeply the input is nested.
func TestPlaceOfRecursion(t *testing.T) {
	once, twice := Report{Fault: HeapOverflow, Stack: stackOf("item:4 list:8 main:1")}, Report{Fault: UseAfterFree, Stack: stackOf("item:4 list:8 item:5 list:8 main:1")}
	if once.Place() == "" || once.Place() != twice.Place() {
		t.Errorf("places %q and %q", once.Place(), twice.Place())
	}
}

// TestOwnFrames: libraries are no identity, but what the program has made of C++'s templates is, where nothing else is known.
func TestOwnFrames(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	aborted := Stack{{Module: libc, Offset: 0x8aeec}, {Function: "raise", Module: libc}, {Function: "abort", Module: libc}}
	thread := func(lambda string) Frame {
		return Frame{Function: "std::thread::_State_impl<std::thread::_Invoker<std::tuple<f::" + lambda + "> > >::_M_run", Module: "/x/target"}
	}
	started := Frame{Function: "std::execute_native_thread_routine", Module: "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}
	for _, tt := range []struct {
		name, want string
		stack      Stack
	}{
		{"nothing but libraries", "", append(aborted, started)},
		{"a template", "std::thread::_State_impl<std::thread::_Invoker<std::tuple<f::$_0> > >::_M_run", append(aborted, thread("$_0"), started)},
		{"a function above a template", "f::$_0::operator():7", append(aborted, Frame{Function: "f::$_0::operator()", File: "a.cc", Line: 7}, thread("$_0"), started)},
		{"a specialisation of the program's", "std::hash<Key>::operator():3 < find", append(aborted, Frame{Function: "std::hash<Key>::operator()", File: "key.h", Line: 3},
			Frame{Function: "std::_Hashtable<Key>::find", File: "/usr/include/c++/12/bits/hashtable.h", Line: 9}, Frame{Function: "find", File: "a.cc", Line: 8})},
		{"line tables alone", "audit:7", append(aborted,
			Frame{Function: "__gthread_mutex_lock", File: "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", Line: 749},
			Frame{Function: "lock_guard", File: "/usr/include/c++/12/bits/std_mutex.h", Line: 229}, Frame{Function: "audit", File: "d.cc", Line: 7})},
		{"libc++", "parse:4", append(aborted, Frame{Function: "__throw_out_of_range", File: "/usr/lib/llvm-14/include/c++/v1/string", Line: 9}, Frame{Function: "parse", File: "d.cc", Line: 4})},
		{"a stripped library", "libx.so+0x1234 < main", append(aborted, Frame{Module: "/x/libx.so", Offset: 0x1234}, Frame{Function: "main", File: "a.cc", Line: 8})},
		{"noexcept", "f:3", append(aborted, Frame{Function: "__clang_call_terminate", Module: "/x/target"}, Frame{Function: "f", File: "a.cc", Line: 3})},
	} {
		r := Report{Fault: Abort, Stack: tt.stack}
		if got := r.Key(); got != tt.want {
			t.Errorf("%s: key %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhere: what tells two faults in one line apart is where they are said to be.
func TestWhere(t *testing.T) {
	for _, tt := range []struct {
		fault       Fault
		stack, want string
	}{
		{HeapOverflow, "get:3 a:1 main:1", "in get a.c:3, called by a"},
		{HeapOverflow, "get:3 b:1 a:4 main:1", "in get a.c:3, called by b from a"},
		{HeapOverflow, "get:3 LLVMFuzzerTestOneInput:1", "in get a.c:3"},
		{Arithmetic, "divide:3 a:1 main:1", "in divide a.c:3"},
		{Abort, "abort raise", ""},
	} {
		r := Report{Fault: tt.fault, Stack: stackOf(tt.stack)}
		if got := r.Where(); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.fault, tt.stack, got, tt.want)
		}
	}
}
