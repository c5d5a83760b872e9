package script

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	var h History
	script := func(i int) Script {
		return Script{Start: Shared, Check: "repeat", Steps: []Step{
			{Line: fmt.Appendf(nil, "line %d", i), NoWait: true, Times: i}, {Line: []byte{}, NoNewline: true}, {Line: []byte("x"), Close: true},
		}}
	}
	for i := range 2 * historyScripts {
		in := script(i)
		h.Add(&in)
		in.Steps[0].Line[0] = '?' // what was added is a copy
	}
	got := h.Scripts(2)
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
		h.Add(&in)
	}
	if got := h.Scripts(0); len(got) != 3 || h.bytes() > historyBytes {
		t.Errorf("%d scripts are known, %d bytes", len(got), h.bytes())
	}
	in := Script{Start: Shared, Steps: []Step{{Line: make([]byte, 5<<20)}}}
	h.Add(&in)
	if got := h.Scripts(0); len(got) != 1 {
		t.Errorf("%d scripts are known after a huge one", len(got))
	}
	for i := range 5 {
		in := script(i)
		h.Add(&in)
	}
	if got := h.Scripts(0); len(got) != 5 || h.bytes() > 1000 {
		t.Errorf("%d scripts are known, %d bytes", len(got), h.bytes())
	}
	h.Wait(h.Added - 2)
	h.Wait(h.Added)                  // not there yet
	h.Wait(h.Added - historyScripts) // forgotten
	if got := h.Before(h.Added - 1); len(got) != 3 || got[2].Steps[0].Times != 2 {
		t.Errorf("without the slow one, %d scripts are known: %+v", len(got), got)
	}
	for i := range 8 * historyScripts { // the longest have been everywhere
		in := Script{Start: Shared, Steps: []Step{{Line: make([]byte, 1+i%7*(2<<10))}}}
		h.Add(&in)
	}
	if cap(h.packed) > historySpace {
		t.Errorf("%d bytes are held for %d", cap(h.packed), h.bytes())
	}
	small := script(1)
	for range historyScripts {
		h.Add(&small)
	}
	if n := testing.AllocsPerRun(1000, func() { h.Add(&small) }); n > 0 {
		t.Errorf("adding costs %v allocations", n)
	}
}
