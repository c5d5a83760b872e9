package triage

import "testing"

// TestAbortPlace: the text does not depend on the name of the program or on its input.
func TestAbortPlace(t *testing.T) {
	for text, want := range map[string]struct {
		place string
		sure  bool
	}{
		"as: as.c:5: A: Assertion `b[0]!='a'' failed.\nAborted\n":          {"as.c:5: A: Assertion `b[0]!='a'' failed.", true},
		"hello\n/x/a b: ../src/a.cc:17: int f(int): Assertion `n' failed.": {"../src/a.cc:17: int f(int): Assertion `n' failed.", true},
		"/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<int>::operator[](size_type): Assertion '__n < this->size()' failed.": {
			"/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<int>::operator[](size_type): Assertion '__n < this->size()' failed.", false},
		"*** buffer overflow detected ***: terminated\n": {"*** buffer overflow detected ***", false},
		"terminate called after throwing an instance of 'std::out_of_range'\n  what():  basic_string::at: __n (which is 20) >= this->size() (which is 3)\n": {
			"terminate called after throwing an instance of 'std::out_of_range' basic_string::at", false},
		"terminate called after throwing an instance of 'E'\n  what():  no such key \"abc\"\n":    {"terminate called after throwing an instance of 'E' no such key", false},
		"terminate called after throwing an instance of 'int'\n":                                  {"terminate called after throwing an instance of 'int'", false},
		"terminate called without an active exception\n":                                          {"terminate called without an active exception", false},
		"terminate called after throwing an instance of 'int'\nteasel: exception of type i: 42\n": {"terminate called after throwing an instance of 'int'", false},
		"teasel: exception of type N3app5ErrorE\n":                                                {"while it handled an exception of type 'app::Error'", false},
		"Assertion failed\n": {},
	} {
		if place, sure := AbortPlace(text); place != want.place || sure != want.sure {
			t.Errorf("%q: %q %v, want %q %v", text, place, sure, want.place, want.sure)
		}
	}
}

// TestAbortMessage: the message says why, on one line that is safe to print.
func TestAbortMessage(t *testing.T) {
	for text, want := range map[string]string{
		"terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\n":                                               "terminate called after throwing an instance of 'std::out_of_range': map::at",
		"terminate called after throwing an instance of 'E'\n  what():  a\x1b[1mb\xff\n":                                                         "terminate called after throwing an instance of 'E': a?[1mb?",
		"terminate called after throwing an instance of 'int'\n":                                                                                 "terminate called after throwing an instance of 'int'",
		"terminate called after throwing an instance of 'int'\nteasel: exception of type i: -42\n":                                               "terminate called after throwing an instance of 'int': -42",
		"terminate called after throwing an instance of 'E'\n  what():  a\nteasel: exception of type 1E\n":                                       "terminate called after throwing an instance of 'E': a",
		"teasel: exception of type PKc: no such key\n":                                                                                           "while it handled an exception of type 'char const*': no such key",
		"teasel: exception of type N12_GLOBAL__N_15ErrorE\ndouble free or corruption (out)\n":                                                    "double free or corruption (out)",
		"pure virtual method called\nterminate called without an active exception\n":                                                             "pure virtual method called",
		"libc++abi: terminating with uncaught exception of type std::runtime_error: no such key: \"a\"\n":                                        "terminating with uncaught exception of type std::runtime_error: no such key: \"a\"",
		"libc++abi: terminating due to uncaught exception of type int\n":                                                                         "terminating due to uncaught exception of type int",
		"terminate called after throwing an instance of 'std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >'": "terminate called after throwing an instance of 'std::string'",
		"x: a.c:7: f: Assertion `n > 0' failed.\n":                                                                                               "x: a.c:7: f: Assertion `n > 0' failed.",
		"Assertion failed: n > 0 (a.c: f: 7)\n":                                                                                                  "Assertion failed: n > 0 (a.c: f: 7)",
		"Fatal glibc error: malloc.c:2599 (sysmalloc): assertion failed: n\n":                                                                    "Fatal glibc error: malloc.c:2599 (sysmalloc): assertion failed: n",
		"hello\ndouble free or corruption (!prev)\n":                                                                                             "double free or corruption (!prev)",
		"*** %n in writable segment detected ***\n":                                                                                              "*** %n in writable segment detected ***",
		"hello\n": "",
	} {
		if got := AbortMessage(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSymboliseTypes: the types of exceptions have their source names, and the text says the same as before.
func TestSymboliseTypes(t *testing.T) {
	for text, want := range map[string]string{
		"a\nteasel: exception of type St16invalid_argument\nb\n":                            "a\nteasel: exception of type 'std::invalid_argument'\nb\n",
		"teasel: exception of type N3app5ErrorE":                                            "teasel: exception of type 'app::Error'",
		"teasel: exception of type PKc: no such key: x\n":                                   "teasel: exception of type 'char const*': no such key: x\n",
		"teasel: exception of type NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE: x": "teasel: exception of type 'std::string': x",
		"teasel: exceptional of type N3app5ErrorE\n":                                        "teasel: exceptional of type N3app5ErrorE\n",
	} {
		got := Reader{}.Symbolise(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if a, b := AbortMessage(text), AbortMessage(got); a != b {
			t.Errorf("%q: message %q, and %q of the text with source names", text, a, b)
		}
		if again := (Reader{}).Symbolise(got); again != got {
			t.Errorf("%q: a second time %q", got, again)
		}
	}
}

// TestLastLine: what a sanitizer writes is not the program's own.
func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nfatal: b\n\n": "fatal: b",
		"":                "",
		"fatal: b\nteasel: exception of type i: 42\n": "fatal: b",
		"fatal: b\nAddressSanitizer:DEADLYSIGNAL\n=====\n==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n    #0 0x1\n": "fatal: b",
	} {
		if got := LastLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
