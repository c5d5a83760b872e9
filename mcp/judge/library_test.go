package judge

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// What servers on the same SDK have in common is the SDK's: the first are findings that server-everything, -memory, -filesystem and
// -sequential-thinking, or two servers on Go SDKs, share. The others are each one server's own.
func TestOfLibrary(t *testing.T) {
	for _, tt := range []struct {
		finding teasel.Finding
		want    bool
	}{
		{teasel.Finding{Rule: RuleWrongCode, Subject: "(invalid params)", Fault: "validator"}, true},
		{teasel.Finding{Rule: RuleNoReply, Subject: "(request id)", Fault: "message schema"}, true},
		{teasel.Finding{Rule: RuleCursor, Subject: "tools/list", Fault: "cursor"}, true},
		{teasel.Finding{Rule: RuleUnknownToolResult, Subject: "tools/call (unknown tool)"}, true},
		{teasel.Finding{Rule: "mcp/unknown-name", Subject: "tools/call (unknown tool)", Fault: "inherited name"}, true},
		{teasel.Finding{Rule: RuleExit, Subject: "(response)", Fault: "line that is no request"}, true},
		{teasel.Finding{Rule: RuleID, Subject: "(request id)", Group: "rounded"}, true},
		{teasel.Finding{Rule: RuleInvalidParams, Subject: "completion/complete", Fault: causeMalformed}, true},
		{teasel.Finding{Rule: "mcp/key-variant", Subject: "(message key)"}, true},
		{teasel.Finding{Rule: RuleLogLevel, Subject: "logging/setLevel"}, true},

		{teasel.Finding{Rule: RuleResourceNotFound, Subject: "resources/read"}, false},
		{teasel.Finding{Rule: "mcp/request-shape", Subject: "sampling/createMessage"}, false},
		{teasel.Finding{Rule: RuleInput, Subject: "(converted arguments)"}, false},
		{teasel.Finding{Rule: RuleInput, Subject: "tools/call add"}, false},
		{teasel.Finding{Rule: RuleException, Subject: "tools/call add", Fault: causeMalformed}, false},
		{teasel.Finding{Rule: "mcp/unknown-name", Subject: "tools/call (argument name)"}, false},
		{teasel.Finding{Rule: RuleCrash, Subject: "ping", Fault: "state"}, false}, // after calls that it died of
		{teasel.Finding{Rule: "mcp/memory-growth", Subject: "tools/list"}, false},
		{teasel.Finding{Rule: RuleSecret, Subject: "(invalid JSON)"}, false},
		{teasel.Finding{Rule: RuleToolDefinition, Subject: "tools/list", Static: true}, false},
		{teasel.Finding{Rule: "mcp/refused-for-good", Subject: "(every tool)"}, false},
		{teasel.Finding{Rule: RuleNoise, Subject: "(nothing sent)"}, false},
	} {
		if got := OfLibrary(&tt.finding); got != tt.want {
			t.Errorf("%s %s: %v", tt.finding.Rule, tt.finding.Subject, got)
		}
	}
}
