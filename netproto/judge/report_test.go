package judge

import (
	"reflect"
	"testing"
)

// What servers write about their own faults is read, and nothing else is taken for it.
func TestReadReport(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       *Report
	}{
		{"address", "noise\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x4 bp 0x7 sp 0x7\nWRITE of size 1 at 0x602 thread T0\n" +
			"    #0 0x43 in __asan_memcpy (/srv+0x43)\n    #1 0x4f3b in parse_header /src/a.c:17:5\n    #2 0x4f3c in main (/srv+0x4f3c) (BuildId: 12)\n\nfreed by\n    #0 0x1 in other /src/b.c:1:1\n",
			&Report{RuleMemoryError, "heap-buffer-overflow", []string{"parse_header a.c:17", "main"}}},
		{"segv", "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7)\n    #0 0x55 in f /src/a.c:3\n",
			&Report{RuleCrash, "SEGV", []string{"f a.c:3"}}},
		{"undefined", "a.c:3:5: runtime error: signed integer overflow: 1 + 2\n", &Report{RuleReport, "undefined behaviour: signed integer overflow: 1 + 2", []string{"a.c:3:5"}}},
		{"go", "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\nmain.(*server).handle(0xc000, {0x1, 0x2})\n\t/src/main.go:12 +0x1d\n" +
			"main.main.func1()\n\t/src/main.go:30 +0x2\ncreated by main.main in goroutine 1\n\t/src/main.go:29 +0x3\n\ngoroutine 1 [IO wait]:\nother.f()\n\t/src/o.go:1 +0x1\n",
			&Report{RulePanic, "panic: runtime error: index out of range [5] with length 3", []string{"main.(*server).handle main.go:12", "main.main.func1 main.go:30"}}},
		{"python", "Traceback (most recent call last):\n  File \"/srv/run.py\", line 3, in <module>\n    main()\n  File \"/srv/app.py\", line 9, in handle\n    x[1]\nKeyError: 1\n",
			&Report{RulePanic, "KeyError: 1", []string{"handle app.py:9", "<module> run.py:3"}}},
		{"rust", "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\n", &Report{RulePanic, "panicked at src/main.rs:4:5:", []string{"src/main.rs:4:5"}}},
		{"assertion", "srv: a.c:12: f: Assertion `n > 0' failed.\n", &Report{RulePanic, "srv: a.c:12: f: Assertion `n > 0' failed.", []string{"srv: a.c:0: f: Assertion `n > 0' failed."}}},
		{"log", "1700000000: New connection from 127.0.0.1:5123 on port 1883.\nERROR: client sent a bad packet\n", nil},
		{"panic in a log", "panic: user typed panic\n", nil},
	} {
		if got := ReadReport(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
