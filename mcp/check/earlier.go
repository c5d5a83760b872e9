package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// checkEarlier asks the same before and after what other clients may have said on the same connection, on a server that nobody has
// said anything to: in the version without a handshake each request stands alone.
func checkEarlier(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.Stateless {
		return
	}
	others := otherClients(b.Session.HTTP)
	Chunks(comparable(b), chunk, func(part int, look []script.Step) {
		var before []script.Step
		for _, s := range look {
			m := jsonrpc.Parse(s.Line)
			before = append(before, slices.Repeat([]script.Step{s}, looksOf(&m))...)
		}
		emit(fmt.Sprintf("others between %d", part), script.NewFresh(EarlierRequests, slices.Concat(before, others, look)...))
	})
}

// otherClients are requests that change nothing: of a client that has nothing but what it must have, of one with another name that wants to
// see what is logged, and of one in a version that does not exist. Over HTTP the last one ends its connection.
func otherClients(http bool) []script.Step {
	list := string(session.Stamp(jsonrpc.RequestLine("tools/list", nil)))
	strange := withHead(strings.Replace(list, session.StatelessVersion, NoVersion, 1), "")
	if http {
		strange.Head = "MCP-Protocol-Version: " + NoVersion + "\nConnection: close"
	}
	return []script.Step{
		script.SendText(session.DiscoverLine),
		script.Send(bareClient([]byte(list))),
		script.SendText(withLevel(strings.Replace(list, session.ClientInfo, `{"name":"teasel-other","version":"9"}`, 1), Levels[0])),
		strange,
	}
}

// afterOthers compares the answers to requests with those to the same, after other clients have asked.
func (j *Case) afterOthers() {
	for last := len(j.Transcript.Script.Steps) - 1; last > 1; last-- {
		if latest, sent := j.changed(last); sent != nil {
			j.report(RuleEarlierRequests, j.subject(sent), "", fmt.Sprintf("%s was answered with %s after requests of other clients, and with %s before them.",
				jsonrpc.Cut(sent.Raw, 160), jsonrpc.Cut(j.answer(sent).Raw, 160), jsonrpc.Cut(j.answer(j.single(latest)).Raw, 160)))
			return
		}
	}
}
