package judge

import (
	"bytes"
	"fmt"
	"regexp"
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

// compare holds the answers of a systematic check against one another.
func (j *judge) compare() {
	if !j.stands() || j.t.Hung {
		return
	}
	switch j.t.Script.Check {
	case check.UnknownName:
		j.againstControls(false)
	case check.VariantKey:
		j.againstControls(true)
	case check.SameAfterGarbage:
		j.afterGarbage()
	case check.Repeat:
		j.repeated()
	case check.ReadOnly:
		j.readOnly()
	case check.Pollution:
		j.polluted()
	}
}

// single returns the line that was sent for a step; nil: none, or several.
func (j *judge) single(step int) (found *script.Sent) {
	for i := range j.t.Sent {
		if j.t.Sent[i].Step == step {
			if found != nil {
				return nil
			}
			found = &j.t.Sent[i]
		}
	}
	if found != nil && found.Unresolved {
		return nil
	}
	return found
}

// againstControls compares answers for names that must count as unknown with those for names which certainly are. Of
// keys, what a refusal says in words is not compared: it may well name the key that was meant.
func (j *judge) againstControls(keys bool) {
	steps := j.t.Script.Steps
	var controls []int
	for i := range steps {
		if bytes.Contains(steps[i].Line, []byte(check.ControlName)) && len(controls) < 2 {
			controls = append(controls, i)
		}
	}
	if len(controls) < 2 {
		return
	}
	a, okA := j.probe(controls[0], controls[1])
	b, okB := j.probe(controls[1], controls[0])
	if !okA || !okB || !strings.HasPrefix(a.name, check.ControlName) || !strings.HasPrefix(b.name, check.ControlName) || j.differs(a, b, nil, keys, true) != "" {
		return
	}
	texts := !j.varies(a, b)
	for i := range steps {
		if slices.Contains(controls, i) {
			continue
		}
		p, ok := j.probe(i, controls[0])
		if !ok || strings.HasPrefix(p.name, check.ControlName) || j.mayDiffer(p) {
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
		why := j.differs(a, p, b.all, keys || j.isValue(p), texts)
		if why == "" {
			continue
		}
		subject := j.subject(a.sent)
		if keys { // a decoder that takes no heed of case takes none anywhere
			severity := teasel.High // whoever stands between reads another message
			if subject = subjectKey; j.isArgument(p) {
				severity, subject = teasel.Medium, subjectArgument
			}
			j.reportAs(RuleVariantKey, severity, subject, "", fmt.Sprintf("The key %q is not treated like %q, which is unknown: %s. Compare %s.",
				jsonrpc.Cut(p.name, 40), a.name, why, jsonrpc.Cut(p.sent.Raw, 160)))
			return
		}
		if p.name == vanishing && script.OutcomeOf(j.answer(a.sent)) > script.OutcomeResult && j.isArgument(a) {
			subject = subjectArgument
		}
		severity := teasel.Medium
		if script.OutcomeOf(j.answer(p.sent)) > script.OutcomeResult && !namesRuntime(j.answer(p.sent)) { // it is refused all the same
			severity = teasel.Low
		}
		message := fmt.Sprintf("The name %q is not treated like %q, which does not exist: %s. Compare %s.", jsonrpc.Cut(p.name, 40), a.name, why, jsonrpc.Cut(p.sent.Raw, 160))
		switch {
		case j.isValue(a), subject == subjectArgument:
			j.report(RuleRuntimeName, subject, "", message)
		case j.isArgument(a): // arguments are checked by a library, which does so alike for all tools
			j.reportCause(RuleRuntimeName, teasel.Medium, subject, causeArgumentName, p.sent.Raw, message)
		default: // who looks tools up in an object that inherits names does so with prompts too, in whatever method
			j.reportCause(RuleRuntimeName, severity, subject, "inherited name", p.sent.Raw, message)
		}
		return
	}
}

// mayDiffer reports whether a name may be treated otherwise than the controls: an empty one is refused in other words, and
// an argument that the tool declares is none that is unknown.
func (j *judge) mayDiffer(p probe) bool {
	if p.name == "" {
		return script.OutcomeOf(j.answer(p.sent)) != script.OutcomeResult
	}
	tool := j.session.Tool(session.CalledName(&p.sent.Message))
	return j.isArgument(p) && tool != nil && tool.InputSchema.Get("properties").Get(p.name) != nil
}

// mayBeStored reports whether what a probe asks for may have been stored under its name: there is a tool that takes an
// argument of the same name and does more than read.
func (j *judge) mayBeStored(p probe) bool {
	arguments := p.sent.Message.Params.Get("arguments")
	if arguments == nil {
		return false
	}
	for i := range arguments.Members {
		m := &arguments.Members[i]
		if text, ok := m.Value.Str(); !ok || text != p.name {
			continue
		}
		for k := range j.session.Tools {
			tool := &j.session.Tools[k]
			if tool.InputSchema.Get("properties").Get(m.Name) != nil && !j.known(tool).Reads {
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
	return r != nil && (runtimeTexts.In(r.Raw) != "" || exceptionIn(answerText(r)) != "")
}

// lettersAlike reports whether a name of letters only is treated like the controls.
func (j *judge) lettersAlike(a, b probe, control int) bool {
	for i := range j.t.Script.Steps {
		if p, ok := j.probe(i, control); ok && p.name == check.LetterControl {
			return j.differs(a, p, b.all, true, true) == ""
		}
	}
	return false
}

// vanishing is the member that some readers of JSON drop without a word. That happens before any tool is called: it is one
// fault, whichever tool shows it.
const (
	vanishing       = "__proto__"
	subjectArgument = "tools/call (argument name)"
	subjectKey      = "(message key)"
)

// varies reports whether answers for two names that are both unknown differ in more than the name: what they say in
// numbers and tokens then varies by itself, and may look like another word now and then.
func (j *judge) varies(a, b probe) bool {
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
func (j *judge) differs(a, b probe, more []string, keys, texts bool) string {
	x, y := j.answer(a.sent), j.answer(b.sent)
	p, q := script.OutcomeOf(x), script.OutcomeOf(y)
	if p != q {
		return fmt.Sprintf("it is %s, the other %s", q, p)
	}
	switch p {
	case script.OutcomeNone:
		return ""
	case script.OutcomeError:
		if c, d := errorCode(x), errorCode(y); c != d {
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
	return fmt.Sprintf("%q instead of %q", jsonrpc.Cut(answerText(y), 100), jsonrpc.Cut(answerText(x), 100))
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
		return errorMessage(r)
	}
	return r.Message.Result.String()
}

// skeleton is the letters of what an answer says without the given names, digits and punctuation.
func skeleton(r *script.Received, names []string) string {
	var texts []string
	if r.Message.Error != nil {
		texts = append(texts, errorMessage(r))
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

// sameLine reports whether two steps are equal steps.
func (j *judge) sameLine(a, b int) bool {
	steps := j.t.Script.Steps
	return bytes.Equal(steps[a].Line, steps[b].Line)
}

// exactly reports whether two steps were answered with the same result, or the same error.
func (j *judge) exactly(a, b int) (same, answered bool) {
	s, t := j.single(a), j.single(b)
	if s == nil || t == nil {
		return false, false
	}
	x, y := j.answer(s), j.answer(t)
	if x == nil || y == nil {
		return false, false
	}
	if x.Message.Error != nil || y.Message.Error != nil {
		return x.Message.Error != nil && y.Message.Error != nil && errorCode(x) == errorCode(y), true
	}
	return sameButTime(x.Message.Result, y.Message.Result), true
}

// clockTime is what moves on by itself: a time of day, a number of seconds or milliseconds since 1970.
var clockTime = regexp.MustCompile(`\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?|\b\d{10,19}\b`)

func sameButTime(x, y *mutate.JSON) bool {
	if x.Equal(y) {
		return true
	}
	without := func(v *mutate.JSON) string { return clockTime.ReplaceAllString(v.String(), "") }
	return without(x) == without(y)
}

// afterGarbage compares requests before garbage with the same after it.
func (j *judge) afterGarbage() {
	for last := len(j.t.Script.Steps) - 1; last >= 3; last-- {
		before := j.equalBefore(last)
		times := 2
		if m := j.single(last); m != nil && m.Message.Method == "tools/call" {
			times = check.ToolLooks
		}
		if len(before) < times {
			continue
		}
		before = before[len(before)-times:]
		latest := before[times-1]
		if slices.ContainsFunc(before, func(i int) bool { same, ok := j.exactly(i, latest); return !ok || !same }) {
			continue
		}
		if same, answered := j.exactly(latest, last); !answered || same {
			continue
		}
		useless, ok := j.useless(latest+1, last)
		if !ok || useless == 0 {
			continue
		}
		sent := j.single(last)
		if records(sent) {
			continue
		}
		j.report(RuleSameAfterGarbage, j.subject(sent), "", fmt.Sprintf(
			"%s was answered with %s after %d lines that were of no use, and with %s before them.",
			jsonrpc.Cut(sent.Raw, 160), jsonrpc.Cut(j.answer(sent).Raw, 160), useless, jsonrpc.Cut(j.answer(j.single(latest)).Raw, 160)))
		return
	}
}

// equalBefore returns the steps before one that are equal to it.
func (j *judge) equalBefore(last int) (before []int) {
	for i := range last {
		if j.sameLine(i, last) {
			before = append(before, i)
		}
	}
	return before
}

// useless counts the steps between two that had no effect to speak of; false: one of them was carried out, and may have
// changed what it likes. Requests that stand there only to be compared are passed over.
func (j *judge) useless(from, to int) (n int, ok bool) {
	for i := from; i < to; i++ {
		switch {
		case len(j.equalBefore(i)) > 0:
		case j.carriedOut(i):
			return 0, false
		default:
			n++
		}
	}
	return n, true
}

// carriedOut reports whether a step had a result.
func (j *judge) carriedOut(step int) bool {
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		if s.Step == step && s.Message.Method != "ping" {
			if r := j.answer(s); r != nil && succeeded(r) {
				return true
			}
		}
	}
	return false
}
