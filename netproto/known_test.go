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
