// Package native fuzzes programs in C, C++, Rust and whatever else clang's coverage counters can be built into.
//
// A [Compiler] stands in for clang: what it builds carries edge counters, comparison hooks and a small runtime. A
// [Target] is such a program: a libFuzzer harness, of which one process runs batches of inputs, or a program with a main
// of its own, which is forked for each. It opens as an executor that the engine's stages drive; [Operands] and [Repair]
// are stages of this package that use what the program compares.
package native
