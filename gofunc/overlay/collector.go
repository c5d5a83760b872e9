package overlay

import (
	"slices"
	"strconv"
	"strings"
)

// collectorPercent is how much a test process allocates, in hundredths of what it holds, until it looks for garbage. A test
// holds little, so that Go's own 100 would have the collector at work most of the time.
const collectorPercent = 400

// Collector returns what is to be added to env, the environment of a test process that may hold so many bytes of memory, for
// Go's garbage collector to run less often. Nothing is, if env sets it.
func Collector(env []string, memory uint64) (added []string) {
	has := func(name string) bool {
		return slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	if has("GOGC") {
		return nil
	}
	added = append(added, "GOGC="+strconv.Itoa(collectorPercent))
	if memory > 0 && !has("GOMEMLIMIT") { // garbage alone is not to end the process
		added = append(added, "GOMEMLIMIT="+strconv.FormatUint(memory/2, 10))
	}
	return added
}
