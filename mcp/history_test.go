package mcp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	var h history
	script := func(i int) Script {
		return Script{Start: Shared, Check: "repeat", Steps: []Step{
			{Line: fmt.Appendf(nil, "line %d", i), NoWait: true, Times: i}, {Line: []byte{}, NoNewline: true}, {Line: []byte("x"), Close: true},
		}}
	}
	for i := range 2 * historyScripts {
		in := script(i)
		h.add(&in)
		in.Steps[0].Line[0] = '?' // what was added is a copy
	}
	got := h.scripts(2)
	if len(got) != historyScripts-2 {
		t.Fatalf("%d scripts are known", len(got))
	}
	for i := range got {
		want := script(historyScripts + i)
		want.Steps[1].Line = nil
		if !reflect.DeepEqual(got[i], want) {
			t.Fatalf("script %d is %+v, want %+v", i, got[i], want)
		}
	}
	for range 10 {
		in := Script{Start: Fresh, Steps: []Step{{Line: []byte(strings.Repeat("a", 300<<10))}}}
		h.add(&in)
	}
	if got := h.scripts(0); len(got) != 3 || h.bytes() > historyBytes {
		t.Errorf("%d scripts are known, %d bytes", len(got), h.bytes())
	}
	in := Script{Start: Shared, Steps: []Step{{Line: make([]byte, 5<<20)}}}
	h.add(&in)
	if got := h.scripts(0); len(got) != 1 {
		t.Errorf("%d scripts are known after a huge one", len(got))
	}
	for i := range 5 {
		in := script(i)
		h.add(&in)
	}
	if got := h.scripts(0); len(got) != 5 || h.bytes() > 1000 {
		t.Errorf("%d scripts are known, %d bytes", len(got), h.bytes())
	}
	h.wait(h.added - 2)
	h.wait(h.added)                  // not there yet
	h.wait(h.added - historyScripts) // forgotten
	if got := h.before(h.added - 1); len(got) != 3 || got[2].Steps[0].Times != 2 {
		t.Errorf("without the slow one, %d scripts are known: %+v", len(got), got)
	}
	for i := range 8 * historyScripts { // the longest have been everywhere
		in := Script{Start: Shared, Steps: []Step{{Line: make([]byte, 1+i%7*(2<<10))}}}
		h.add(&in)
	}
	if cap(h.packed) > historySpace {
		t.Errorf("%d bytes are held for %d", cap(h.packed), h.bytes())
	}
	small := script(1)
	for range historyScripts {
		h.add(&small)
	}
	if n := testing.AllocsPerRun(1000, func() { h.add(&small) }); n > 0 {
		t.Errorf("adding costs %v allocations", n)
	}
}
