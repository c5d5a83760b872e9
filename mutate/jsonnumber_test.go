package mutate

import "testing"

// TestNumberForms: a Number in another notation is valid JSON and has the same value.
func TestNumberForms(t *testing.T) {
	tree := &JSONTree{}
	for _, text := range []string{"0", "-0", "0.0", "7", "-10", "1e5"} {
		numbers := 0
		for seed := range uint64(500) {
			v := parse(t, text)
			if !tree.Apply(random(seed), JSONNumberForm, v, nil) || v.Kind != Number {
				continue
			}
			numbers++
			if got, err := ParseJSON([]byte(v.String())); err != nil || !got.Equal(parse(t, text)) {
				t.Fatalf("%s became the number %s: %v", text, v, err)
			}
		}
		if numbers < 100 {
			t.Errorf("%s became a number %d times of 500", text, numbers)
		}
	}
}
