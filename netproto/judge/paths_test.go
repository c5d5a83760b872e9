package judge_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// One over-read that is reached over two paths is one finding, or two that the first line tells apart by what they came through, however far
// from the fault that is.
func TestPaths(t *testing.T) {
	find := func(frames string) teasel.Finding {
		t.Helper()
		var b strings.Builder
		fmt.Fprintln(&b, "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x1 bp 0x2 sp 0x3\nREAD of size 1 at 0x602000000011 thread T0")
		for i, f := range strings.Fields(frames) {
			function, place, _ := strings.Cut(f, "@")
			fmt.Fprintf(&b, "    #%d 0x%x in %s /src/%s\n", i, 0x55550000+i, function, place)
		}
		e := &judge.Evidence{Fault: judge.FaultDeath, At: 2, Signal: syscall.SIGABRT, Output: []byte(b.String())}
		fs := judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: e})
		if len(fs) != 1 || fs[0].Rule != judge.RuleMemoryError {
			t.Fatalf("%s: %+v", frames, fs)
		}
		return fs[0]
	}
	const over = "utf8_check@utf8.c:9:3"
	for _, tt := range []struct {
		a, b string
		one  bool // or may they be two
	}{
		{"property_read@p.c:5:1 will@w.c:7:1 connect@c.c:1:1 loop@l.c:1:1", "property_read@p.c:5:1 will@w.c:7:1 connect@c.c:1:1 loop@l.c:1:1", true},
		{"string_read@p.c:5:1 publish@w.c:7:1 loop@l.c:1:1", "string_read@p.c:5:1 subscribe@s.c:7:1 loop@l.c:1:1", false},
		{"topic@p.c:5:1 loop@l.c:1:1", "filter@p.c:8:1 loop@l.c:1:1", false},
		{"string_read@p.c:5:1 fields@f.c:3:1 publish@w.c:7:1 loop@l.c:1:1", "string_read@p.c:5:1 fields@f.c:3:1 subscribe@s.c:7:1 loop@l.c:1:1", true},
		{"string_read@p.c:5:1 fields@f.c:3:1 publish@w.c:7:1", "string_read@p.c:5:1 fields@f.c:8:1 publish@w.c:7:1", true},
		{"string_read@p.c:5:1 publish@w.c:7:1", "string_read@q.c:5:1 publish@w.c:7:1", true},
		{"publish@w.c:7:1 main@m.c:5:1", "publish@w.c:7:1 loop@m.c:5:1", false},
	} {
		a, b := find(over+" "+tt.a), find(over+" "+tt.b)
		if one := a.ID() == b.ID(); tt.one && !one || !one && a.Message == b.Message {
			t.Errorf("%s and %s are one finding: %v, with %q and %q", tt.a, tt.b, one, a.Message, b.Message)
		}
		// The interceptor of a library and the names of the message do not count.
		if x := find("__interceptor_strlen@asan.cc:1:1 " + over + " " + tt.a); x.ID() != a.ID() {
			t.Errorf("%s: with a library's function on top it is another finding: %q", tt.a, x.Message)
		}
	}
}
