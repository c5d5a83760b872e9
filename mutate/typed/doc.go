// Package typed makes and changes values of any Go type: structs, slices, arrays, maps, pointers, strings, numbers,
// times, interfaces whose concrete types are named, and recursive types.
//
// [Of] compiles a type into a plan once, by reflection; struct tags and [Rule] values say what reflection cannot see, such
// as ranges, the constants of an enumeration, or the types behind an interface. An [Editor] then works on a [Value], a
// value without its static type, so that no engine code has to be compiled for the type of the input. It implements what
// the engine asks of a mutator: changes in place that can be undone, ordered changes, replacement of a part by the part of
// another value of the corpus, simplification, and complexity.
//
// The design follows fuzzcheck (github.com/loiclec/fuzzcheck-rs): changes in place with undo, complexity as the one
// measure of size, a cache per value, sub-values of the corpus as crossover, and mutators that combine. What it calls
// a Mutator's cache is the list of places that a Value carries; its mutation step is a number; its unmutate token is the
// editor's undo log; its arbitrary steps are the first values of [Editor.First].
//
// The struct tag fuzz has settings separated by commas; fuzz-each applies to the elements of a slice, an array or a map.
//
//	fuzz:"-"             leave the field alone
//	fuzz:"min=1,max=10"  the range of a number
//	fuzz:"oneof=a|b|c"   the values of a string or an integer
//	fuzz:"len=1..5"      the length of a string, a slice or a map; either end may be left out
//	fuzz:"required"      a pointer or an interface that is never nil
//	fuzz:"utf8"          a string that is valid UTF-8
//	fuzz:"pattern=[a-z]+@[a-z]+"  a string that the regular expression matches as a whole; the last setting
package typed
