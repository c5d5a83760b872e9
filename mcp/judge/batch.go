package judge

import (
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// batchVersion is the only protocol version that has batches.
const batchVersion = "2025-03-26"

// batch judges an array of messages by the version that was negotiated. The first version says nothing of arrays.
func (j *judge) batch(i int, s *script.Sent) {
	if !j.phase.ready || j.phase.blurred || j.phase.version < batchVersion || j.session.Stateless { // it may be of an earlier version
		return
	}
	results, refused := j.batchAnswers(i, s)
	switch {
	case j.phase.version > batchVersion && results > 0:
		j.report(RuleBatch, "(batch)", "executed", fmt.Sprintf(
			"The batch %s was executed, although version %s has no batches.", jsonrpc.Cut(s.Raw, 160), j.phase.version))
	case j.phase.version == batchVersion && results == 0 && pingsOnly(s.Message.Root) && j.t.Stands():
		how := "not answered"
		if refused {
			how = "refused"
		}
		j.reportAs(RuleBatch, teasel.Medium, "(batch)", "refused", fmt.Sprintf(
			"The batch %s was %s, although version %s wants batches to be accepted.", jsonrpc.Cut(s.Raw, 160), how, batchVersion))
	}
}

// batchAnswers counts the results that can only come from a batch, and says whether there was an error.
func (j *judge) batchAnswers(i int, s *script.Sent) (results int, refused bool) {
	count := func(m *jsonrpc.Message) {
		id := m.Root.Get("id")
		if m.Error != nil {
			refused = true
		}
		if m.Result == nil || id == nil || j.asked(id) {
			return
		}
		for _, item := range s.Message.Root.Items {
			if item.Get("method") != nil && id.Equal(item.Get("id")) {
				results++
				return
			}
		}
	}
	for k := range j.t.Received {
		r := &j.t.Received[k]
		switch {
		case r.Message.Class == jsonrpc.ClassBatch:
			for _, item := range r.Message.Root.Items {
				m := jsonrpc.FromTree(item)
				count(&m)
			}
		case r.Sent < 0 || r.Sent == i:
			if r.Message.Root != nil {
				count(&r.Message)
			}
		}
	}
	return results, refused
}

// pingsOnly reports whether an array has well-formed pings only: those are answered at once or never. Of two with one id
// a server may want to answer neither.
func pingsOnly(root *mutate.JSON) bool {
	for i, item := range root.Items {
		if item == nil || item.Kind != mutate.Object {
			return false
		}
		m := jsonrpc.FromTree(item)
		if m.Class != jsonrpc.ClassRequest || m.Method != "ping" || m.Twice || !saysJSONRPC(item) || m.Params != nil {
			return false
		}
		if slices.ContainsFunc(root.Items[:i], func(before *mutate.JSON) bool { return before.Get("id").Equal(item.Get("id")) }) {
			return false
		}
	}
	return len(root.Items) > 0
}
