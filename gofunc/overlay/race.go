package overlay

import "strings"

// Races returns what is to be added to env, the environment of a test process, for the race detector to report a race each time: it reports one
// only once in a process, so that an input which is made simpler would seem to be without it. The user's options come after ours and win.
func Races(env []string) []string {
	options := "suppress_equal_stacks=0 suppress_equal_addresses=0"
	users := ""
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "GORACE="); ok {
			users = " " + value // the last one counts
		}
	}
	return []string{"GORACE=" + options + users}
}
