package gofunc

import "unsafe"

// The linker gives these variables of package runtime the beginning and the end of the compiler's coverage counters, one
// byte for each block of instrumented code. Without -d=libfuzzer there are none.
//
//go:linkname firstCounter runtime.__start___sancov_cntrs
var firstCounter byte

//go:linkname lastCounter runtime.__stop___sancov_cntrs
var lastCounter byte

func counters() []byte {
	first := unsafe.Pointer(&firstCounter)
	return unsafe.Slice((*byte)(first), uintptr(unsafe.Pointer(&lastCounter))-uintptr(first))
}
