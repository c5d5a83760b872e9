package mutate

import "testing"

// TestDefectsAreNoJSON: the results of defects are not valid JSON, at any position.
func TestDefectsAreNoJSON(t *testing.T) {
	tree := &JSONTree{}
	for _, text := range []string{
		`1`, `12`, `-3.25e10`, `[1,2]`, `[[12,34],[5]]`, `["1234","dc00",""]`, `{"a":12,"b":[1,{"c":2}]}`, `[[],{},null,true]`, `"41"`,
	} {
		broken := 0
		for seed := range uint64(3000) {
			v := parse(t, text)
			if !tree.Apply(random(seed), JSONDefect, v, nil) {
				continue
			}
			broken++
			if _, err := ParseJSON([]byte(v.String())); err == nil {
				t.Fatalf("%s was broken to %s with seed %d, which is JSON", text, v, seed)
			}
		}
		if broken < 2500 {
			t.Errorf("%s was broken %d times of 3000", text, broken)
		}
	}
}
