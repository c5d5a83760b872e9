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
	again := ", whatever they are: it does so too when one plain request is sent again and again"
	if in := t.Script; len(in.Steps) == 1 && in.Steps[0].Times > 1 && len(t.Sent) > 0 && t.Sent[0].Message.Method == "tools/call" { // no ping does it
		again = ": it does so when " + j.requestOf(&t.Sent[0]) + " is sent again and again"
	}
	j.report(rule, subjectAny, "", fmt.Sprintf("%s after about %d requests%s.", how, t.Worn, again))
}
