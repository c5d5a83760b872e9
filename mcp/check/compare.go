package check

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Controls are names that no server has.
var Controls = [2]string{ControlName + "a1", ControlName + "b2"}

// InheritedNames are names that every object of JavaScript has.
var InheritedNames = []string{"__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"}

// OwnedNames are names that runtimes give to everything, or that lookups trip over.
var OwnedNames = slices.Concat(InheritedNames, []string{"prototype", "length", "__class__", "__init__", "__dict__", "null", "undefined", "0"})

// against emits scripts that hold each of the names against the controls, a few in each. Where calls of a tool may change what comes of the next
// one, all of that is said twice.
func against(label, name string, names []string, twice bool, line func(name string) []byte, emit Emitter) {
	var steps []script.Step
	for _, n := range names {
		steps = append(steps, script.Send(line(n)))
	}
	Chunks(steps, chunk-len(Controls), func(part int, steps []script.Step) {
		control := script.Send(line(Controls[0]))
		all := append([]script.Step{control, script.Send(line(Controls[1]))}, steps...)
		if twice {
			all = append(append(all, control), steps...)
		}
		emit(name+" "+strconv.Itoa(part), script.NewShared(label, all...))
	})
}

func checkUnknownName(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	probe := func(name string, empty bool, line func(unknown string) []byte) {
		names := OwnedNames
		if empty {
			names = append([]string{""}, names...)
		}
		against(UnknownName, name, names, false, line, emit)
	}
	probe("method", false, func(unknown string) []byte { return jsonrpc.RequestLine(unknown, nil) })
	if b.Session.Has("tools") {
		probe("tool", true, func(unknown string) []byte { return session.CallLine(unknown, mutate.NewObject()) })
	}
	if b.Session.Has("prompts") {
		probe("prompt", true, func(unknown string) []byte {
			return jsonrpc.RequestLine("prompts/get", jsonrpc.Object("name", unknown))
		})
	}
	if b.Session.Has("resources") {
		probe("resource", false, func(unknown string) []byte {
			return jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", unknown))
		})
	}
	if b.Session.Has("completions") {
		probe("completion", false, func(unknown string) []byte { return session.CompletionLine(session.PromptRef(unknown), "a", "") })
	}
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		declared := t.InputSchema.Get("properties")
		unknown := slices.DeleteFunc(slices.Clone(OwnedNames), func(name string) bool { return declared.Get(name) != nil })
		against(UnknownName, "argument of "+t.Name, unknown, !t.Reads, func(name string) []byte {
			arguments := t.Plain.Clone()
			arguments.Members = append(arguments.Members, jsonrpc.Member(name, mutate.NewString("a")))
			return t.CallWith(arguments)
		}, emit)
		for _, pointer := range t.Texts {
			if names := keysAt(t, pointer); len(names) > 0 { // no more than one script has room for
				names = append([]string{letterControl}, names...)
				against(UnknownName, "key of "+t.Name+" "+pointer, names, !t.Reads, func(key string) []byte { return t.CallWith(t.With(pointer, key)) }, emit)
			}
		}
	}
}

// keysAt returns which inherited names may be tried for the key that an argument holds; none: it holds no key, or one that
// has to look otherwise.
func keysAt(c *session.Operation, pointer string) (names []string) {
	path := strings.Split(pointer, "/")
	name := path[len(path)-1]
	if len(path) > 2 && strings.Trim(name, "0123456789") == "" {
		name = strings.TrimSuffix(path[len(path)-2], "s")
	}
	if !session.HasWord(name, session.HandleWords) || c.Schema == nil || c.Schema.Validate(c.With(pointer, Controls[0])) != nil ||
		c.Schema.Validate(c.With(pointer, letterControl)) != nil {
		return nil
	}
	for _, name := range InheritedNames {
		if c.Schema.Validate(c.With(pointer, name)) == nil {
			names = append(names, name)
		}
	}
	return names
}

// single returns the line that was sent for a step; nil: none, or several.
func (j *Case) single(step int) (found *script.Sent) {
	for i := range j.Transcript.Sent {
		if j.Transcript.Sent[i].Step == step {
			if found != nil {
				return nil
			}
			found = &j.Transcript.Sent[i]
		}
	}
	if found != nil && found.Unresolved {
		return nil
	}
	return found
}

// againstControls compares answers for names that must count as unknown with those for names which certainly are. Of
// keys, what a refusal says in words is not compared: it may well name the key that was meant.
func (j *Case) againstControls(keys bool) {
	steps := j.Transcript.Script.Steps
	var controls []int
	for i := range steps {
		if bytes.Contains(steps[i].Line, []byte(ControlName)) && len(controls) < 2 {
			controls = append(controls, i)
		}
	}
	if len(controls) < 2 {
		return
	}
	a, okA := j.probe(controls[0], controls[1])
	b, okB := j.probe(controls[1], controls[0])
	if !okA || !okB || !strings.HasPrefix(a.name, ControlName) || !strings.HasPrefix(b.name, ControlName) || j.differs(a, b, nil, keys, true) != "" {
		return
	}
	texts := !j.varies(a, b)
	for i := range steps {
		if slices.Contains(controls, i) {
			continue
		}
		p, ok := j.probe(i, controls[0])
		if !ok || strings.HasPrefix(p.name, ControlName) || j.mayDiffer(p) {
			continue
		}
		if !keys && j.isValue(p) && !j.lettersAlike(a, b, controls[0]) { // which may have to look in some way
			continue
		}
		// A server that takes its time answers odd lines later than we look.
		if keys && script.OutcomeOf(j.answer(a.sent)) == script.OutcomeNone != (script.OutcomeOf(j.answer(p.sent)) == script.OutcomeNone) && script.OutcomeOf(j.answer(p.sent)) == script.OutcomeNone {
			continue
		}
		if !keys && j.isValue(p) && j.mayBeStored(p) && !namesRuntime(j.answer(p.sent)) { // by an earlier call, or an earlier run
			continue
		}
		// What a refusal says of a key may be made of it: how it is read, what it is near to.
		odd := func(p probe) string { return j.differs(a, p, b.all, keys || j.isValue(p), texts) }
		why := odd(p)
		if why == "" || j.changes(p) && !j.again(i, controls, odd) {
			continue
		}
		j.reportOdd(a, p, why, keys)
		return
	}
}

// changes reports whether a probe calls a tool that may change what comes of the next call.
func (j *Case) changes(p probe) bool {
	tool := j.called(p.sent)
	return tool != nil && !tool.Reads
}

// again reports whether the first control is answered as before when it is sent again, and the line of a step is odd once more after that: else
// it may be odd because of what other calls had done.
func (j *Case) again(step int, controls []int, odd func(probe) string) bool {
	steady := false
	for k := step + 1; k < len(j.Transcript.Script.Steps); k++ {
		switch {
		case j.sameLine(controls[0], k):
			p, ok := j.probe(k, controls[1])
			steady = ok && odd(p) == ""
		case steady && j.sameLine(step, k):
			p, ok := j.probe(k, controls[0])
			return ok && odd(p) != ""
		}
	}
	return false
}

// reportOdd reports why a name or key is treated otherwise than a, of which nobody has heard.
func (j *Case) reportOdd(a, p probe, why string, keys bool) {
	subject := j.subject(a.sent)
	if keys { // a decoder that takes no heed of case takes none anywhere
		severity := teasel.High // whoever stands between reads another message
		if subject = subjectKey; j.isArgument(p) {
			severity, subject = teasel.Medium, subjectArgument
		}
		j.reportAs(RuleVariantKey, severity, subject, "", fmt.Sprintf("The key %s is not treated like %q, which is unknown: %s. Compare %s.",
			jsonrpc.Quote(p.name, 40), a.name, why, jsonrpc.Cut(p.sent.Raw, 160)))
		return
	}
	if p.name == Vanishing && script.OutcomeOf(j.answer(a.sent)) > script.OutcomeResult && j.isArgument(a) {
		subject = subjectArgument
	}
	severity := teasel.Medium
	if script.OutcomeOf(j.answer(p.sent)) > script.OutcomeResult && !namesRuntime(j.answer(p.sent)) { // it is refused all the same
		severity = teasel.Low
	}
	message := fmt.Sprintf("The name %s is not treated like %q, which does not exist: %s. Compare %s.", jsonrpc.Quote(p.name, 40), a.name, why, jsonrpc.Cut(p.sent.Raw, 160))
	switch {
	case j.isValue(a), subject == subjectArgument:
		j.report(RuleRuntimeName, subject, "", message)
	case j.isArgument(a): // arguments are checked by a library, which does so alike for all tools
		j.reportCause(RuleRuntimeName, teasel.Medium, subject, CauseArgumentName, p.sent.Raw, message)
	default: // who looks tools up in an object that inherits names does so with prompts too, in whatever method
		j.reportCause(RuleRuntimeName, severity, subject, "inherited name", p.sent.Raw, message)
	}
}

// mayDiffer reports whether a name may be treated otherwise than the controls: an empty one is refused in other words, and
// an argument that the tool declares is none that is unknown.
func (j *Case) mayDiffer(p probe) bool {
	if p.name == "" {
		return script.OutcomeOf(j.answer(p.sent)) != script.OutcomeResult
	}
	tool := j.Session.Tool(session.CalledName(&p.sent.Message))
	return j.isArgument(p) && tool != nil && tool.InputSchema.Get("properties").Get(p.name) != nil
}

// mayBeStored reports whether what a probe asks for may have been stored under its name: there is a tool that takes an
// argument of the same name and does more than read.
func (j *Case) mayBeStored(p probe) bool {
	arguments := p.sent.Message.Params.Get("arguments")
	if arguments == nil {
		return false
	}
	for i := range arguments.Members {
		m := &arguments.Members[i]
		if text, ok := m.Value.Str(); !ok || text != p.name {
			continue
		}
		for k := range j.Session.Tools {
			tool := &j.Session.Tools[k]
			if tool.InputSchema.Get("properties").Get(m.Name) != nil && !session.TraitsOf(tool).Reads {
				return true
			}
		}
	}
	return false
}

// runtimeTexts are what members that every object inherits look like in an answer.
var runtimeTexts = jsonrpc.NewSignSet("[native code]", "[object Object]", "function Object(", "built-in method", "<method-wrapper", "<slot wrapper", "<class '")

// namesRuntime reports whether an answer shows something that the runtime owns, or a mistake of the program's that it led to.
func namesRuntime(r *script.Received) bool {
	return r != nil && (runtimeTexts.In(r.Raw) != "" || observe.ExceptionIn(answerText(r)) != "")
}

// lettersAlike reports whether a name of letters only is treated like the controls.
func (j *Case) lettersAlike(a, b probe, control int) bool {
	for i := range j.Transcript.Script.Steps {
		if p, ok := j.probe(i, control); ok && p.name == letterControl {
			return j.differs(a, p, b.all, true, true) == ""
		}
	}
	return false
}

// Vanishing is the member that some readers of JSON drop without a word. That happens before any tool is called: it is one
// fault, whichever tool shows it.
const (
	Vanishing       = "__proto__"
	subjectArgument = "tools/call (argument name)"
	subjectKey      = "(message key)"
)

// varies reports whether answers for two names that are both unknown differ in more than the name: what they say in
// numbers and tokens then varies by itself, and may look like another word now and then.
func (j *Case) varies(a, b probe) bool {
	bare := func(p probe) string {
		text := answerText(j.answer(p.sent))
		for _, name := range p.all {
			if name != "" {
				text = strings.ReplaceAll(text, name, "")
			}
		}
		return clockTime.ReplaceAllString(text, "")
	}
	return script.OutcomeOf(j.answer(a.sent)) != script.OutcomeNone && bare(a) != bare(b)
}

// differs says how two answers differ apart from the names, "" if they do not: in what they come to, and in their texts if
// those are to be compared.
func (j *Case) differs(a, b probe, more []string, keys, texts bool) string {
	x, y := j.answer(a.sent), j.answer(b.sent)
	p, q := script.OutcomeOf(x), script.OutcomeOf(y)
	if p != q {
		return fmt.Sprintf("it is %s, the other %s", q, p)
	}
	switch p {
	case script.OutcomeNone:
		return ""
	case script.OutcomeError:
		if c, d := script.ErrorCode(x), script.ErrorCode(y); c != d {
			return fmt.Sprintf("error %d instead of %d", d, c)
		}
	}
	if !texts || keys && p != script.OutcomeResult {
		return ""
	}
	names := slices.Concat(a.all, b.all, more)
	s, t := skeleton(x, names), skeleton(y, names)
	if s == t || suggests(s) || suggests(t) {
		return ""
	}
	return fmt.Sprintf("%s instead of %s", jsonrpc.Quote(answerText(y), 100), jsonrpc.Quote(answerText(x), 100))
}

// suggests reports whether a message proposes another name, which then depends on the one that was given.
func suggests(text string) bool {
	for _, words := range []string{"did you mean", "didyoumean", "similar", "closest", "suggest"} {
		if strings.Contains(text, strings.ReplaceAll(words, " ", "")) || strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// answerText is what an answer says: the message of an error, or the result as JSON.
func answerText(r *script.Received) string {
	if r.Message.Error != nil {
		return script.ErrorMessage(r)
	}
	return r.Message.Result.String()
}

// skeleton is the letters of what an answer says without the given names, digits and punctuation.
func skeleton(r *script.Received, names []string) string {
	var texts []string
	if r.Message.Error != nil {
		texts = append(texts, script.ErrorMessage(r))
	} else {
		r.Message.Result.Walk(func(_ string, v *mutate.JSON) bool {
			switch v.Kind {
			case mutate.String:
				texts = append(texts, v.Text)
			case mutate.Object:
				for i := range v.Members {
					texts = append(texts, v.Members[i].Name)
				}
			}
			return true
		})
	}
	// Long names first, or a short one would cut pieces out of them.
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	var b strings.Builder
	for _, text := range texts {
		for _, name := range names {
			if name != "" {
				text = strings.ReplaceAll(text, name, "")
			}
		}
		b.Write(observe.AppendNormal(nil, text, nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// clockTime is what moves on by itself: a time of day, a number of seconds or milliseconds since 1970.
var clockTime = regexp.MustCompile(`\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?|\b\d{10,19}\b`)
