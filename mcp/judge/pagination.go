package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
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
			"%s was answered with a result, although the cursor is not one that the server gave; expected error -32602.", jsonrpc.Cut(s.Raw, 160)))
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
	if next := result.Get("nextCursor"); next != nil && next.Kind != mutate.String {
		j.report(RulePagination, j.subject(s), "type", fmt.Sprintf("The nextCursor that answers %s is %s and not a string.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Describe(next.Kind)))
	}
	items := result.Get(name)
	if items == nil || items.Kind != mutate.Array {
		j.report(RuleList, j.subject(s), "", fmt.Sprintf("The result of %s has no list %q.", s.Message.Method, name))
		return
	}
	seen := make(map[string]bool)
	for i, item := range items.Items {
		if why := j.itemFault(s.Message.Method, item); why != "" {
			j.report(RuleList, j.subject(s), "", fmt.Sprintf("%s: %s[%d]: %s.", s.Message.Method, name, i, why))
			continue
		}
		if name != "tools" {
			continue
		}
		j.toolDefinition(item)
		if called := item.Get(key).Text; seen[called] {
			j.reportAs(RuleToolName, teasel.Medium, j.subject(s), jsonrpc.Cut(called, 60), fmt.Sprintf("tools/list has the name %q twice.", jsonrpc.Cut(called, 60)))
		} else {
			seen[called] = true
		}
	}
	j.order(s, items, key, result)
}

// itemFault says what is wrong with an item of a list, "" if nothing is.
func (j *judge) itemFault(method string, item *mutate.JSON) string {
	if item == nil || item.Kind != mutate.Object {
		return "it is no object"
	}
	f := session.StringFault(item, "name")
	switch method {
	case "resources/list":
		f = session.FirstFault(session.StringFault(item, "uri"), f)
	case "resources/templates/list":
		f = session.FirstFault(session.StringFault(item, "uriTemplate"), f)
	case "prompts/list":
		f = session.FirstFault(f, promptArgumentsFault(item.Get("arguments")))
	}
	if f.Text != "" {
		return f.Text
	}
	for _, optional := range []string{"description", "title", "mimeType"} {
		if v := item.Get(optional); v != nil && v.Kind != mutate.String {
			return optional + " is " + jsonrpc.Describe(v.Kind)
		}
	}
	return annotationsFaultOf(method, item)
}

// annotationsFaultOf judges annotations, which tools have others of.
func annotationsFaultOf(method string, item *mutate.JSON) string {
	a := item.Get("annotations")
	if a == nil || method == "prompts/list" {
		return ""
	}
	if method != "tools/list" {
		return annotationsFault(a)
	}
	if a.Kind != mutate.Object {
		return "annotations is " + jsonrpc.Describe(a.Kind)
	}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if v := a.Get(hint); v != nil && v.Kind != mutate.Bool {
			return hint + " is " + jsonrpc.Describe(v.Kind)
		}
	}
	return ""
}

func promptArgumentsFault(arguments *mutate.JSON) session.ParamFault {
	if arguments == nil {
		return session.ParamFault{}
	}
	if arguments.Kind != mutate.Array {
		return session.ParamFault{Text: "arguments is " + jsonrpc.Describe(arguments.Kind)}
	}
	for _, a := range arguments.Items {
		if f := session.StringFault(a, "name"); f.Text != "" {
			return session.ParamFault{Text: "an argument's " + f.Text}
		}
		if v := a.Get("required"); v != nil && v.Kind != mutate.Bool {
			return session.ParamFault{Text: "an argument's required is " + jsonrpc.Describe(v.Kind)}
		}
	}
	return session.ParamFault{}
}

// toolDefinition judges the schemas and the name of a tool. What is wrong with the schemas of many tools is one fault of
// whatever has made them.
func (j *judge) toolDefinition(item *mutate.JSON) {
	name := item.Get("name").Text
	subject := "tools/list " + jsonrpc.Cut(name, 80)
	report := func(cause, message string) {
		j.reportCause(RuleToolDefinition, teasel.Medium, subject, cause, item.Append(nil), message)
	}
	schema := item.Get("inputSchema")
	if f := session.ObjectFault(item, "inputSchema"); f.Text != "" {
		report("input: "+f.Text, fmt.Sprintf("Of the tool %q the %s.", jsonrpc.Cut(name, 60), f.Text))
	} else if why := schemaFault(schema); why != "" {
		report("input: "+why, fmt.Sprintf("The inputSchema of the tool %q is wrong: %s.", jsonrpc.Cut(name, 60), why))
	}
	if output := item.Get("outputSchema"); output != nil && j.atLeast("2025-06-18") {
		if why := schemaFault(output); why != "" {
			report("output: "+why, fmt.Sprintf("The outputSchema of the tool %q is wrong: %s.", jsonrpc.Cut(name, 60), why))
		}
	}
	if j.atLeast("2025-11-25") && !isPortableName(name) {
		j.report(RuleToolName, subject, "", fmt.Sprintf("The name of the tool %q is empty, longer than 128 characters, or has characters other than A-Z a-z 0-9 _ - and .", jsonrpc.Cut(name, 140)))
	}
}

func schemaFault(schema *mutate.JSON) string {
	if schema.Kind != mutate.Object {
		return "it is " + jsonrpc.Describe(schema.Kind)
	}
	if kind, _ := schema.Get("type").Str(); kind != "object" {
		return `its type is not "object"`
	}
	return session.CompileSchema(schema).Broken
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
				j.report(RulePagination, j.subject(s), "loop", fmt.Sprintf("The page that %s was answered with leads back, by the nextCursor %q, to a page that was seen.",
					jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(again, 60)))
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
			j.report(RulePageRepeats, j.subject(s), "", fmt.Sprintf("%s has %q on more than one page.", s.Message.Method, jsonrpc.Cut(k, 80)))
			return true
		}
	}
	return false
}
