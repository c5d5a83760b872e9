package native

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

func TestSequence(t *testing.T) {
	parts := [][]byte{[]byte("a"), {}, []byte("3\nab"), []byte(sequenceMark)}
	m := NewMutator(&mutate.Bytes{}).(mutator)
	in := m.Join(parts)
	if got := sequence(in); !slices.EqualFunc(got, parts, bytes.Equal) || m.Parts(in) != len(parts) {
		t.Errorf("%q of %q", got, in)
	}
	if got := m.Keep(in, []int{0, 2}); string(got) != sequenceMark+"1\na4\n3\nab" {
		t.Errorf("two of them: %q", got)
	}
	if got := m.Keep(in, []int{2}); string(got) != "3\nab" {
		t.Errorf("one of them: %q", got)
	}
	seen := map[string]bool{}
	for k := uint64(0); ; k++ {
		simpler, ok := m.Simplify(k, nil, in)
		if !ok {
			break
		}
		seen[string(simpler)] = true
		if m.Parts(simpler) != len(parts) {
			t.Errorf("candidate %d: %q", k, simpler)
		}
	}
	for _, want := range []string{sequenceMark + "0\n0\n4\n3\nab", sequenceMark + "1\na0\n3\n3\na"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(s string) bool { return bytes.HasPrefix([]byte(s), []byte(want)) }) {
			t.Errorf("no candidate begins with %q", want)
		}
	}
	for _, plain := range []string{"", "a", sequenceMark, sequenceMark + "5\nab", sequenceMark + "-1\nab", sequenceMark + "x\n", sequenceMark + "1"} {
		if got := sequence([]byte(plain)); got != nil {
			t.Errorf("%q stands for %q", plain, got)
		}
	}
}

// What a process has run is remembered: at least what the engine puts in front of an input, and not much more.
func TestHistory(t *testing.T) {
	for _, size := range []int{0, 5, 1000, historyBytes / 3, historyBytes, 2 * historyBytes} {
		var h history
		var all [][]byte
		for i := range 3*historyInputs + 7 {
			if all = append(all, bytes.Repeat([]byte{byte(i)}, size)); size*len(all) > 8*historyBytes {
				break
			}
		}
		for at := 0; at < len(all); at += 7 {
			h.ran(all[at:min(at+7, len(all))])
		}
		got := h.inputs()
		if !slices.EqualFunc(got, all[len(all)-len(got):], bytes.Equal) {
			t.Fatalf("of %d bytes: not the last %d inputs", size, len(got))
		}
		if n := len(got) * size; n > 2*historyBytes+size || n < min(historyBytes/2, historyInputs*size) && len(got) < 2 {
			t.Errorf("of %d bytes: %d inputs", size, len(got))
		}
		if size <= 5 && len(got) < historyInputs {
			t.Errorf("of %d bytes: %d inputs, want %d", size, len(got), historyInputs)
		}
	}
}
