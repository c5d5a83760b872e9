// Package native fuzzes programs in C, C++, Rust and whatever else clang's coverage counters can be built into.
//
// The commands 'teasel cc' and 'teasel cargo' build programs with edge counters, comparison hooks and a small runtime. A
// [Target] is such a program: a libFuzzer harness, of which one process runs batches of inputs, or a program with a main
// of its own, which is forked for each. Programs that AFL or AFL++ has built are run through the server in them, and any
// other program is started for every input and judged by how it ends and what it writes; [Target.Inspect] says which it
// is. It opens as an executor that the engine's stages drive. Package mutate/operands has the stages that use what the
// program compares, where that is known; [Custom] is the stage that lets a harness's own mutator work.
package native
