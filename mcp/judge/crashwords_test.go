package judge

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
)

// TestCrashWords: a refusal with the words of a crash is low, with a stack it is a stack trace, and a refusal without them is right.
func TestCrashWords(t *testing.T) {
	session := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[`+mcptest.TextTool("one", "", "", "x")+`]}`)
	for _, tt := range []struct {
		argument, text, rule string
		severity             teasel.Severity
	}{
		{"a", "panic: bad state", RuleException, teasel.Low},
		{"a", "worker died: out of memory", RuleException, teasel.Low},
		{"a", "a.c:7: Assertion failed: n > 0", RuleException, teasel.Low},
		{"a", `thread 'main' panicked at src/lib.rs:3:5: no\nstack backtrace:\n   0: app::f\n             at src/lib.rs:3`, RuleStackTrace, teasel.SeverityInvalid},
		{"a", "x is too long", "", teasel.SeverityInvalid},
		{"panic: b", "there is no file panic: b", "", teasel.SeverityInvalid},
	} {
		text := mcptest.CallOf("2", "one", `{"x":"`+tt.argument+`"}`) + `< {"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"` + tt.text + `"}]}}` + "\n"
		found := judgeText(t, session, text)
		switch {
		case tt.rule == "" && len(found) > 0, tt.rule != "" && (len(found) != 1 || found[0].Rule != tt.rule || tt.severity != teasel.SeverityInvalid && found[0].Severity != tt.severity):
			t.Errorf("%s: found %v, want %v %s", strings.TrimSpace(text), found, tt.severity, tt.rule)
		}
	}
}
