package judge

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// canaryForms are the canary's text and what is the same of its base64 wherever in a text it stands.
var canaryForms = append([]string{script.CanaryText}, base64Forms(script.CanaryText)...)

func base64Forms(text string) (forms []string) {
	for shift := range 3 {
		// The characters at both ends depend on what stands beside the text.
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + text))
		from := (shift*8 + 5) / 6
		to := (shift + len(text)) * 8 / 6
		forms = append(forms, encoded[from:to])
	}
	return forms
}

// leakTexts are those without any of which nothing leaks.
var leakTexts = func() []string {
	texts := slices.Concat(canaryForms, []string{check.InjectionMarker, reachedType, script.CanaryName, script.CanaryMark, script.CanarySecret, script.CanaryLinked, privateKey}, traceTexts)
	for i := range tokenShapes {
		texts = append(texts, tokenShapes[i].prefix)
	}
	return texts
}()

var (
	leakSigns  = jsonrpc.NewSignSet(leakTexts...)
	traceSigns = jsonrpc.NewSignSet(traceTexts...)
)

// leaks judges what stands in a line that the server should not know, or not disclose.
func (j *judge) leaks(r *script.Received) {
	if leakSigns.In(r.Raw) == "" {
		return
	}
	for _, form := range canaryForms {
		if bytes.Contains(r.Raw, []byte(form)) {
			if slices.ContainsFunc(canaryForms, func(sent string) bool { return j.weSent(sent, r) }) {
				break
			}
			j.traversed(r, "The content of the canary file, which lies outside of everything that the server was given, came back")
			break
		}
	}
	if j.tells(script.CanaryName, r) {
		j.traversed(r, "The directory of the canary file, which lies outside of everything that the server was given, was listed")
	}
	if j.tells(script.CanaryMark, r) && j.listsAbove(r) {
		j.reportAs(RuleTraversal, teasel.High, j.source(r), "above", fmt.Sprintf(
			"The directory above the one that the server was given was listed for %s.", j.cause(r)))
	}
	if j.tells(script.CanaryLinked, r) {
		j.reportAs(RuleTraversal, teasel.Medium, j.source(r), "link", fmt.Sprintf(
			"The content of a file came back for %s, to which only a symbolic link in the allowed directory leads.", j.cause(r)))
	}
	if j.tells(check.InjectionMarker, r) {
		j.injected(r)
	}
	if j.tells(reachedType, r) {
		j.report(RuleTemplateInjection, j.source(r), "", fmt.Sprintf(
			"The answer names the type of an object of the program, which a placeholder has reached in %s.", j.cause(r)))
	}
	j.secrets(r)
	if traceSigns.In(r.Raw) != "" {
		j.stackTrace(r)
	}
}

// listsAbove reports whether a line with the name of what lies beside the allowed directory was asked for by a step up, and the same tool has
// said nothing of it before: one that knows the repository, of which the directory is a part, names it whatever it is asked.
func (j *judge) listsAbove(r *script.Received) bool {
	s := j.sender(r)
	tool := j.called(s)
	if s == nil || tool == nil || !bytes.Contains(s.Raw, []byte("..")) || tool.Takes(session.ReadsAnywhere) {
		return false
	}
	for i := range j.t.Received {
		other := &j.t.Received[i]
		if other == r {
			return false
		}
		asked := j.sender(other)
		if asked != nil && j.called(asked) == tool && other.Message.Result != nil && !script.IsToolError(other.Message.Result) {
			return !bytes.Contains(other.Raw, []byte(script.CanaryMark))
		}
	}
	return false
}

// traversed reports that something was read outside of the allowed folders. Of a tool that says that it reads anywhere this
// is no fault, but worth knowing.
func (j *judge) traversed(r *script.Received, what string) {
	severity, note := teasel.Critical, ""
	if tool := j.called(j.sender(r)); tool != nil && tool.Takes(session.ReadsAnywhere) {
		severity, note = teasel.Info, ". The tool's description says that it reads whatever it is given"
	}
	j.reportAs(RuleTraversal, severity, j.source(r), "", fmt.Sprintf("%s for %s%s.", what, j.cause(r), note))
}

// isPurpose reports whether a call has a text in an argument of which it is the purpose to be treated in such a way.
func (j *judge) isPurpose(s *script.Sent, purposes session.Purpose, text string) bool {
	tool := j.called(s)
	return tool != nil && tool.Has(purposes, s.Message.Params.Get("arguments"), text)
}

// source names what a line that came is about.
func (j *judge) source(r *script.Received) string {
	if s := j.sender(r); s != nil {
		return j.subject(s)
	}
	return "(unsolicited)"
}

// sender returns the request that a line answers, or the likeliest one of those that had been sent when it came; nil: there is
// none.
func (j *judge) sender(r *script.Received) *script.Sent {
	if r.Sent >= 0 && r.Sent < len(j.t.Sent) {
		return &j.t.Sent[r.Sent]
	}
	before := j.before(r)
	last := j.guiltyOf(before)
	if r.Message.Class != jsonrpc.ClassResponse || last != nil && mayAnswer(last, r) {
		return last
	}
	for i := len(before) - 1; i >= 0; i-- {
		if mayAnswer(&before[i], r) {
			return &before[i]
		}
	}
	if last != nil && last.Answer < 0 {
		return last
	}
	return nil
}

// mayAnswer reports whether a response may be the answer to a line, which has no other: its id is null, or one that a careless
// server could have made of the line's, or stands elsewhere in an odd line, such as in a second id.
func mayAnswer(s *script.Sent, r *script.Received) bool {
	switch {
	case s.Answer >= 0:
		return false
	case r.Message.ID == "null":
		return s.WantsAnswer()
	}
	sent, id := s.Message.Root.Get("id"), r.Message.Root.Get("id")
	return sent.Equal(id) || resembles(sent, id) || !s.Regular && bytes.Contains(s.Raw, []byte(r.Message.ID))
}

func (j *judge) cause(r *script.Received) string {
	if s := j.sender(r); s != nil {
		return brief(s)
	}
	return "nothing that was sent"
}

// tells reports whether a line holds a text which the server did not have from us.
func (j *judge) tells(text string, r *script.Received) bool {
	return bytes.Contains(r.Raw, []byte(text)) && !j.weSent(text, r)
}

// weSent reports whether a text stands in what we had sent ourselves before a line came: some of that was captured from
// answers, and many a tool gives back what it gets.
func (j *judge) weSent(text string, r *script.Received) bool {
	return slices.ContainsFunc(j.before(r), func(s script.Sent) bool { return bytes.Contains(s.Raw, []byte(text)) })
}

// reachedType is how Python names a type, where its format strings have put that in place of a placeholder.
const reachedType = "tzl<class '"

// What stands in injections that are written for programs which call a shell, for shells, and for databases.
var (
	programParts = []string{"popen(", "execSync("}
	shellParts   = []string{"echo tzl", "$((", "tzl$["}
	queryParts   = []string{"UNION SELECT", " || (" + check.InjectionA, "CONCAT(", "extractvalue("}
)

// product is what every injection asks to be evaluated.
const product = check.InjectionA + "*" + check.InjectionB

// injected reports that something evaluated an expression: a shell or a database if that is what was written for. To
// evaluate it may be the purpose of the argument that it stood in, which says nothing of the tool's other arguments.
func (j *judge) injected(r *script.Received) {
	rule, purpose := RuleTemplateInjection, session.RunsProgram|session.Renders
	if s := j.sender(r); s != nil {
		has := func(parts []string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return bytes.Contains(s.Raw, []byte(part)) })
		}
		switch {
		case has(programParts) && !bytes.Contains(r.Raw, []byte("echo "+check.InjectionMarker)): // else a shell has, in between
		case has(shellParts):
			rule, purpose = check.RuleShellInjection, session.RunsProgram
		case has(queryParts):
			rule, purpose = check.RuleSQLInjection, session.RunsProgram|session.RunsQuery
		}
		if j.isPurpose(s, purpose, product) {
			return
		}
	}
	j.report(rule, j.source(r), "", fmt.Sprintf("The answer has %s, which was not sent but is what evaluating %s gives.", check.InjectionMarker, j.cause(r)))
}

// tokenShapes are the beginnings of access tokens, and how many characters follow at least.
var tokenShapes = []struct {
	prefix string
	least  int
	what   string
}{
	{"sk-", 32, "an API key"}, {"ghp_", 36, "a GitHub token"}, {"github_pat_", 40, "a GitHub token"}, {"glpat-", 20, "a GitLab token"},
	{"AKIA", 16, "an AWS access key"}, {"xoxb-", 20, "a Slack token"}, {"xoxp-", 20, "a Slack token"}, {"AIza", 35, "a Google API key"},
	{"npm_", 36, "an npm token"},
}

// privateKey ends the first line of a private key.
const privateKey = "PRIVATE KEY-----"

// keyText is a private key as far as it is base64, whose lines JSON writes with escapes, with what stands before that when it
// is encrypted.
var keyText = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?:\\+[nr])+(?:Proc-Type|DEK-Info): [^"\\]*)*((?:\\+(?:[nr/]|u002[bBfF])|[A-Za-z0-9+/=])*)(-----END )?`)

// The least that is left of a key, whole or cut off. The shortest kinds have 64 characters; documentation has a few, or dots.
const (
	leastWholeKey = 60
	leastCutKey   = 200
)

func (j *judge) secrets(r *script.Received) {
	if j.tells(script.CanarySecret, r) {
		severity, note := teasel.High, ""
		if tool := j.called(j.sender(r)); tool != nil && tool.Environment {
			severity, note = teasel.Info, ", as the tool's description says"
		}
		j.reportAs(RuleSecret, severity, j.source(r), "", fmt.Sprintf(
			"A secret of the server's environment (TEASEL_CANARY_SECRET) came back for %s%s.", j.cause(r), note))
		return
	}
	if tool := j.called(j.sender(r)); tool != nil && (tool.MakesSecret || tool.ShowsText && script.Succeeded(r)) { // they are new, or somebody's
		return
	}
	if key := findPrivateKey(r.Raw); key != "" && !j.weSent(key, r) {
		j.report(RuleSecret, j.source(r), "", fmt.Sprintf("A private key came back for %s.", j.cause(r)))
		return
	}
	for i := range tokenShapes {
		shape := &tokenShapes[i]
		if token := findToken(r.Raw, shape.prefix, shape.least); token != "" && !j.weSent(token, r) {
			j.report(RuleSecret, j.source(r), "", fmt.Sprintf("%s (%s…) came back for %s.",
				strings.ToUpper(shape.what[:1])+shape.what[1:], token[:len(shape.prefix)+4], j.cause(r)))
			return
		}
	}
}

// findPrivateKey returns a private key that is one, and not a placeholder.
func findPrivateKey(text []byte) string {
	if !bytes.Contains(text, []byte(privateKey)) {
		return ""
	}
	for _, m := range keyText.FindAllSubmatch(text, -1) {
		if len(m[1]) >= leastCutKey || len(m[1]) >= leastWholeKey && m[2] != nil {
			return string(m[0])
		}
	}
	return ""
}

// isRandom reports whether a part of a token was drawn, and is not made of words as the end of an address is.
func isRandom(token string) bool {
	return slices.ContainsFunc(strings.Split(token, "-"), func(run string) bool {
		digits, capitals, small := 0, 0, 0
		for _, c := range run {
			switch {
			case c >= '0' && c <= '9':
				digits++
			case c >= 'A' && c <= 'Z':
				capitals++
			case c >= 'a' && c <= 'z':
				small++
			}
		}
		// Some have small letters only, which are hexadecimal then, and more.
		return len(run) >= 20 && digits > 0 && capitals > 0 && small > 0 || len(run) >= 32 && digits >= 3 && capitals+small >= 3
	})
}

// findToken returns the first word that begins like a token, is long enough and has both letters and digits. "sk-" begins
// many a word besides, of which a part has to be drawn at random.
func findToken(text []byte, prefix string, least int) string {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(prefix))
		if i < 0 {
			return ""
		}
		i += from
		end, digits, letters := i+len(prefix), 0, 0
		for end < len(text) && (observe.IsWordByte(text[end]) && text[end] < 0x80 || text[end] == '-') {
			switch c := text[end]; {
			case c >= '0' && c <= '9':
				digits++
			case c != '-' && c != '_':
				letters++
			}
			end++
		}
		if end-i-len(prefix) >= least && digits >= 3 && letters >= 3 && (prefix != "sk-" || isRandom(string(text[i:end]))) && (i == 0 || !observe.IsWordByte(text[i-1]) && text[i-1] != '-' || i > 1 && text[i-2] == '\\') {
			return string(text[i:end])
		}
		from = i + len(prefix)
	}
}

// traceTexts stand in every stack trace that is looked for, as JSON writes them.
var traceTexts = []string{"Traceback (most recent call last)", "goroutine ", `\n    at `, `\tat `, "panicked at ", `\n   at `, ".php(", ".rb:"}

// showsTexts reports whether an answer has what a request wanted to see: what stands there is no fault of the server's.
func (j *judge) showsTexts(s *script.Sent, r *script.Received) bool {
	if s == nil || r.Message.Result == nil || !script.Succeeded(r) {
		return false
	}
	tool := j.called(s)
	return s.Message.Method == "resources/read" || tool != nil && tool.ShowsText
}

// stackTrace looks through the texts of an answer for a stack trace. A log message may have one, and the answer of a tool
// that runs programs.
func (j *judge) stackTrace(r *script.Received) {
	s := j.sender(r)
	if tool := j.called(s); r.Message.Class != jsonrpc.ClassResponse || j.showsTexts(s, r) || tool != nil && tool.Takes(session.RunsProgram) {
		return
	}
	var texts []string
	r.Message.Root.Walk(func(_ string, v *mutate.JSON) bool {
		if v.Kind == mutate.String && len(v.Text) > 20 {
			texts = append(texts, v.Text)
		}
		return true
	})
	for _, text := range texts {
		c, found := triage.Trace(text)
		if !found || j.weSent(c.Line, r) {
			continue
		}
		j.report(RuleStackTrace, j.source(r), c.Frame(), fmt.Sprintf(
			"The answer to %s has a stack trace, with the frame %s.", j.cause(r), jsonrpc.Quote(c.Line, 120)))
		return
	}
}
