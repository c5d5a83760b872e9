// Package forkserver runs programs that were built with AFL or AFL++, without rebuilding them. Such a program contains a fork
// server, which forks a child for every input on request, or resumes a child that has stopped itself; coverage is reported
// through shared memory. The package supports both dialects of the protocol: the old one, of AFL and of AFL++ up to 4.10c,
// and the one of AFL++ 4.20c and later.
//
// The protocol is that of AFL++'s src/afl-forkserver.c and instrumentation/afl-compiler-rt.o.c.
package forkserver
