package native

import (
	"fmt"
	"time"
)

// Profile is a set of limits for a campaign. The named ones are [Quick], [Standard], [Intensive] and [CI].
type Profile struct {
	Name     string
	Duration time.Duration // of the campaign; 0: unlimited
	Timeout  time.Duration // of a run
	Seed     uint64        // of the campaign; 0: random
	Memory   uint64        // memory of teasel, in bytes, at which the campaign stops
	Minimize int           // executions to minimise a finding; 0: the engine's default
}

// The profiles.
var (
	Quick     = Profile{Name: "quick", Duration: time.Minute, Timeout: time.Second, Memory: 512 << 20, Minimize: 512}
	Standard  = Profile{Name: "standard", Duration: 5 * time.Minute, Timeout: time.Second, Memory: 1 << 30}
	Intensive = Profile{Name: "intensive", Timeout: 5 * time.Second, Memory: 2 << 30, Minimize: 8192}
	CI        = Profile{Name: "ci", Duration: 30 * time.Second, Timeout: time.Second, Seed: 42, Memory: 512 << 20, Minimize: 512}
)

// Profiles returns the named profiles.
func Profiles() []Profile { return []Profile{Quick, Standard, Intensive, CI} }

// ParseProfile returns the profile of that name.
func ParseProfile(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("no such profile %q, expected quick, standard, intensive or ci", name)
}
