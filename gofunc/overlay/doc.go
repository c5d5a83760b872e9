// Package overlay builds the test binary of a package so that teasel can run its fuzz tests, without any change of the
// package, its module, or the toolchain.
//
// The go command's flag -overlay replaces files of the standard library for one build. What is replaced are copies of
// the user's own toolchain's files, with statements inserted at places that must be there exactly once; where they are
// not, the build falls back to a slower [Mode], and says why. The compiler's flag -d=libfuzzer adds counters and hooks
// of comparisons, as go test -fuzz does.
package overlay
