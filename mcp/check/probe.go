package check

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// probe is a step of a check whose steps differ by one name.
type probe struct {
	sent *script.Sent
	name string   // decoded
	all  []string // spellings of the name that may stand in an answer
}

// isArgument reports whether the probe's name is that of an argument.
func (j *Case) isArgument(p probe) bool {
	return p.sent.Message.Method == "tools/call" && p.sent.Message.Params.Get("arguments").Get(p.name) != nil
}

// isValue reports whether the probe's name is the value of an argument.
func (j *Case) isValue(p probe) bool {
	return p.sent.Message.Method == "tools/call" && session.CalledName(&p.sent.Message) != p.name && !j.isArgument(p)
}

// probe finds the name by which a step differs from another one.
func (j *Case) probe(step, other int) (probe, bool) {
	p := probe{sent: j.single(step)}
	if p.sent == nil || !jsonrpc.IsOneLine(p.sent.Raw) {
		return p, false
	}
	token, ok := differingToken(j.Transcript.Script.Steps[step].Line, j.Transcript.Script.Steps[other].Line)
	if !ok {
		return p, false
	}
	v, err := mutate.ParseJSON(token)
	if err != nil || v.Kind != mutate.String {
		return p, false
	}
	p.name = v.Text
	inner := string(token[1 : len(token)-1])
	quoted := strconv.Quote(p.name)
	p.all = []string{p.name, inner, quoted[1 : len(quoted)-1], strings.ToLower(p.name), strings.TrimSpace(p.name)}
	return p, true
}

// differingToken returns the JSON string of line in which it differs from other; false if that is more than one.
func differingToken(line, other []byte) ([]byte, bool) {
	start := 0
	for start < len(line) && start < len(other) && line[start] == other[start] {
		start++
	}
	end := 0
	for end < len(line)-start && end < len(other)-start && line[len(line)-1-end] == other[len(other)-1-end] {
		end++
	}
	from := bytes.LastIndexByte(line[:start], '"')
	if from < 0 || from != bytes.LastIndexByte(other[:start], '"') {
		return nil, false
	}
	// The closing quote is at or after the last byte that differs.
	to := closingQuote(line, from)
	if to < 0 || to < len(line)-end-1 || closingQuote(other, from) < len(other)-end-1 ||
		!bytes.Equal(line[to:], other[max(0, closingQuote(other, from)):]) {
		return nil, false
	}
	return line[from : to+1], true
}

// closingQuote returns where the string that begins at from ends, -1 if it does not.
func closingQuote(line []byte, from int) int {
	for i := from + 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
