// Package forkserver runs programs that were built with AFL or AFL++, as they are. Such a program has a server in it,
// which forks a child for every input on our word, or wakes one that has stopped itself; coverage comes back through
// shared memory. Both dialects of the server are spoken: the old one, of AFL and of AFL++ up to 4.10c, and the one of
// AFL++ 4.20c and later.
//
// The protocol is that of AFL++'s src/afl-forkserver.c and instrumentation/afl-compiler-rt.o.c.
package forkserver
