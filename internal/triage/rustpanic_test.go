package triage

import "testing"

// TestRustPanic: panics of all versions of Rust are recognised, with the position that they name; other aborts stay aborts.
func TestRustPanic(t *testing.T) {
	user := Frame{Function: "a::parse", File: "/w/src/lib.rs", Line: 1}
	machinery := []Frame{{Function: "raise", Module: "/lib/libc.so.6"}, {Function: "std::process::abort"},
		{Function: "core::panicking::panic_fmt"}, {Function: "index<u8>", File: "/rustc/0123abcd/library/core/src/slice/index.rs"},
		{Function: "get", File: "/usr/src/rustc-1.63.0/library/alloc/src/vec/mod.rs"},
		{Function: "get", File: "/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs"}}
	for _, test := range []struct {
		name, report  string
		stack         []Frame
		fault         Fault
		message, want string
	}{
		{"new", "noise\nthread 'main' (12) panicked at src/lib.rs:3:5:\nindex out of bounds: the len is 3 but the index is 5\nnote: run\n",
			append(machinery, user), Panic, "index out of bounds: the len is 3 but the index is 5", "a::parse:3:5"},
		{"old", "thread '<unnamed>' panicked at 'it's\nmore', src/lib.rs:3:5\nnote: run\n", append(machinery, user), Panic, "it's", "a::parse:3:5"},
		{"other file", "thread 'a b' panicked at other/src/main.rs:3:5:\nboom\n", append(machinery, user), Panic, "boom", "a::parse:1"},
		{"caught before", "thread 'x' panicked at src/lib.rs:9:9:\none\nthread 'y' panicked at src/lib.rs:3:5:\ntwo\n", append(machinery, user), Panic, "two", "a::parse:3:5"},
		{"no stack", "thread 'main' panicked at src/lib.rs:3:5:\nboom\n", machinery, Panic, "boom", "src/lib.rs:3:5"},
		{"allocation", "memory allocation of 77 bytes failed\n", append(machinery, user), OutOfMemory, "memory allocation of 77 bytes failed", "a::parse:1"},
		{"overflow", "\nthread 'main' has overflowed its stack\nfatal runtime error: stack overflow\n", nil, Recursion, "thread 'main' has overflowed its stack", ""},
		{"none", "they panicked at 5:3:2: all\n", append(machinery, user), Abort, "", "a::parse:1"},
	} {
		r := &Report{Fault: AbortFault(test.report), Message: AbortMessage(test.report), Stack: append(Stack(nil), test.stack...)}
		r.RustPanic(test.report)
		if r.Fault != test.fault || r.Message != test.message || r.Key() != test.want {
			t.Errorf("%s: %s %q in %q, want %s %q in %q", test.name, r.Fault, r.Message, r.Key(), test.fault, test.message, test.want)
		}
		if r.Fault != Abort && test.stack != nil && len(r.Stack) != 1 {
			t.Errorf("%s: %d frames, want only that of the program", test.name, len(r.Stack))
		}
	}
}

// TestDemangled: names in the three manglings, and names that are not mangled.
func TestDemangled(t *testing.T) {
	for _, test := range [][2]string{
		{"_ZN7planted1_19__libfuzzer_sys_run17h0123456789abcdefE", "planted::_::__libfuzzer_sys_run"},
		{"_ZN7planted7recurse17hf165e32c62ba3d9eE.llvm.123", "planted::recurse"},
		{"_ZN43_$LT$a..B$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE", "<a::B as core::fmt::Display>::fmt"},
		{"_RNvNtCsjrHSEGnQ3l9_3std7process5abort", "std::process::abort"},
		{"_ZN2ns5Class6methodEiPKc", "ns::Class::method"},
		{"_ZN99x17h0123456789abcdefE", "_ZN99x17h0123456789abcdefE"},
		{"main", "main"},
		{"", ""},
	} {
		if got := Demangled(test[0]); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
}
