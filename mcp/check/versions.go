package check

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// checkVersions asks the same in each version that there is: in the one that the server prefers twice, and then in the others, that
// without a handshake included. Over HTTP each is a session of its own. Over standard input and output a server that takes initialize
// a second time is in another version from then on, and that without a handshake comes first.
func checkVersions(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if b.Session.Stateless || b.Session.Events {
		return
	}
	versions := slices.Clone(session.Versions)
	slices.Reverse(versions)
	versions = slices.DeleteFunc(versions, func(v string) bool { return v == b.Version() })
	versions = slices.Concat([]string{b.Version(), b.Version()}, versions)
	Chunks(comparable(b), 2*chunk, func(part int, requests []script.Step) {
		if b.Session.HTTP {
			emit("all "+strconv.Itoa(part), script.NewFresh(Versions, inVersions(b.Session, append(versions, session.StatelessVersion), requests)...))
			return
		}
		eras := []string{session.StatelessVersion, session.StatelessVersion, b.Version()}
		emit("eras "+strconv.Itoa(part), script.NewFresh(Versions, inVersions(b.Session, eras, requests)...))
		emit("handshakes "+strconv.Itoa(part), script.NewFresh(Versions, inVersions(b.Session, versions, requests)...))
	})
}

// comparable returns requests whose answers do not depend on the version, of a server that has no reason to answer otherwise.
func comparable(b *session.Catalog) (steps []script.Step) {
	EachList(b, func(method string) { steps = append(steps, script.Send(jsonrpc.RequestLine(method, nil))) })
	for _, t := range b.Tools {
		if t.Reads && !t.Slow && len(steps) < 2*chunk {
			steps = append(steps, script.Send(t.Call()))
		}
	}
	for i := range b.Session.Resources[:min(4, len(b.Session.Resources))] {
		steps = append(steps, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", b.Session.Resources[i].URI))))
	}
	for i := range b.Session.Prompts[:min(4, len(b.Session.Prompts))] {
		steps = append(steps, script.Send(PromptLine(&b.Session.Prompts[i], b.Likely)))
	}
	return steps
}

// inVersions returns steps that ask the same in each version, as a client that has no capabilities.
func inVersions(s *session.Session, versions []string, requests []script.Step) (steps []script.Step) {
	for _, version := range versions {
		head := ""
		if s.HTTP {
			head = "Mcp-Session-Id:"
		}
		if version == session.StatelessVersion {
			for _, step := range append([]script.Step{script.SendText(session.DiscoverLine)}, requests...) {
				line := bareClient(session.Stamp(step.Line))
				if m := jsonrpc.Parse(line); s.HTTP {
					head = "Mcp-Session-Id:\n" + session.RequestHead(&m, s.Mirrors)
				}
				steps = append(steps, withHead(string(line), head))
			}
			continue
		}
		begin := len(steps)
		steps = append(steps, withHead(string(bareClient(session.InitializeLine(version))), head))
		if s.HTTP {
			head = ""
			if s.HasID {
				head = fmt.Sprintf("Mcp-Session-Id: @{%d:Mcp-Session-Id}", begin)
			}
			if version >= "2025-06-18" {
				head = strings.TrimPrefix(head+"\nMCP-Protocol-Version: "+version, "\n")
			}
		}
		steps = append(steps, withHead(session.InitializedLine, head))
		for _, step := range requests {
			steps = append(steps, withHead(string(step.Line), head))
		}
	}
	return steps
}

// bareClient returns a line in which the client has no capabilities: what it has depends on the version, and what a server offers on
// that.
func bareClient(line []byte) []byte {
	for _, version := range append(slices.Clone(session.Versions), session.StatelessVersion) {
		line = bytes.Replace(line, []byte(session.ClientCapabilities(version)), []byte("{}"), 1)
	}
	return line
}

// A spoken is the part of a script that is in one version.
type spoken struct {
	version string
	answers map[string]*script.Sent // by what is asked
}

// versions holds what was answered in one version against what was in another.
func (j *Case) versions() {
	all := j.spoken()
	if len(all) < 3 || all[0].version != all[1].version {
		return
	}
	for _, other := range all[2:] {
		for i := range j.Transcript.Sent { // in the order in which they were sent
			s := &j.Transcript.Sent[i]
			first, again, now := all[0].answers[asked(s)], all[1].answers[asked(s)], other.answers[asked(s)]
			if s != first || again == nil || now == nil || !j.alike(first, again) || j.alike(first, now) {
				continue
			}
			j.report(RuleVersions, j.subject(s), "", fmt.Sprintf("%s was answered with %s in version %s, twice, and with %s in version %s.",
				jsonrpc.Cut(s.Raw, 120), j.said(first), all[0].version, j.said(now), other.version))
		}
	}
}

// spoken returns the parts of the script whose version the server has agreed to.
func (j *Case) spoken() (all []spoken) {
	open := false
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		r, m := j.answer(s), &s.Message
		switch {
		case m.Method == "initialize":
			version, _ := m.Params.Get("protocolVersion").Str()
			open = r != nil && r.Message.Result.Get("protocolVersion").Equal(m.Params.Get("protocolVersion"))
			all = append(all, spoken{version, map[string]*script.Sent{}})
		case m.Method == "server/discover":
			open = r != nil && strings.Contains(r.Message.Result.Get("supportedVersions").String(), session.StatelessVersion)
			all = append(all, spoken{session.StatelessVersion, map[string]*script.Sent{}})
		case !open, m.Class != jsonrpc.ClassRequest, r == nil:
		default:
			all[len(all)-1].answers[asked(s)] = s
		}
	}
	return all
}

// asked returns what a request asks, whatever the version.
func asked(s *script.Sent) string {
	if s.Message.Params == nil || s.Message.Params.Kind != mutate.Object {
		return s.Message.Method
	}
	params := s.Message.Params.Clone()
	params.Delete("_meta")
	return strings.TrimSuffix(s.Message.Method+" "+params.String(), " {}")
}

// alike reports whether two answers to the same say the same. What cannot be compared counts as the same.
func (j *Case) alike(a, b *script.Sent) bool {
	one, other := j.answer(a), j.answer(b)
	if refuses(a, one) != refuses(b, other) {
		return false
	}
	first, ok := essence(a.Message.Method, one.Message.Result)
	second, both := essence(b.Message.Method, other.Message.Result)
	return !ok || !both || refuses(a, one) || first == second || sameButTime(one.Message.Result, other.Message.Result)
}

// refuses reports whether an answer refuses a request, by an error, a status, or a result that says so: which it is depends on the version.
func refuses(s *script.Sent, r *script.Received) bool {
	return r.Message.Result == nil || r.Message.IsRefusal() || s.Status >= 300
}

// said shows an answer.
func (j *Case) said(s *script.Sent) string {
	if r := j.answer(s); len(r.Raw) > 0 {
		return jsonrpc.Cut(r.Raw, 160)
	}
	return "status " + strconv.Itoa(s.Status)
}

// essence returns what a result says, without what a version adds to it; false: it has what a version need not have, or there is
// nothing to compare.
func essence(method string, result *mutate.JSON) (text string, ok bool) {
	var parts []string
	ok = true
	add := func(v *mutate.JSON, name string) {
		part, is := v.Get(name).Str()
		parts, ok = append(parts, part), ok && is
	}
	each := func(list, name string, names ...string) {
		items := result.Get(list)
		if ok = items != nil && items.Kind == mutate.Array; !ok {
			return
		}
		for _, item := range items.Items {
			for _, name := range names {
				item = item.Get(name)
			}
			add(item, name)
		}
	}
	switch method {
	case "tools/list":
		each("tools", "name")
	case "resources/list":
		each("resources", "uri")
	case "resources/templates/list":
		each("resourceTemplates", "uriTemplate")
	case "prompts/list":
		each("prompts", "name")
	case "tools/call":
		each("content", "text") // items of other types, which some versions do not have, have none
	case "resources/read":
		each("contents", "text")
	case "prompts/get":
		each("messages", "text", "content")
	default:
		return "", false
	}
	if strings.HasSuffix(method, "/list") { // whose order is another rule's business
		slices.Sort(parts)
	}
	text = strings.Join(parts, "\x00")
	for _, version := range append(slices.Clone(session.Versions), session.StatelessVersion) {
		text = strings.ReplaceAll(text, version, "VERSION")
	}
	return text, ok
}
