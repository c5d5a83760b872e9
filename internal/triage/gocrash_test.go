package triage

import (
	"os"
	"strings"
	"testing"
)

// TestGoCrash reads the output of small programs that Go 1.26 and its race detector have ended.
func TestGoCrash(t *testing.T) {
	for _, test := range []struct {
		file         string
		fault        Fault
		message, key string
	}{
		{"repanicked", Panic, "runtime error: index out of range [3] with length 3", "main.(*T).Inner:10 < main.main.parse[...].func2 < main.parse[...]"},
		{"panicked-again", Panic, "runtime error: index out of range [3] with length 3", "main.(*T).Inner:10 < main.main.parse[...].func2 < main.parse[...]"},
		{"deadlock", Deadlock, "all goroutines are asleep - deadlock!", "main.wait:3 < main.main"},
		{"overflow", Recursion, "stack overflow", "main.a < main.b"},
		{"map", DataRace, "concurrent map writes", "main.write:5"},
		{"race", DataRace, "read against write in main.inc /src/rc/main.go:7", "main.inc:7"},
		{"library", Panic, "strings.Builder.Grow: negative count", "main.main:39"}, // preceded by a panic that was recovered
		{"quit", Hang, "SIGQUIT: quit", "main.spin < main.main"},
	} {
		text, err := os.ReadFile("testdata/go/" + test.file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, noise := range []string{"", "goroutine 7 of the user's\n" + strings.Repeat("x", 100_000) + "\n"} {
			r := &Report{Fault: Exit}
			if !r.GoCrash(noise+string(text)) || r.Fault != test.fault || r.Message != test.message || r.Key() != test.key {
				t.Errorf("%s: %s %q in %q, want %s %q in %q", test.file, r.Fault, r.Message, r.Key(), test.fault, test.message, test.key)
			}
		}
	}
	for _, text := range []string{"", "panic: but no goroutine\n", "goroutine 1 [running]:\nmain.f()\n\t/a/b.go:3 +0x1\n", "WARNING: DATA RACE\n"} {
		r := &Report{Fault: Exit}
		if r.GoCrash(text) || r.Fault != Exit || r.Stack != nil {
			t.Errorf("%q was read as %+v", text, r)
		}
	}
}

func TestGoLibrary(t *testing.T) {
	for function, want := range map[string]bool{
		"runtime.gopanic": true, "panic": true, "encoding/json.Unmarshal": true, "internal/runtime/maps.fatal": true, "testing.tRunner.func1": true,
		"main.main": false, "example.com/m.F": false, "github.com/a/b/log.Print": false, "mymodule/internal/x.F": false, "sync.(*Mutex).Lock": true,
		"main.main.gowrap1": true, "net/http.(*Server).Serve": true, "golang.org/x/text/language.Parse": false,
	} {
		if got := (Frame{Function: function, File: "x.go"}).InLibrary(); got != want {
			t.Errorf("%s: %v", function, got)
		}
	}
}
