package judge

import (
	"bytes"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// polluted holds the answers to calls without a name against one another: the name that the later one has got can only come
// from what all objects inherit.
func (j *judge) polluted() {
	clean := false
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		r := j.answer(s)
		if s.Message.Method != "tools/call" || s.Message.Params.Get("name") != nil || r == nil {
			continue
		}
		if !bytes.Contains(r.Raw, []byte(check.PollutionMarker)) {
			clean = true
			continue
		}
		call := j.lastCall(i)
		if !clean || call == nil {
			return
		}
		j.reportAs(RulePollution, teasel.High, j.subject(call), "", fmt.Sprintf(
			"After %s a call without a name is answered with %s: the name comes from the prototype of all objects.", jsonrpc.Cut(call.Raw, 200), jsonrpc.Cut(r.Raw, 160)))
		return
	}
}

// lastCall returns the last call of a tool that carries the marker before a line; nil: there is none.
func (j *judge) lastCall(before int) *script.Sent {
	for i := before - 1; i >= 0; i-- {
		if s := &j.t.Sent[i]; s.Message.Method == "tools/call" && bytes.Contains(s.Raw, []byte(check.PollutionMarker)) {
			return s
		}
	}
	return nil
}
