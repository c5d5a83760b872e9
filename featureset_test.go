package teasel_test

import (
	"bytes"
	"encoding/gob"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

func TestFeatureSet(t *testing.T) {
	type F = []teasel.Feature
	for _, test := range []struct{ in, want F }{
		{nil, nil},
		{F{0}, nil},
		{F{7}, F{7}},
		{F{9, 7, 9, 0, 7}, F{7, 9}},
		{F{math.MaxUint64, 1, teasel.State(0)}, F{1, teasel.State(0), math.MaxUint64}},
	} {
		in := slices.Clone(test.in)
		s := teasel.NewFeatureSet(in...)
		if !slices.Equal(in, test.in) {
			t.Errorf("%v was changed to %v", test.in, in)
		}
		if got := s.Append(nil); !slices.Equal(got, test.want) || s.Len() != len(test.want) {
			t.Errorf("%v: got %v, %d members, want %v", test.in, got, s.Len(), test.want)
		}
		if s != teasel.NewFeatureSet(test.want...) {
			t.Errorf("%v: equal sets are not the same", test.in)
		}
		for _, f := range test.want {
			if !s.Contains(f) || s.Contains(f-1) && !slices.Contains(test.want, f-1) {
				t.Errorf("%v: %d is not found, or %d is", test.in, f, f-1)
			}
		}
		for range s.All() {
			break // it may be left early
		}
		var b bytes.Buffer
		got := struct{ S teasel.FeatureSet }{}
		if err := gob.NewEncoder(&b).Encode(struct{ S teasel.FeatureSet }{s}); err != nil {
			t.Fatal(err)
		}
		if err := gob.NewDecoder(&b).Decode(&got); err != nil || got.S != s {
			t.Errorf("%v came back as %v, %v", s, got.S, err)
		}
	}
}

// What comes from outside is a valid set or an error.
func TestFeatureSetRefusesDamage(t *testing.T) {
	for _, data := range []string{"\x00", "\x01", "\x02\x05", "\x01\x00", "\x01\x80", "\x02\x05\x00", "\x01\x85\x00", "\x81\x00\x05",
		"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		var s teasel.FeatureSet
		if err := s.UnmarshalBinary([]byte(data)); err == nil || s != (teasel.FeatureSet{}) {
			t.Errorf("%q was taken for %v", data, s)
		}
	}
}

func FuzzFeatureSet(f *testing.F) {
	f.Add([]byte("\x02\x05\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s teasel.FeatureSet
		if s.UnmarshalBinary(data) != nil {
			return
		}
		if again := teasel.NewFeatureSet(s.Append(nil)...); again != s || again.Len() != s.Len() {
			t.Errorf("%q: %v and %v", data, s, again)
		}
	})
}

func BenchmarkFeatureSet(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	fs := make([]teasel.Feature, 1000)
	for i := range fs {
		fs[i] = teasel.Feature(r.IntN(400_000) + 1)
	}
	s := teasel.NewFeatureSet(fs...)
	data, _ := s.MarshalBinary()
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			teasel.NewFeatureSet(fs...)
		}
		b.ReportMetric(float64(len(data))/float64(s.Len()), "bytes/feature")
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for f := range s.All() {
				_ = f
			}
		}
	})
}
