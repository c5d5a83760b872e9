// Package typed generates and mutates values of any Go type: structs, slices, arrays, maps, pointers, strings, numbers, times,
// interfaces with named concrete types, and recursive types.
//
// [Of] compiles a type into a plan once, by reflection. Struct tags and [Rule] values add what reflection cannot know, such as ranges,
// the constants of an enumeration, or the types behind an interface. An [Editor] then works on a [Value], which has no static type, so
// that the engine is not compiled for each type of input. The editor implements the engine's interfaces for mutators: changes in place
// with undo, ordered changes, replacement of a part by a part of another testcase, simplification, and complexity.
//
// The design follows fuzzcheck (github.com/loiclec/fuzzcheck-rs): changes in place with undo, complexity as the only measure of size, a
// cache per value, crossover by sub-values of the corpus, and composable mutators. Fuzzcheck's cache of a Mutator corresponds to the
// list of places in a Value, its mutation step to a number, its unmutate token to the editor's undo log, and its arbitrary steps to the
// values of [Editor.First].
//
// The struct tag fuzz has settings separated by commas; fuzz-each applies to the elements of a slice, an array or a map.
//
//	fuzz:"-"             ignore the field
//	fuzz:"min=1,max=10"  the range of a number
//	fuzz:"oneof=a|b|c"   the values of a string or an integer
//	fuzz:"len=1..5"      the length of a string, a slice or a map; either end may be left out
//	fuzz:"required"      a pointer or an interface that is never nil
//	fuzz:"utf8"          a string that is valid UTF-8
//	fuzz:"pattern=[a-z]+@[a-z]+"  a string that the regular expression matches as a whole; the last setting
package typed
