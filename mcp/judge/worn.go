package judge

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/script"
)

// subjectAny stands for requests that have their part in something by their number only.
const subjectAny = "(any request)"

// worn reports a server that has ended of how many requests it was sent.
func (j *judge) worn() {
	t := j.t
	rule, how := RuleExit, "The server "+script.Ending(&t.End)
	switch {
	case t.Refuses != "":
		rule, how = RuleRefuses, "The server refuses everything"
	case t.Unresponsive:
		rule, how = RuleDeaf, "The server answers nothing any more, not even a ping,"
	case t.End.Kind != script.EndExited || t.End.Code != 0:
		rule = RuleCrash
	}
	j.report(rule, subjectAny, "", fmt.Sprintf("%s after about %d requests, whatever they are: it does so too when one plain request is sent again and again.", how, t.Worn))
}
