package flags

import (
	"testing"
	"time"
)

// A profile sets the flags that the user has not set, for each kind.
func TestSetDefaults(t *testing.T) {
	for _, kind := range Kinds() {
		for _, profile := range profiles {
			o := Options{Profile: profile}
			o.SetDefaults(func(string) bool { return false }, kind)
			if o.Timeout == 0 || o.Memory == 0 || o.Seed == 0 || (o.Duration == 0) != (profile == "intensive") || (o.Seed == 42) != (profile == "ci") {
				t.Errorf("%s of %s: %+v", profile, kind, o)
			}
		}
		o := Options{Timeout: 7 * time.Second, Runs: 9, Seed: 3, Memory: 5}
		o.SetDefaults(func(string) bool { return true }, kind)
		if o.Timeout != 7*time.Second || o.Duration != 0 || o.Seed != 3 || o.Memory != 5 || o.Profile != "standard" {
			t.Errorf("%s: %+v", kind, o)
		}
	}
	if o := (&Options{Profile: "ci"}); o.MinimizeRuns("native") != 512 || o.MinimizeRuns("mcp") != 0 {
		t.Error("executions to minimise a finding are those of the kind")
	}
}
