// Package agent runs the inputs of a fuzz test inside the test's own process.
//
// Its source is used twice. teasel is built with it, to know how the memory that both sides share is laid out. And
// package overlay adds it to the standard library's package internal/fuzz of one test binary, where package testing
// hands it the fuzz target. So it imports only what the packages below testing may import, and its names
// must not clash with those of internal/fuzz.
//
// The parent starts the test binary as a fuzz worker, with the environment variable [Environment] naming three file
// descriptors: a pipe on which it asks for a batch, a pipe on which it is answered, and the shared memory. One byte
// each way is a round trip. The agent runs the inputs of the batch in order, judges where the counters are whether
// an input reached something new, and stops at the first input that fails. When the process dies, Header.Current
// says of which input.
//
// State is global here, as the counters of the compiler are, and as the hooks that the compiler calls need it.
package agent
