package script

import (
	"encoding/base64"
	"testing"
)

// TestAltered: what comes out says something else also to whoever decodes it, and is refused where a signature is looked at.
func TestAltered(t *testing.T) {
	std, url := base64.StdEncoding, base64.RawURLEncoding
	for given, want := range map[string]string{
		std.EncodeToString([]byte(`{"step":1,"name":"ann"}`)):          std.EncodeToString([]byte(`{"step":1,"name":"ano"}`)),
		url.EncodeToString([]byte(`{"n":1}`)) + ".c2ln":                url.EncodeToString([]byte(`{"n":2}`)) + ".c2ln",
		std.EncodeToString([]byte{0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}): "/wABAgMFBQYHCAk=",
		"asked": "asled",
		"7":     "8",
		"1.aa":  "2.aa",
		"--":    "--",
	} {
		if got := altered(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
