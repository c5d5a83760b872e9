package netproto

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// What is no response that the model knows belongs to none of the states that it declares, whose numbers are the low byte of a feature.
func TestUndeclaredFeatures(t *testing.T) {
	fs := []teasel.Feature{silentFeature, closedFeature, fingerprint(&dialogue.Response{}, nil)}
	for _, code := range []string{"220", "331", ""} {
		fs = append(fs, fingerprint(&dialogue.Response{Code: code}, []byte(code+" text")))
	}
	for _, f := range fs {
		if f&0xff != 0 || !f.IsState() {
			t.Errorf("feature %x has the number of a declared state", f)
		}
	}
}

// A server that takes messages and closes connections has not answered, whatever states the model has.
func TestAnswered(t *testing.T) {
	m := plantedModel(t)
	silent := dialogue.NewSession(m)
	silent.Begin(dialogue.Seeds(m)[0])
	silent.Render(0)
	r := silent.Silent(0)
	fs := []teasel.Feature{silentFeature, closedFeature, r.Feature(), 5, edgeFeatures + 8}
	if Answered(m, teasel.NewFeatureSet(fs...)) {
		t.Error("silence is taken for an answer")
	}
	r = dialogue.Response{Name: "ok", To: r.To}
	for _, f := range []teasel.Feature{r.Feature(), fingerprint(&r, []byte("hello"))} {
		if !Answered(m, teasel.NewFeatureSet(append(fs, f)...)) {
			t.Errorf("feature %x is not taken for an answer", f)
		}
	}
}

// Of answers that never come twice nothing is kept for ever, and what comes again and again without recurring at once is known some day.
func TestUnsteadyFeatures(t *testing.T) {
	k := newKnown()
	for f := range teasel.Feature(3 * mostUnsteady) {
		if k.unsteady(f) {
			t.Fatalf("feature %d, seen once, is no news", f)
		}
	}
	if len(k.unreproduced) > mostUnsteady {
		t.Errorf("%d features are noted", len(k.unreproduced))
	}
	for n := 1; n <= mostUnreproduced+1; n++ {
		if got := k.unsteady(5); got != (n > mostUnreproduced) {
			t.Errorf("after %d times that one is known: %t", n, got)
		}
	}
}
