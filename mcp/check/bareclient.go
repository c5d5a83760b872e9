package check

import (
	"bytes"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// CapabilityCode is the code of the error that says what a client would have to be able to do.
const CapabilityCode = -32021

// checkBareClient makes the same call as a client that can be asked for everything, and as one that has no capabilities.
func checkBareClient(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.Stateless {
		return
	}
	both := func(name string, line []byte) {
		line = session.Stamp(line)
		emit(name, script.NewShared(BareClient, script.Send(line), script.Send(bareClient(line))))
	}
	for _, t := range b.Tools {
		if !t.Slow {
			both(t.Name, t.Call())
		}
	}
	for i := range b.Session.Prompts {
		both(b.Session.Prompts[i].Name, PromptLine(&b.Session.Prompts[i], b.Likely))
	}
}

// first returns the line of a step before what it was asked for is answered; nil: there is none.
func (j *Case) first(step int) *script.Sent {
	for i := range j.Transcript.Sent {
		if s := &j.Transcript.Sent[i]; s.Step == step && !s.Unresolved {
			return s
		}
	}
	return nil
}

// refusedBare holds how a client without capabilities is refused what another client is asked something for.
func (j *Case) refusedBare() {
	steps := j.Transcript.Script.Steps
	for i := 1; i < len(steps); i++ {
		full, bare := j.first(i-1), j.first(i)
		if full == nil || bare == nil || !bytes.Equal(bareClient(steps[i-1].Line), steps[i].Line) || bytes.Equal(steps[i-1].Line, steps[i].Line) {
			continue
		}
		asked, refused := j.answer(full), j.answer(bare)
		if asked == nil || refused == nil || refused.Message.Error == nil {
			continue
		}
		if kind, _ := asked.Message.Result.Get("resultType").Str(); kind != session.InputRequired {
			continue
		}
		needs := refused.Message.Error.Get("data").Get("requiredCapabilities")
		expected := ""
		switch {
		case script.ErrorCode(refused) != CapabilityCode:
			expected = fmt.Sprintf("error %d", CapabilityCode)
		case needs == nil || needs.Kind != mutate.Object:
			expected = "data.requiredCapabilities with what is missing"
		default:
			continue
		}
		j.report(RuleCapabilityCode, j.subject(bare), "", fmt.Sprintf("A client that has no capabilities is refused %s with %s, which one that has them is asked something for; expected %s.",
			jsonrpc.Cut(bare.Raw, 160), jsonrpc.Cut(refused.Raw, 160), expected))
	}
}
