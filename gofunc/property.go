package gofunc

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"testing"
)

// The properties compare as reflect.DeepEqual does. Where that is too strict, as for values that hold a NaN or a nil slice
// that comes back empty, compare in the test.

// RoundTrip fails the test if decode does not bring back the value that encode was given. An error of encode is no
// failure: not everything can be encoded.
func RoundTrip[T any](t testing.TB, in T, encode func(T) ([]byte, error), decode func([]byte) (T, error)) {
	t.Helper()
	data, err := encode(in)
	if err != nil {
		return
	}
	back, err := decode(data)
	if err != nil {
		t.Fatalf("what was encoded cannot be decoded: %v\n  value   %+v\n  encoded %q", err, in, data)
	}
	if !reflect.DeepEqual(in, back) {
		t.Fatalf("the round trip changes the value\n  value   %+v\n  encoded %q\n  decoded %+v", in, data, back)
	}
}

// Idempotent fails the test if f gives something else for what it has given: cleaning a clean path, sorting what is sorted.
func Idempotent[T any](t testing.TB, in T, f func(T) T) {
	t.Helper()
	once := f(in)
	shown, was := fmt.Sprintf("%+v", once), dump(once) // f may change its argument
	if twice := f(once); dump(twice) != was {
		t.Fatalf("a second time changes the value\n  value %+v\n  once  %s\n  twice %+v", in, shown, twice)
	}
}

// Same fails the test if two functions that should do the same do not.
func Same[T any](t testing.TB, in T, f, g func(T) any) {
	t.Helper()
	a, b := f(in), g(in)
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("the two disagree\n  value  %+v\n  first  %+v\n  second %+v", in, a, b)
	}
}

// NoPanic fails the test if f panics. Unlike a panic of the test itself, which would be as much of a failure, it names the
// value, and the test goes on with the next one in the same process under go test -fuzz.
func NoPanic[T any](t testing.TB, in T, f func(T)) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v\n  value %+v\n%s", p, in, debug.Stack())
		}
	}()
	f(in)
}
