// Package gofunc fuzzes Go functions with inputs of any type.
//
// [Fuzz] stands in an ordinary fuzz test. Plain go test runs its seeds and the inputs saved in testdata/fuzz, go test -fuzz
// makes values out of the bytes that it mutates, and under teasel the values themselves are mutated, in the process of the
// test. [Test] has the settings. The functions [Observe], [Maximize] and [Compare] tell a campaign what coverage does not
// show; outside of one they cost a load and a branch. [RoundTrip], [Idempotent], [Same] and [NoPanic] are properties that
// many functions have.
//
// Package mutate/typed says which types there are mutators for, and how to describe what a type does not say.
package gofunc
