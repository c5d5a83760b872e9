package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// maxLists is how many lists are remembered as being in order.
const maxLists = 4096

// list judges one page of a list. A page that was found in order is not looked at again.
func (j *judge) list(s *script.Sent, r *script.Received) {
	j.cursor(s, r)
	hash := observe.HashBytes(observe.HashString(observe.Offset64, s.Message.Method), withoutID(r))
	if _, ok := j.lists[hash]; !ok {
		before := j.reports
		j.page(s, r)
		if j.reports == before {
			if j.lists == nil || len(j.lists) >= maxLists {
				j.lists = make(map[uint64]struct{})
			}
			j.lists[hash] = struct{}{}
		}
	}
	j.followed(s, r)
}

// withoutID returns the text of a response without the id at its beginning or end.
func withoutID(r *script.Received) []byte {
	raw, id := string(r.Raw), r.Message.ID
	if i := strings.Index(raw[:min(len(raw), 40)], id); id != "" && i >= 0 {
		return r.Raw[i+len(id):]
	}
	if id != "" && strings.HasSuffix(raw, id+"}") {
		return r.Raw[:len(raw)-len(id)-1]
	}
	return r.Raw
}

// cursor judges a page that was given for a cursor which the server cannot have made.
func (j *judge) cursor(s *script.Sent, r *script.Received) {
	cursor, ok := s.Message.Params.Get("cursor").Str()
	if ok && isForeign(cursor) {
		j.reportCause(RuleCursor, j.cursorSeverity(s), j.subject(s), "cursor", s.Raw, fmt.Sprintf(
			"%s was answered with a result, although the cursor is not one that the server gave; expected error -32602.", brief(s)))
	}
}

// cursorSeverity is how bad it is to ignore a cursor: SDKs do so where a list has no pages.
func (j *judge) cursorSeverity(s *script.Sent) teasel.Severity {
	if j.session.Pages[s.Message.Method] <= 1 {
		return teasel.Info
	}
	return teasel.Low
}

// isForeign reports whether no server could have given out a cursor: it has our own mark or letters that cursors lack.
func isForeign(cursor string) bool {
	switch cursor {
	case "__proto__", "undefined", "NaN", "../..", session.Base64("teasel"):
		return true
	}
	return strings.Contains(cursor, check.ControlName) || strings.ContainsFunc(cursor, func(r rune) bool { return r < ' ' || r > '~' })
}

// page judges the form of a page by itself.
func (j *judge) page(s *script.Sent, r *script.Received) {
	name, key := session.ListMembers(s.Message.Method)
	result := r.Message.Result
	items := result.Get(name)
	faulty, definitions := make(map[int]bool), make(map[int][]schema.Breach)
	for _, b := range resultBreaches(j.phase.version, s.Message.Method, result) {
		i, rest := itemOf(b.At, name)
		switch {
		case b.At == "/nextCursor":
			j.report(RulePagination, j.subject(s), "type", fmt.Sprintf("The nextCursor that answers %s is %s and not a string.", brief(s), jsonrpc.Describe(result.Get("nextCursor").Kind)))
		case i >= 0 && ofDefinition(&b, rest):
			b.At = rest
			definitions[i] = append(definitions[i], b)
		default:
			faulty[i] = true
			f := j.report(RuleList, j.subject(s), "", fmt.Sprintf("%s was answered with a malformed list: %s.", s.Message.Method, breachWords(&b, result)))
			f.Static = f.Static || i >= 0 && j.wasListed(s.Message.Method, items.Items[i])
		}
	}
	if items == nil || items.Kind != mutate.Array {
		return
	}
	seen := make(map[string]bool)
	for i, item := range items.Items {
		if faulty[i] || name != "tools" {
			continue
		}
		j.toolDefinition(item, definitions[i])
		if called := item.Get(key).Text; seen[called] {
			j.reportAs(RuleToolName, teasel.Medium, j.subject(s), jsonrpc.Cut(called, 60), fmt.Sprintf("tools/list has the name %s twice.", jsonrpc.Quote(called, 60))).Static = j.wasListed(s.Message.Method, item)
		} else {
			seen[called] = true
		}
	}
	j.order(s, items, key, result)
}

// wasListed reports whether an item of a list was on it before the campaign, on another process, letter by letter: then it is what the
// server says of itself, and depends on nothing that was sent.
func (j *judge) wasListed(method string, item *mutate.JSON) bool {
	var known []*mutate.JSON
	switch method {
	case "tools/list":
		for i := range j.session.Tools {
			known = append(known, j.session.Tools[i].Root)
		}
	case "prompts/list":
		for i := range j.session.Prompts {
			known = append(known, j.session.Prompts[i].Root)
		}
	case "resources/list":
		for i := range j.session.Resources {
			known = append(known, j.session.Resources[i].Root)
		}
	case "resources/templates/list":
		for i := range j.session.Templates {
			known = append(known, j.session.Templates[i].Root)
		}
	}
	return item != nil && slices.ContainsFunc(known, item.Equal)
}

// itemOf returns which item of a list a JSON pointer leads to or into, and the pointer from there; -1: none.
func itemOf(pointer, list string) (i int, rest string) {
	rest, ok := strings.CutPrefix(pointer, "/"+list+"/")
	if !ok {
		return -1, ""
	}
	index, rest, deeper := strings.Cut(rest, "/")
	if deeper {
		rest = "/" + rest
	}
	if i, err := strconv.Atoi(index); err == nil {
		return i, rest
	}
	return -1, ""
}

// ofDefinition reports whether what is wrong with a tool, at a pointer, is one of its schemas.
func ofDefinition(b *schema.Breach, at string) bool {
	return strings.HasPrefix(at, "/inputSchema") || strings.HasPrefix(at, "/outputSchema") || at == "" && slices.Equal(b.Names, []string{"inputSchema"})
}

// toolDefinition judges the schemas and the name of a tool, of which breaches says how they break the protocol's. What is wrong with the
// schemas of many tools is one fault of whatever has made them.
func (j *judge) toolDefinition(item *mutate.JSON, breaches []schema.Breach) {
	name := item.Get("name").Text
	subject := "tools/list " + jsonrpc.Cut(name, 80)
	static := j.wasListed("tools/list", item)
	report := func(cause, message string) {
		f := j.reportCause(RuleToolDefinition, teasel.Medium, subject, cause, item.Append(nil), message)
		f.Static = f.Static || static
	}
	wrong := map[string]bool{}
	for _, b := range breaches {
		which, why := "input", breachWords(&b, item)
		if strings.HasPrefix(b.At, "/output") {
			which = "output"
		}
		cause := why
		if strings.Count(b.At, "/") > 2 { // the name of an argument says nothing of what has made the schema
			cause = b.Keyword + " in properties"
		}
		wrong[which] = true
		report(which+": "+cause, fmt.Sprintf("Of the tool %s the %s.", jsonrpc.Quote(name, 60), why))
	}
	for _, which := range [...]string{"input", "output"} {
		definition := item.Get(which + "Schema")
		if wrong[which] || definition == nil || which == "output" && !j.atLeast("2025-06-18") {
			continue
		}
		if why := schema.NewChecker(definition).Invalid(); why != "" {
			report(which+": "+why, fmt.Sprintf("The %sSchema of the tool %s is wrong: %s.", which, jsonrpc.Quote(name, 60), why))
		}
	}
	if j.atLeast("2025-11-25") && !isPortableName(name) {
		j.report(RuleToolName, subject, "", fmt.Sprintf("The name of the tool %s is empty, longer than 128 characters, or has characters other than A-Z a-z 0-9 _ - and .", jsonrpc.Quote(name, 140))).Static = static
	}
}

func isPortableName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
}

// order holds a whole list against the one that was read before the campaign.
func (j *judge) order(s *script.Sent, items *mutate.JSON, key string, result *mutate.JSON) {
	if s.Message.Params.Get("cursor") != nil || result.Get("nextCursor") != nil {
		return
	}
	var known []string
	switch s.Message.Method {
	case "tools/list":
		for i := range j.session.Tools {
			known = append(known, j.session.Tools[i].Name)
		}
	case "prompts/list":
		for i := range j.session.Prompts {
			known = append(known, j.session.Prompts[i].Name)
		}
	default:
		return
	}
	got := session.Keys(items, key)
	if slices.Equal(got, known) {
		return
	}
	a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(known))
	if slices.Equal(a, b) && j.complete() {
		j.report(check.RuleListOrder, j.subject(s), "", fmt.Sprintf("%s named %s first this time and %s before.",
			s.Message.Method, jsonrpc.Cut(session.FirstOther(got, known), 60), jsonrpc.Cut(session.FirstOther(known, got), 60)))
	}
}

// followed holds a page against those that led to it, if they are in the same script.
func (j *judge) followed(s *script.Sent, r *script.Received) {
	back := j.pagesBefore(s)
	if len(back) == 0 {
		return
	}
	// A page that leads back, and the same page read twice, repeat their items for another reason.
	if again, ok := r.Message.Result.Get("nextCursor").Str(); ok {
		for _, seen := range append(back, s) {
			if given, ok := cursorOf(seen); ok && given == again {
				j.report(RulePagination, j.subject(s), "loop", fmt.Sprintf("The page that %s was answered with leads back, by the nextCursor %s, to a page that was seen.",
					brief(s), jsonrpc.Quote(again, 60)))
				return
			}
		}
	}
	name, key := session.ListMembers(s.Message.Method)
	for _, before := range back {
		if j.repeats(s, j.answer(before).Message.Result.Get(name), r.Message.Result.Get(name), key) {
			return
		}
	}
}

func cursorOf(s *script.Sent) (string, bool) { return s.Message.Params.Get("cursor").Str() }

// pagesBefore returns the requests by whose answers one got its cursor, the next one first, back to where the list begins or
// the chain bites its tail.
func (j *judge) pagesBefore(s *script.Sent) (back []*script.Sent) {
	seen := make(map[string]bool)
	for {
		cursor, ok := cursorOf(s)
		if !ok || seen[cursor] {
			return back
		}
		seen[cursor] = true
		if s = j.pageBefore(s, cursor, seen); s == nil {
			return back
		}
		back = append(back, s)
	}
}

// pageBefore returns the last request before one that was answered with a cursor; not one for a page that was seen.
func (j *judge) pageBefore(s *script.Sent, cursor string, seen map[string]bool) (before *script.Sent) {
	for i := range j.t.Sent {
		other := &j.t.Sent[i]
		if other == s || other.At > s.At {
			break
		}
		page := j.answer(other)
		if other.Message.Method != s.Message.Method || page == nil {
			continue
		}
		if given, ok := cursorOf(other); ok && seen[given] {
			continue
		}
		if next, ok := page.Message.Result.Get("nextCursor").Str(); ok && next == cursor {
			before = other
		}
	}
	return before
}

// repeats reports an item that stands on both of two pages.
func (j *judge) repeats(s *script.Sent, before, page *mutate.JSON, key string) bool {
	if before == nil || page == nil {
		return false
	}
	seen := make(map[string]bool)
	for _, k := range session.Keys(before, key) {
		seen[k] = true
	}
	for _, k := range session.Keys(page, key) {
		if k != "" && seen[k] {
			j.report(RulePageRepeats, j.subject(s), "", fmt.Sprintf("%s has %s on more than one page.", s.Message.Method, jsonrpc.Quote(k, 80)))
			return true
		}
	}
	return false
}
