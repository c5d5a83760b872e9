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
		"terminate called after throwing an instance of 'E'\n  what():  no such key \"abc\"\n": {"terminate called after throwing an instance of 'E' no such key", false},
		"terminate called after throwing an instance of 'int'\n":                               {"terminate called after throwing an instance of 'int'", false},
		"terminate called without an active exception\n":                                       {"terminate called without an active exception", false},
		"Assertion failed\n": {},
	} {
		if place, sure := AbortPlace(text); place != want.place || sure != want.sure {
			t.Errorf("%q: %q %v, want %q %v", text, place, sure, want.place, want.sure)
		}
	}
}
