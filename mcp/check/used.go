package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// Bounds of the scripts that use a server up.
const (
	usedTools = 16  // that are called
	usedCalls = 24  // of each, between
	usedLines = 400 // between, in all
)

// usedTexts are what a text is replaced by that a tool may keep: what separates records, cannot be written or read back, is long, or
// means something to a file system or a format.
var usedTexts = []string{
	"", "a\nb", "\x00", "\ud7ff\uffff", `"`, `\`, "'", "}{", "..", "/", "a/b", "%", "\u2028", "\U0001F4A9", "__proto__", "null", "-1", "\r\n\r\n",
}

// checkUsed calls each tool plainly, and then in every other way, and plainly again. Tools that may fail because of somebody else are left
// out.
func checkUsed(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	var look, refused, all, each []script.Step
	tools := quickTools(b, r, usedTools, func(t *session.Operation) bool { return !t.SaysOpen && !t.Network })
	for _, t := range tools {
		look = append(look, script.Send(t.Call()))
		for _, i := range r.Perm(len(t.Broken))[:min(usedCalls/2, len(t.Broken))] {
			refused = append(refused, script.Send(t.CallWith(t.Broken[i])))
		}
		calls := usedUp(t, r)
		all = append(all, calls...)
		r.Shuffle(len(calls), func(i, k int) { calls[i], calls[k] = calls[k], calls[i] })
		for _, c := range calls[:min(len(calls), usedLines/2/len(tools))] {
			each = append(each, c, script.Send(t.Call()))
		}
	}
	if len(look) == 0 {
		return
	}
	begin := script.Handshake(b.Version())
	use := func(name string, between []script.Step) {
		r.Shuffle(len(between), func(i, k int) { between[i], between[k] = between[k], between[i] })
		between = between[:min(usedLines, len(between))]
		emit(name, script.NewFresh(Used, slices.Concat(begin, inTurn(look), between, look, look)...))
		slices.Reverse(look) // what spoils another tool may stand before it in the list, or behind it
	}
	use("refused calls", append(texts(harmlessGarbage), refused...))
	use("calls", slices.Concat(all, refused))
	// Between two plain calls of a tool there is one other here: what succeeds beside it has no part in what is refused then.
	emit("one call at a time", script.NewFresh(Used, slices.Concat(begin, inTurn(look), each, look, look)...))
}

// inTurn returns each call twice, and behind it those before it again: a plain call may be the one that spoils others.
func inTurn(calls []script.Step) (steps []script.Step) {
	for i, c := range calls {
		steps = append(steps, c, c)
		steps = append(steps, calls[:i]...)
	}
	return append(steps, calls...)
}

// usedUp returns calls of a tool with many arguments that its schema takes.
func usedUp(t *session.Operation, r *teasel.Rand) (calls []script.Step) {
	add := func(arguments *mutate.JSON) { calls = append(calls, script.Send(t.CallWith(arguments))) }
	add(t.Full)
	for i := 0; i < usedCalls/3 && t.Schema != nil; i++ {
		v, _ := t.Schema.Generate(r, []schema.Mode{schema.Conform, schema.Adversarial}[i%2])
		add(v)
	}
	for _, pointer := range t.Texts[:min(2, len(t.Texts))] {
		for _, text := range usedTexts {
			add(t.With(pointer, text))
		}
	}
	return calls
}

// Words in the names of tools that say that other tools are refused until something else was called, or afterwards.
var (
	endingWords = []string{
		"cancel", "clear", "close", "deactivate", "delete", "disable", "disconnect", "drop", "end", "exit", "finish", "limit", "lock", "logout", "off", "pause", "quit", "release",
		"remove", "reset", "revoke", "shutdown", "sign", "stop", "suspend", "terminate", "unload",
	}
	openingWords = []string{
		"activate", "auth", "authenticate", "authorize", "begin", "configure", "connect", "enable", "init", "initialize", "load", "login", "mode", "open", "register", "restore", "resume",
		"select", "set", "start", "switch", "unlock", "use",
	}
)

// SubjectEvery is the subject of a server on which no call succeeds any more.
const SubjectEvery = "(every tool)"

// usedCall is a call that stands several times in a script.
type usedCall struct {
	line   string
	first  *script.Sent
	lastOK int // step in which it succeeded last
	bad    int // step in which it was refused first; 0: it succeeds still
	refuse *script.Received
}

// used looks for calls that were answered with a result, twice or more, and are refused for good after other calls. Those others must
// have been refused themselves, or say that they only read. Where they succeeded it may be what they are for that others are refused:
// then no tool may answer any more, of two at least, and no name of a tool may say that it ends or begins something.
func (j *Case) used() {
	calls := j.usedCalls()
	var broken []usedCall
	tools, sound := map[string]bool{}, 0
	for _, c := range calls {
		if c.bad == 0 {
			sound++
			continue
		}
		broken = append(broken, c)
		tools[session.CalledName(&c.first.Message)] = true
	}
	for _, c := range broken {
		causes, effective := j.causes(&c)
		if len(causes) == 0 {
			continue
		}
		every := sound == 0 && len(tools) > 1
		if effective && (!every || j.endsOrBegins()) {
			continue
		}
		subject := j.subject(c.first)
		if every {
			subject = SubjectEvery
		}
		j.report(RuleUsed, subject, "", fmt.Sprintf("%s was answered with a result at first, and is refused for good after %s: %s.",
			jsonrpc.Cut(c.first.Raw, 160), jsonrpc.Cut(causes[len(causes)-1].Raw, 160), jsonrpc.Cut(c.refuse.Raw, 160)))
		return
	}
}

// usedCalls returns the calls that stand several times and have succeeded twice or more at first.
func (j *Case) usedCalls() (calls []usedCall) {
	at := map[string]int{} // of a line, in calls; -1: it has succeeded and been refused by turns
	for i := range j.Transcript.Script.Steps {
		s := j.single(i)
		if s == nil || s.Message.Method != "tools/call" {
			continue
		}
		r := j.answer(s)
		if r == nil || saysTooMany(r) {
			return nil
		}
		line := string(j.Transcript.Script.Steps[i].Line)
		n, known := at[line]
		switch ok := script.Succeeded(r); {
		case !known && ok:
			at[line] = len(calls)
			calls = append(calls, usedCall{line: line, first: s, lastOK: -i})
		case !known || n < 0:
			at[line] = -1
		case ok && calls[n].bad > 0:
			calls[n].lastOK, at[line] = 0, -1
		case ok:
			calls[n].lastOK = i
		case calls[n].bad == 0:
			calls[n].bad, calls[n].refuse = i, r
		}
	}
	return slices.DeleteFunc(calls, func(c usedCall) bool { return c.lastOK <= 0 || c.bad > 0 && !j.refusedAgain(&c) })
}

// refusedAgain reports whether a call was refused more than once.
func (j *Case) refusedAgain(c *usedCall) bool {
	for i := c.bad + 1; i < len(j.Transcript.Script.Steps); i++ {
		if string(j.Transcript.Script.Steps[i].Line) == c.line {
			return true
		}
	}
	return false
}

// causes returns what was sent between the last success of a call and its first refusal, and had not been sent before that without harm,
// and whether any of it had an effect that it may have had on purpose.
func (j *Case) causes(c *usedCall) (causes []*script.Sent, effective bool) {
	harmless := map[string]bool{c.line: true}
	for i := range c.lastOK {
		harmless[string(j.Transcript.Script.Steps[i].Line)] = true
	}
	for i := c.lastOK + 1; i < c.bad; i++ {
		s := j.single(i)
		if s == nil || harmless[string(j.Transcript.Script.Steps[i].Line)] || j.sameRefusal(s, c) {
			continue
		}
		causes = append(causes, s)
		if r := j.answer(s); r != nil && script.Succeeded(r) && s.Message.Method != "ping" {
			tool := j.called(s)
			effective = effective || tool == nil || !tool.ReadOnly
		}
	}
	return causes, effective
}

// sameRefusal reports whether a line was refused in the words in which a call is refused: what is full, or ended, before it was sent is not its
// doing.
func (j *Case) sameRefusal(s *script.Sent, c *usedCall) bool {
	r := j.answer(s)
	if r == nil || !r.Message.IsRefusal() {
		return false
	}
	words := func(s *script.Sent, r *script.Received) string {
		return string(observe.AppendNormal(nil, script.RefusalText(r), observe.EchoOf(s)))
	}
	return words(s, r) == words(c.first, c.refuse)
}

// endsOrBegins reports whether there is a tool after which, or before which, it is right that others are refused.
func (j *Case) endsOrBegins() bool {
	return slices.ContainsFunc(j.Session.Tools, func(t session.Tool) bool {
		name := strings.ToLower(t.Name)
		return session.HasWord(t.Name, endingWords) || session.HasWord(t.Name, openingWords) || strings.Contains(name, "log_in") || strings.Contains(name, "log_out")
	})
}
