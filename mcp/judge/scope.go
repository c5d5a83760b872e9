package judge

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// A scope says where a rule holds, and how the specification puts it.
type scope struct {
	since, until string // protocol versions, both included; "": from the first on, to the last
	transport    string // overStdio or overHTTP; "": over each
	level        string // of the specification; "": it says nothing of it
}

const (
	must   = "MUST"
	should = "SHOULD"

	overStdio = "stdio"
	overHTTP  = "HTTP"

	streamable = "2025-03-26" // brought Streamable HTTP and annotations
	structured = "2025-06-18" // brought structured results and MCP-Protocol-Version
	tasked     = "2025-11-25" // brought tasks
	handshakes = "2025-11-25" // was the last with a handshake, sessions and requests from the server
)

// scopes has a line for each rule that does not hold everywhere, or that a specification states.
var scopes = map[string]scope{
	RuleHang: {"", "", "", must}, RuleNoReply: {"", "", "", must}, RuleDeaf: {"", "", "", must}, RuleExit: {"", "", "", ""}, RuleGone: {"", "", overHTTP, ""}, RuleRefuses: {"", "", overHTTP, ""},
	RuleStdoutClosed: {"", "", overStdio, ""}, RuleNoise: {"", "", overStdio, must}, RuleIgnoresEOF: {"", "", overStdio, should},

	RuleID: {"", "", "", must}, RuleDuplicateReply: {"", "", "", must}, RuleNotificationReply: {"", "", "", must}, RuleResponseReply: {"", "", "", must},
	RuleMalformedReply: {"", "", "", must}, RuleInvalidID: {"", "", "", must}, RuleInvalidRequest: {"", "", "", must}, RuleParseError: {"", "", "", should},
	RuleUnknownMethod: {"", "", "", should}, RuleWrongCode: {"", "", "", should}, RuleCodeRange: {"", "", "", should}, RuleBatch: {"", "", "", must},
	RuleInvalidParams: {"", "", "", should},

	RuleVersion: {"", handshakes, "", must}, RuleInitialize: {"", handshakes, "", must}, RuleBeforeInitialize: {"", handshakes, "", must},
	RuleSecondInitialize: {"", handshakes, "", must}, RuleCapability: {"", "", "", must}, RuleMissing: {"", "", "", must},
	RuleEarlyRequest: {"", handshakes, "", should}, RuleClientCapability: {"", handshakes, "", must}, RulePing: {"", handshakes, "", must},
	RuleResult: {"", "", "", must}, RuleList: {"", "", "", must}, RuleToolDefinition: {"", "", "", must}, RuleToolName: {tasked, "", "", should},
	RuleOutputSchema: {structured, "", "", must}, RuleStructuredMissing: {structured, "", "", must}, RuleStructuredText: {structured, "", "", should},
	RuleContent: {"", "", "", must}, RuleUnknownToolResult: {"", "", "", should}, RuleUnknownTool: {"", "", "", must}, RuleInput: {"", "", "", must},
	RuleToolFailure: {"", "", "", should}, check.RuleListOrder: {"", "", "", should}, check.RuleReadOnly: {streamable, "", "", ""},
	check.RuleNotRepeatable: {streamable, "", "", ""},

	RuleResourceContents: {"", "", "", must}, RuleResourceURI: {"", "", "", must}, RuleResourceNotFound: {"", "", "", should},
	RuleUnsubscribed: {"", handshakes, "", must}, RulePromptArguments: {"", "", "", should}, RuleUnknownPrompt: {"", "", "", should},
	RuleCompletion: {"", "", "", must}, RuleCompletionSize: {"", "", "", must}, RuleLogLevel: {"", "", "", should}, RuleLogMessage: {"", "", "", must},
	RuleCursor: {"", "", "", should}, RulePageRepeats: {"", "", "", must}, RulePagination: {"", "", "", must}, RuleProgress: {"", "", "", must},
	RuleCancelled: {"", "", "", should},

	RuleTraversal: {"", "", "", must}, check.RuleShellInjection: {"", "", "", must}, check.RuleSQLInjection: {"", "", "", must}, RuleTemplateInjection: {"", "", "", must},
	check.RulePollution: {"", "", "", must}, RuleSecret: {"", "", "", must},

	RuleHTTPError: {streamable, "", overHTTP, must}, RuleHTTPNoResponse: {streamable, "", overHTTP, must}, RuleHTTPType: {streamable, "", overHTTP, must},
	RuleHTTPAccepted: {streamable, "", overHTTP, must}, RuleHTTPOrigin: {streamable, "", overHTTP, must}, RuleHTTPHost: {streamable, "", overHTTP, should},
	RuleHTTPVersion: {structured, handshakes, overHTTP, must}, RuleHTTPSession: {streamable, handshakes, overHTTP, must},
	RuleHTTPNoSession: {streamable, handshakes, overHTTP, should}, RuleHTTPSessionID: {streamable, handshakes, overHTTP, should},
	RuleHTTPGet: {streamable, "", overHTTP, must}, RuleHTTPGetAnswer: {streamable, handshakes, overHTTP, must}, RuleHTTPRequestType: {streamable, "", overHTTP, should},
	RuleHTTPFraming: {streamable, "", overHTTP, must}, check.RuleSessionLeak: {streamable, handshakes, overHTTP, must}, check.RuleReplay: {streamable, handshakes, overHTTP, must},
	check.RuleSessionState: {streamable, handshakes, overHTTP, ""}, check.RuleCapabilityCode: {session.StatelessVersion, "", "", must},
	RuleHTTPEventID: {streamable, handshakes, overHTTP, must}, RuleHTTPBroadcast: {streamable, handshakes, overHTTP, must}, check.RuleSessionKept: {streamable, handshakes, overHTTP, should}, check.RuleOpenFiles: {"", "", overHTTP, should},
	RuleHTTPMismatch: {session.StatelessVersion, "", overHTTP, must}, RuleHTTPEncoding: {session.StatelessVersion, "", overHTTP, must},
	RuleHTTPStatus: {session.StatelessVersion, "", overHTTP, must}, RuleHTTPDeclined: {streamable, "", overHTTP, should},

	RuleDiscover: {session.StatelessVersion, "", "", must}, RuleMeta: {session.StatelessVersion, "", "", must}, RuleMetaCode: {session.StatelessVersion, "", "", must}, RuleResultType: {session.StatelessVersion, "", "", must},
	RuleCaching: {session.StatelessVersion, "", "", must}, RuleSubscription: {session.StatelessVersion, "", "", must},
	RuleInputRequired: {session.StatelessVersion, "", "", must}, RuleRequestState: {session.StatelessVersion, "", "", must}, RuleMissingInput: {session.StatelessVersion, "", "", should},
	check.RuleEarlierRequests: {session.StatelessVersion, "", "", must}, RuleServerRequest: {session.StatelessVersion, "", "", must}, RuleUnaskedLog: {session.StatelessVersion, "", "", must}, RuleRequestShape: {"", "", "", must},

	RuleTaskStatus: {tasked, tasked, "", must}, RuleTaskResult: {tasked, tasked, "", must}, RuleTaskCancel: {tasked, tasked, "", must},
	RuleTaskTimes: {tasked, tasked, "", must}, RuleTaskSupport: {tasked, tasked, "", must},
}

// describe notes in a rule where it holds.
func (s scope) describe(r *teasel.Rule) {
	r.Since, r.Until, r.Transport, r.Level = s.since, s.until, s.transport, s.level
}

// holds reports whether a rule holds for the transcript at hand: in the version that was agreed upon, if any was, and over its transport.
func (j *judge) holds(rule string) bool {
	r := j.rules[rule]
	version := j.phase.version
	switch {
	case r == nil:
		return true
	case r.Transport == overStdio && j.session.HTTP, r.Transport == overHTTP && !j.session.HTTP:
		return false
	case version == "":
		return true
	}
	return version >= r.Since && (r.Until == "" || version <= r.Until)
}
