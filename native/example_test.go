package native_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

func ExampleDetect() {
	o := &teasel.Observation{Exit: teasel.ExitCrash, Evidence: &native.Crash{
		Rule: "native/heap-buffer-overflow", Access: "write", Address: 0x602000000018,
		Stack: []native.Frame{
			{Function: "__asan_memcpy", Module: "/bin/parser"},
			{Function: "parse_name", File: "parse.c", Line: 40, Module: "/bin/parser"},
			{Function: "main", File: "main.c", Line: 7, Module: "/bin/parser"},
		}}}
	for _, f := range native.Detect(o) {
		fmt.Println(f.Severity, f.Rule, f.Group)
		fmt.Println(f.Message)
	}
	// Output:
	// critical native/heap-buffer-overflow parse_name:40 < main
	// heap buffer overflow, write of 0x602000000018 in parse_name parse.c:40
}
