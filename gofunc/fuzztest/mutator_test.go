package fuzztest_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/mutate"
)

// Inputs stay well formed: encoding and decoding one gives it back.
func TestMutantsAreWellFormed(t *testing.T) {
	for _, names := range []string{"[]uint8", "string,string", "[]uint8,int", "int32,bool", allTypes} {
		kinds := agent.ParseKinds(names)
		c, m := fuzztest.Codec{Kinds: kinds}, fuzztest.NewMutator(kinds, &mutate.Bytes{MaxLen: 256})
		r := rand.New(rand.NewPCG(5, 6))
		in, other := m.Generate(r), m.Generate(r)
		check := func(what string, out []byte) {
			t.Helper()
			data, err := c.Encode(out)
			if err != nil {
				t.Fatal(err)
			}
			again, err := c.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			parts, want := agent.Split(kinds, again, nil), agent.Split(kinds, out, nil)
			for i, k := range kinds {
				same := bytes.Equal(parts[i], want[i])
				if k == agent.KindBool { // which is one bit of its byte
					same = k.Value(parts[i]) == k.Value(want[i])
				}
				if !same {
					t.Fatalf("%s, %s: argument %d of %q is read as %q", names, what, i+1, out, parts[i])
				}
			}
			if len(again) != len(out) {
				t.Fatalf("%s, %s: %q is read as %q", names, what, out, again)
			}
		}
		for k := range uint64(300) {
			before := bytes.Clone(in)
			check("mutate", m.Mutate(r, nil, in))
			check("cross", m.Cross(r, nil, in, other))
			if out, ok := m.Step(k, nil, in); ok {
				check("step", out)
			}
			if out, ok := m.Simplify(k, nil, in); ok {
				check("simplify", out)
			}
			if !bytes.Equal(in, before) {
				t.Fatalf("%s: the source was changed", names)
			}
			in = m.Mutate(r, nil, in)
		}
	}
}

// The limit is of packed inputs, and no mutant is longer.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		kinds string
		want  int
	}{{"[]uint8", 16}, {"string,int", 8 + 16}, {"string,bool,string", 1 + 4 + 16 + 16}, {"int", 8}} {
		m := fuzztest.NewMutator(agent.ParseKinds(c.kinds), &mutate.Bytes{MaxLen: 16})
		if got := m.Limit(); got != c.want {
			t.Errorf("%s: the limit is %d, want %d", c.kinds, got, c.want)
		}
		longest, in, r := 0, []byte(nil), rand.New(rand.NewPCG(7, 8))
		for range 1000 {
			in = m.Mutate(r, nil, in)
			longest = max(longest, len(in))
		}
		if longest != c.want {
			t.Errorf("%s: the longest mutant is %d bytes, want %d", c.kinds, longest, c.want)
		}
	}
	if got, want := fuzztest.NewMutator(agent.ParseKinds("string"), &mutate.Bytes{}).Limit(), (&mutate.Bytes{}).Limit(); got != want {
		t.Errorf("without settings the limit is %d, want %d", got, want)
	}
}

func TestSplice(t *testing.T) {
	for _, c := range []struct {
		kinds, in string
		at, n     int
		text      string
		want      string
	}{
		{"[]uint8", "abc", 1, 1, "long", "alongc"},
		{"int16,[]uint8", "\x01\x00abc", 0, 2, "\x05", "\x05\x00abc"},
		{"int16,[]uint8", "\x01\x00abc", 0, 2, "wxyz", "wxabc"},
		{"int16,[]uint8", "\x01\x00abc", 2, 3, "", "\x01\x00"},
		{"string,string", "\x02\x00\x00\x00abcd", 4, 2, "long", "\x04\x00\x00\x00longcd"},
		{"string,string", "\x02\x00\x00\x00abcd", 5, 3, "", "\x01\x00\x00\x00acd"},
		{"string,string", "\x02\x00\x00\x00abcd", 7, 1, "long", "\x02\x00\x00\x00abclong"},
		{"string,string", "\x02\x00\x00\x00abcd", 0, 4, "\x03", "\x03\x00\x00\x00abcd"},
	} {
		m := fuzztest.NewMutator(agent.ParseKinds(c.kinds), &mutate.Bytes{})
		if got := m.Splice(nil, []byte(c.in), c.at, c.n, c.text); string(got) != c.want {
			t.Errorf("%s: Splice(%q, %d, %d, %q) = %q, want %q", c.kinds, c.in, c.at, c.n, c.text, got, c.want)
		}
	}
}

// The simplest input is reached from any, one step after the other.
func TestSimplify(t *testing.T) {
	kinds := agent.ParseKinds("string,int,[]uint8")
	m := fuzztest.NewMutator(kinds, &mutate.Bytes{})
	in := append(append([]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), 3, 0, 0, 0), "abcdefgh"...)
	for simpler := true; simpler; {
		simpler = false
		for k := uint64(0); ; k++ {
			out, ok := m.Simplify(k, nil, in)
			if !ok {
				break
			}
			if m.Complexity(out) < m.Complexity(in) {
				in, simpler = bytes.Clone(out), true
				break
			}
		}
	}
	if want := make([]byte, 12); !bytes.Equal(in, want) {
		t.Errorf("%q, want zeros and nothing else", in)
	}
}
