package judge

import (
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

var subscriptionRules = []teasel.Rule{
	{ID: RuleSubscription, Severity: teasel.Medium, Title: "Subscription does not keep to what was asked for",
		Help:   "What subscriptions/listen led to breaks a rule: there was no acknowledgment, or something came before it; a notification came of a kind, or for a resource, that was not asked for; or one does not carry the id of the subscription.\n\nClients with more than one subscription tell them apart by the id, and take no notification before the acknowledgment.\n\nSend notifications/subscriptions/acknowledged first, then what it names, each with the id of the request in params._meta.",
		Source: specification + "2026-07-28/basic/patterns/subscriptions#acknowledgment"},
}

// subscribed says which member of a subscription's filter asks for a notification.
var subscribed = map[string]string{
	"notifications/tools/list_changed":     "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
	"notifications/resources/updated":      "resourceSubscriptions",
}

const acknowledged = "notifications/subscriptions/acknowledged"

// subscriptions judges what came of the requests for notifications.
func (j *judge) subscriptions() {
	if !j.session.Stateless {
		return
	}
	var all []int
	for i := range j.t.Sent {
		if j.t.Sent[i].Message.Method == session.ListenMethod {
			all = append(all, i)
		}
	}
	for _, i := range all {
		s := &j.t.Sent[i]
		filter := s.Message.Params.Get("notifications")
		if filter == nil || filter.Kind != mutate.Object || j.t.Head(s) != "" || !j.isSound(s) || !isStamped(&s.Message) || ambiguous(s.Message.Params) || j.isCut(s) {
			continue
		}
		j.subscription(i, filter, len(all) == 1)
	}
	j.unasked(len(all) > 0)
}

// unasked judges notifications that came without a subscription: in the response to another request, or where there was none and they have
// no id of one. listens says that the script has a request for some.
func (j *judge) unasked(listens bool) {
	for i := range j.t.Received {
		r := &j.t.Received[i]
		if subscribed[r.Message.Method] == "" || r.Message.Class != jsonrpc.ClassNotification {
			continue
		}
		with := ""
		switch {
		case r.Via > 0 && j.t.Sent[r.Via-1].Message.Method != session.ListenMethod:
			with = ", in the response to " + j.t.Spoken(&j.t.Sent[r.Via-1])
		case r.Via > 0, listens, r.Message.Params.Get("_meta").Get(session.MetaSubscription) != nil:
			continue
		}
		j.report(RuleSubscription, r.Message.Method, "", fmt.Sprintf("%s came%s; no client has asked for it with %s.", jsonrpc.Cut(r.Raw, 160), with, session.ListenMethod))
	}
}

// subscription judges what came of one request. only says that the script has no other such request.
func (j *judge) subscription(i int, filter *mutate.JSON, only bool) {
	s := &j.t.Sent[i]
	line, id := jsonrpc.Cut(s.Raw, 160), s.Message.Root.Get("id")
	report := func(group, format string, args ...any) {
		j.report(RuleSubscription, session.ListenMethod, group, fmt.Sprintf(format, args...))
	}
	answer := j.answer(s)
	if answer != nil && (answer.Message.Error != nil || s.Status >= 300) {
		if script.ErrorCode(answer) == codeMethodNotFound && j.announces() {
			j.report(RuleMissing, session.ListenMethod, "", fmt.Sprintf("The server declared that it sends notifications, but answers %s with %s.", line, jsonrpc.Cut(answer.Raw, 160)))
		}
		return
	}
	begun := false
	var strange *script.Received // an acknowledgment that may be meant for this request
	for k := range j.t.Received {
		r := &j.t.Received[k]
		m := &r.Message
		tag := m.Params.Get("_meta").Get(session.MetaSubscription)
		if m.Class != jsonrpc.ClassNotification || r.Via != i+1 && (r.Via != 0 || !tag.Equal(id) && (tag != nil || !only)) {
			if m.Method == acknowledged && r.Via == 0 && only {
				strange = r
			}
			continue
		}
		said := jsonrpc.Cut(r.Raw, 160)
		asks, change := subscribed[m.Method]
		switch {
		case m.Method == acknowledged:
			begun = true
			agreed := m.Params.Get("notifications")
			for _, kind := range subscribed {
				if asksFor(agreed, kind, nil) && !asksFor(filter, kind, nil) {
					report("acknowledged", "%s was answered with %s, which acknowledges more than was asked for.", line, said)
				}
			}
		case !change:
			if r.Via == i+1 && (m.Method == "notifications/progress" || m.Method == "notifications/message") {
				report("of a request", "%s came on the stream of %s; such a notification belongs to the response of a request.", said, line)
			}
			continue
		case !asksFor(filter, asks, m.Params):
			report("not asked for", "%s came after %s, which does not ask for it.", said, line)
		case !begun:
			report("early", "%s came after %s before that was acknowledged.", said, line)
		}
		if !tag.Equal(id) {
			report("id", "%s came after %s, and does not carry its id in params._meta as %s.", said, line, session.MetaSubscription)
		}
	}
	if !begun && strange != nil && j.outlasted(i) {
		report("id", "%s came after %s, and does not carry its id in params._meta as %s.", jsonrpc.Cut(strange.Raw, 160), line, session.MetaSubscription)
	} else if !begun && (answer != nil || j.outlasted(i)) {
		report("acknowledgment", "%s was not acknowledged with %s.", line, acknowledged)
	}
	if answer != nil && answer.Message.Result != nil && !answer.Message.Result.Get("_meta").Get(session.MetaSubscription).Equal(id) {
		report("id", "%s was answered with %s, which does not carry its id in _meta as %s.", line, jsonrpc.Cut(answer.Raw, 160), session.MetaSubscription)
	}
}

// asksFor reports whether a filter has a kind of notification. params are those of an update, whose resource has to be, or to be part of,
// one of those in the filter; nil: any will do.
func asksFor(filter *mutate.JSON, kind string, params *mutate.JSON) bool {
	v := filter.Get(kind)
	switch {
	case v == nil:
		return false
	case v.Kind == mutate.Bool:
		return v.Text == "true"
	case v.Kind != mutate.Array || params == nil:
		return v.Len() > 0
	}
	uri, ok := params.Get("uri").Str()
	for _, item := range v.Items {
		if wanted, _ := item.Str(); !ok || strings.HasPrefix(plainForm(uri), plainForm(wanted)) {
			return true
		}
	}
	return false
}

// announces reports whether the server has declared that it sends notifications which are asked for.
func (j *judge) announces() bool {
	for _, need := range announcing {
		if v := j.session.Capabilities.Get(need[0]).Get(need[1]); v != nil && v.Kind == mutate.Bool && v.Text == "true" {
			return true
		}
	}
	return false
}

// outlasted reports whether the server has answered a request that came after a line, and had nothing more to say.
func (j *judge) outlasted(i int) bool {
	if !j.t.Stands() {
		return false
	}
	for k := i + 1; k < len(j.t.Sent); k++ {
		if r := j.answer(&j.t.Sent[k]); r != nil && r.Message.Result != nil && j.t.Sent[k].Regular {
			return true
		}
	}
	return false
}
