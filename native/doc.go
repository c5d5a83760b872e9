// Package native fuzzes programs in C, C++, Rust and whatever else clang's coverage counters can be built into.
//
// The commands 'teasel cc' and 'teasel cargo' build programs with edge counters, comparison hooks and a small runtime. A
// [Target] is such a program: either a libFuzzer harness, one process of which runs batches of inputs, or a program with a main
// of its own, which is forked for every input. Programs that AFL or AFL++ has built are run through their fork server. Any other
// program is started for every input and judged by its exit status and its output. [Target.Inspect] reports which of these a
// program is; [Target.Open] returns an executor for it. Package mutate/operands has the stages that use the operands of the
// program's comparisons, where these are recorded; [Custom] is the stage that uses a harness's own mutator.
package native
