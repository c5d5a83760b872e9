package triage_test

import (
	"fmt"
	"syscall"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// SIGABRT has ended a server under test. Its standard error tells why.
func ExampleReader_Refine() {
	const stderr = `==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x4f3b bp 0x7ffe sp 0x7ffd
WRITE of size 4 at 0x602000000018 thread T0
    #0 0x4f3a in __asan_memcpy (/usr/bin/server+0x4f3a)
    #1 0x4f3b in parse_name /src/parse.c:40:3
    #2 0x4f3c in serve /src/main.c:7:2
`
	r := &triage.Report{Fault: triage.OfSignal(syscall.SIGABRT, stderr)}
	triage.Reader{}.Refine(r, stderr, stderr)
	fmt.Println(r.Fault, r.Access)
	fmt.Println(r.Key())
	fmt.Println(r.Stack.Top())
	// Output:
	// heap-buffer-overflow write
	// parse_name:40 < serve
	// parse_name /src/parse.c:40
}

// A server in Go has panicked.
func ExampleReport_GoCrash() {
	const stderr = `listening
panic: runtime error: index out of range [3] with length 3

goroutine 7 [running]:
example.com/server/wire.(*Reader).Byte(...)
	/src/wire/reader.go:31
main.serve({0xc000012345, 0x3, 0x8})
	/src/main.go:12 +0x1d
created by main.main in goroutine 1
	/src/main.go:40 +0x33
`
	r := &triage.Report{Fault: triage.Exit}
	fmt.Println(r.GoCrash(stderr), r.Fault, r.Message)
	fmt.Println(r.Key())
	// Output:
	// true panic runtime error: index out of range [3] with length 3
	// example.com/server/wire.(*Reader).Byte:31 < main.serve
}
