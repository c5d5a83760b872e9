package schema

import (
	"math/rand/v2"
	"testing"
)

// FuzzCompile compiles arbitrary text as a schema. If it compiles, generated values must be as declared.
func FuzzCompile(f *testing.F) {
	for _, test := range schemas {
		f.Add([]byte(test.schema), uint64(1))
	}
	for _, test := range skipped {
		f.Add([]byte(test.schema), uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		s, err := Compile(text)
		if err != nil || s.weight > 100 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range 12 {
			v, broken := s.Generate(r, Mode(1+i%3))
			if (broken == "") != (s.Validate(v) == nil) {
				t.Fatalf("drew %.300s and said %q: %v", v, broken, s.Validate(v))
			}
		}
	})
}
