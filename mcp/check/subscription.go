package check

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Kinds returns the notifications of which a server of the version without a handshake has declared that a client may ask for them, as
// members of the filter of a subscription.
func Kinds(s *session.Session) (all []mutate.Member) {
	for _, kind := range []struct{ capability, flag, name string }{
		{"tools", "listChanged", "toolsListChanged"}, {"prompts", "listChanged", "promptsListChanged"},
		{"resources", "listChanged", "resourcesListChanged"}, {"resources", "subscribe", "resourceSubscriptions"},
	} {
		if v := s.Capabilities.Get(kind.capability).Get(kind.flag); v == nil || v.Kind != mutate.Bool || v.Text != "true" {
			continue
		}
		switch {
		case kind.flag == "listChanged":
			all = append(all, jsonrpc.Member(kind.name, mutate.NewBool(true)))
		case len(s.Resources) > 0:
			all = append(all, jsonrpc.Member(kind.name, mutate.NewArray(mutate.NewString(s.Resources[0].URI))))
		}
	}
	return all
}

// Listen returns the steps of a subscription: its request, which nobody waits for, another request, and its end.
func Listen(s *session.Session, filter ...mutate.Member) []script.Step {
	line := jsonrpc.RequestLine(session.ListenMethod, mutate.NewObject(jsonrpc.Member("notifications", mutate.NewObject(filter...))))
	steps := []script.Step{script.SendOn(line), script.SendText(session.DiscoverLine)}
	if !s.HTTP { // where the end of the connection is the end of it
		steps = append(steps, script.SendOn(CancelLine(`"@id:0"`)))
	}
	return steps
}

// checkSubscriptions asks for notifications: for each kind alone, for all, and for none.
func checkSubscriptions(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	kinds := Kinds(b.Session)
	if !b.Session.Stateless || len(kinds) == 0 {
		return
	}
	for i, kind := range kinds {
		emit(kind.Name, script.NewShared(Subscriptions, Listen(b.Session, kinds[i:i+1]...)...))
	}
	emit("all", script.NewShared(Subscriptions, Listen(b.Session, kinds...)...))
	emit("none", script.NewShared(Subscriptions, Listen(b.Session)...))
	two := Listen(b.Session, kinds[0])
	other := Listen(b.Session)
	emit("two at a time", script.NewShared(Subscriptions, slices.Concat(two[:1], other[:1], two[1:])...))
	emit("no filter", script.NewShared(Subscriptions, script.SendOn(jsonrpc.RequestLine(session.ListenMethod, nil)), script.SendText(session.DiscoverLine)))
}
