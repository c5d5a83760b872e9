package judge

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// contents judges the result of resources/read.
func (j *judge) contents(s *script.Sent, r *script.Received) {
	uri, _ := s.Message.Params.Get("uri").Str()
	if why := resultFault(j.phase.version, s.Message.Method, r.Message.Result); why != "" {
		j.report(RuleResourceContents, j.subject(s), "", fmt.Sprintf("%s was answered with malformed contents: %s.", brief(s), why))
		return
	}
	contents := r.Message.Result.Get("contents")
	if len(contents.Items) == 0 {
		if j.isUnknownURI(uri) {
			j.report(RuleResourceNotFound, j.subject(s), "", fmt.Sprintf(
				"There is no resource %s, and reading it gave empty contents; expected error %d.", jsonrpc.Quote(uri, 80), j.noResource()))
		}
		return
	}
	same := false
	for _, item := range contents.Items {
		same = same || sameURI(uri, item.Get("uri").Text) || liesIn(item.Get("uri").Text, uri)
	}
	if !same && isPlainURI(uri) && len(contents.Items) == 1 {
		j.report(RuleResourceURI, j.subject(s), "", fmt.Sprintf(
			"The resource %s was asked for and %s was returned.", jsonrpc.Quote(uri, 80), jsonrpc.Quote(contents.Items[0].Get("uri").Text, 80)))
	}
}

// noResource returns the error code for a resource that does not exist, which depends on the version.
func (j *judge) noResource() int {
	if j.session.Stateless {
		return codeInvalidParams
	}
	return codeResourceNotFound
}

// sameURI reports whether two URIs are the same but for how they are written.
func sameURI(a, b string) bool {
	if a == b {
		return true
	}
	return plainForm(a) == plainForm(b)
}

// liesIn reports whether a URI is that of something in the directory that another one names, which a server may return in
// its place.
func liesIn(uri, directory string) bool {
	return strings.HasPrefix(plainForm(uri), plainForm(directory)+"/")
}

func plainForm(uri string) string {
	if decoded, err := url.PathUnescape(uri); err == nil {
		uri = decoded
	}
	return strings.TrimRight(strings.ToLower(uri), "/")
}

// isPlainURI reports whether nobody could write a URI in another way.
func isPlainURI(uri string) bool {
	if schemeOf(uri) == "" || strings.Contains(uri, "..") || strings.Contains(uri, "/.") || strings.Contains(uri, "////") {
		return false
	}
	return !strings.ContainsFunc(uri, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:", r))
	})
}

// isUnknownResource reports whether a request certainly names a resource that the server does not have.
func (j *judge) isUnknownResource(m *jsonrpc.Message) bool {
	uri, ok := m.Params.Get("uri").Str()
	return ok && j.isUnknownURI(uri)
}

// isUnknownURI reports whether neither a resource nor a template of the server can be meant.
func (j *judge) isUnknownURI(uri string) bool {
	if !j.complete() {
		return false
	}
	scheme := schemeOf(uri)
	for _, list := range [][]session.Resource{j.session.Resources, j.session.Templates} {
		for i := range list {
			known := list[i].URI
			if schemeOf(known) == "" || schemeOf(known) == scheme {
				return false
			}
		}
	}
	return true
}

// updated judges a notice that a resource has changed.
func (j *judge) updated(r *script.Received) {
	uri, ok := r.Message.Params.Get("uri").Str()
	if !j.fresh() || !ok || j.session.Stateless {
		return
	}
	for i := range j.t.Sent {
		m := &j.t.Sent[i].Message
		if m.Method != "resources/subscribe" {
			continue
		}
		// A server may tell of parts of what was subscribed to.
		if subscribed, _ := m.Params.Get("uri").Str(); strings.HasPrefix(plainForm(uri), plainForm(subscribed)) {
			return
		}
	}
	j.report(RuleUnsubscribed, "notifications/resources/updated", "", fmt.Sprintf(
		"The server sent an update of %s, which was not subscribed to.", jsonrpc.Quote(uri, 80)))
}
