package schema

import (
	"math/rand/v2"
	"testing"
)

// checkDraws draws n values in each mode, and n/100 + 1 of each violation, and validates all of them. If the validator is slow, and with
// -short, it checks only some of the violations.
func checkDraws(t *testing.T, name string, s *Schema, r *rand.Rand, n int) {
	t.Helper()
	for range n {
		if v, broken := s.Generate(r, Conform); broken != "" || s.Validate(v) != nil {
			t.Fatalf("%s: conform drew %.300s, which breaks %q: %v", name, v, broken, s.Validate(v))
		}
		for _, mode := range []Mode{Adversarial, Mixed} {
			if v, broken := s.Generate(r, mode); (broken == "") != (s.Validate(v) == nil) {
				t.Fatalf("%s: %v drew %.300s and said %q: %v", name, mode, v, broken, s.Validate(v))
			}
		}
	}
	for i, violation := range s.Violations() {
		if (s.weight > 100 || testing.Short()) && i%8 > 0 {
			continue
		}
		for range 1 + n/100 {
			if v := s.Break(r, violation); s.Validate(v) == nil {
				t.Fatalf("%s: %v by %s drew %.300s, which validates", name, violation, violation.How, v)
			}
		}
	}
}
