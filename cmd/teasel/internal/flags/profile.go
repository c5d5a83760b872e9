package flags

import (
	"slices"
	"time"
)

// profiles are the names of the profiles, which all kinds share, and which differ in these for each.
var (
	profiles  = []string{"quick", "standard", "intensive", "ci"}
	durations = [...]time.Duration{time.Minute, 5 * time.Minute, 0, 30 * time.Second} // of a campaign; 0: no limit
	seeds     = [...]uint64{3: 42}                                                    // of a campaign; 0: drawn
)

// limits are those of a kind of target, by profile in the same order.
type limits struct {
	timeout  [4]time.Duration // of a request or run
	memory   [4]Size          // of teasel itself, at which a campaign stops
	minimize [4]int           // executions to minimise one finding; 0: the engine's default
}

const (
	second = time.Second
	mib    = 1 << 20
)

var limitsOf = map[string]limits{
	"mcp":    {[4]time.Duration{3 * second, 5 * second, 10 * second, 2 * second}, [4]Size{256 * mib, 512 * mib, 2048 * mib, 256 * mib}, [4]int{}},
	"net":    {[4]time.Duration{second, second, 5 * second, second}, [4]Size{512 * mib, 1024 * mib, 2048 * mib, 512 * mib}, [4]int{512, 0, 8192, 512}},
	"native": {[4]time.Duration{second, second, 5 * second, second}, [4]Size{512 * mib, 1024 * mib, 2048 * mib, 512 * mib}, [4]int{512, 0, 8192, 512}},
	// The time limit of an input is that of go test -fuzz.
	"go": {[4]time.Duration{10 * second, 10 * second, 10 * second, 10 * second}, [4]Size{1024 * mib, 1024 * mib, 2048 * mib, 1024 * mib}, [4]int{}},
}

// SetDefaults sets the flags that the user has not set, as the profile of a kind says.
func (o *Options) SetDefaults(set func(flag string) bool, kind string) {
	l, i := limitsOf[kind], o.profile()
	if !set("duration") && !set("runs") {
		o.Duration = durations[i]
	}
	if !set("timeout") || o.Timeout == 0 {
		o.Timeout = l.timeout[i]
	}
	if !set("max-memory") {
		o.Memory = l.memory[i]
	}
	if !set("seed") {
		if o.Seed = seeds[i]; o.Seed == 0 {
			o.Seed = DrawSeed()
		}
	}
}

// MinimizeRuns returns the executions that the profile of a kind gives to minimise one finding; 0: the engine's default.
func (o *Options) MinimizeRuns(kind string) int { return limitsOf[kind].minimize[o.profile()] }

// profile returns the number of the profile that was chosen.
func (o *Options) profile() int { return slices.Index(profiles, o.ProfileName()) }

// ProfileName returns the profile that was chosen, standard if none was or if it is that of another version's campaign.
func (o *Options) ProfileName() string {
	if !slices.Contains(profiles, o.Profile) {
		o.Profile = "standard"
	}
	return o.Profile
}
