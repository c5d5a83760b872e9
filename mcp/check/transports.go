package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// elsewhere begins what the step of a script is for that has the answer of another server: no server asks for it, so that it is never sent.
const elsewhere = "teasel/over "

// Comparable returns the requests whose answers can be compared with those of another server that ought to be the same.
func Comparable(b *session.Catalog) (lines [][]byte) {
	for _, s := range comparable(b) {
		lines = append(lines, s.Line)
	}
	return lines
}

// AcrossTransports returns the script that holds what a server answers to a line against what the same server has answered, twice, over another
// transport; false: those answers cannot be compared. The script has the answer, so that it needs the other server no more.
func AcrossTransports(line, first, again []byte, over string) (in script.Script, ok bool) {
	asked, one, other := jsonrpc.Parse(line), jsonrpc.Parse(first), jsonrpc.Parse(again)
	if one.Class != jsonrpc.ClassResponse || other.Class != jsonrpc.ClassResponse || !sayTheSame(asked.Method, &one, &other) {
		return in, false
	}
	said := script.Step{Asked: elsewhere + over, Line: bytes.ReplaceAll(first, []byte("\n"), nil)}
	return script.NewShared(Transports, said, script.Send(line), script.Send(line)), true
}

// sayTheSame reports whether two answers to requests of a method say the same. What cannot be compared counts as the same.
func sayTheSame(method string, a, b *jsonrpc.Message) bool {
	refused := func(m *jsonrpc.Message) bool { return m.Result == nil || m.IsRefusal() }
	if refused(a) || refused(b) {
		return refused(a) == refused(b)
	}
	first, ok := essence(method, a.Result)
	second, both := essence(method, b.Result)
	return !ok || !both || first == second || sameButTime(a.Result, b.Result)
}

// transports holds what was answered, twice, against what was answered over another transport.
func (j *Case) transports() {
	steps := j.Transcript.Script.Steps
	if len(steps) != 3 || len(j.Transcript.Sent) != 2 {
		return
	}
	over, ok := strings.CutPrefix(steps[0].Asked, elsewhere)
	first, again := j.answer(&j.Transcript.Sent[0]), j.answer(&j.Transcript.Sent[1])
	if !ok || first == nil || again == nil || !bytes.Equal(steps[1].Line, steps[2].Line) {
		return
	}
	s, there := &j.Transcript.Sent[0], jsonrpc.Parse(steps[0].Line)
	if !sayTheSame(s.Message.Method, &first.Message, &again.Message) || sayTheSame(s.Message.Method, &first.Message, &there) {
		return
	}
	here := "standard input and output"
	if j.Session.HTTP {
		here = "HTTP"
	}
	only := onlyOne(s.Message.Method, first.Message.Result, there.Result, here) + onlyOne(s.Message.Method, there.Result, first.Message.Result, over)
	j.report(RuleTransports, j.subject(s), "", fmt.Sprintf("%s was answered with %s over %s, twice, and with %s over %s.%s",
		jsonrpc.Cut(s.Raw, 120), j.said(s), here, jsonrpc.Cut(steps[0].Line, 160), over, only))
}

// onlyOne says what one list has and the other has not, with where that one was read.
func onlyOne(method string, list, other *mutate.JSON, over string) string {
	if !strings.HasSuffix(method, "/list") {
		return ""
	}
	has, _ := essence(method, list)
	lacks, _ := essence(method, other)
	names := slices.DeleteFunc(strings.Split(has, "\x00"), func(name string) bool { return slices.Contains(strings.Split(lacks, "\x00"), name) })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" Only over %s: %s.", over, jsonrpc.Cut(strings.Join(names, ", "), 120))
}
