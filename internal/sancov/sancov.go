// Package sancov is the fuzzer's half of the runtime that is linked into native targets; the target's half is the C code in
// the folder runtime. The two halves share memory and exchange messages over two pipes, one round trip for a batch of inputs.
// Which inputs reach new features is decided in the target, where the counters are.
//
// The counters are clang's: -fsanitize-coverage=inline-8bit-counters,pc-table. Memory that the target can write is not
// trusted: a target that is being fuzzed may write anything anywhere.
package sancov

import "embed"

// Runtime holds the C files of the runtime, in the folder runtime: teasel_rt.c for every program, teasel_driver.c and
// teasel_main.c for harnesses, teasel_defer.c and teasel_loop.c for programs with AFL's macros, teasel_so.c for shared libraries, teasel_pad.c for both, teasel_compare.c to record the comparisons in libraries
// that were not compiled with hooks.
//
//go:embed runtime/*.c runtime/*.h
var Runtime embed.FS
