package judge

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// The rules that detectors of this package look for.
const (
	RuleCrash        = "mcp/server-crash"
	RuleExit         = "mcp/server-exit"
	RuleGone         = "mcp/server-gone"
	RuleRefuses      = "mcp/server-refuses"
	RuleSanitizer    = "mcp/sanitizer"
	RuleOutOfMemory  = "mcp/out-of-memory"
	RuleAssertion    = "mcp/assertion"
	RulePanicLogged  = "mcp/panic-survived"
	RuleException    = "mcp/unhandled-exception"
	RuleErrorLogged  = "mcp/exception-logged"
	RuleHang         = "mcp/hang"
	RuleDeaf         = "mcp/deaf"
	RuleSlow         = "mcp/slow-answer"
	RuleNoReply      = "mcp/no-reply"
	RuleStdoutClosed = "mcp/stdout-closed"
	RuleNoise        = "mcp/stdout-noise"
	RuleFlood        = "mcp/flood"
	RuleIgnoresEOF   = "mcp/ignores-eof"

	RuleID                = "mcp/id-changed"
	RuleDuplicateReply    = "mcp/duplicate-reply"
	RuleNotificationReply = "mcp/reply-to-notification"
	RuleResponseReply     = "mcp/reply-to-response"
	RuleMalformedReply    = "mcp/malformed-reply"
	RuleInvalidID         = "mcp/invalid-id"
	RuleInvalidRequest    = "mcp/invalid-request-executed"
	RuleParseError        = "mcp/parse-error-code"
	RuleUnknownMethod     = "mcp/unknown-method"
	RuleWrongCode         = "mcp/wrong-code"
	RuleCodeRange         = "mcp/error-code-range"
	RuleBatch             = "mcp/batch"
	RuleInvalidParams     = "mcp/invalid-params-accepted"

	RuleVersion           = "mcp/version"
	RuleInitialize        = "mcp/initialize-result"
	RuleBeforeInitialize  = "mcp/before-initialize"
	RuleSecondInitialize  = "mcp/second-initialize"
	RuleCapability        = "mcp/capability"
	RuleMissing           = "mcp/missing-capability"
	RuleEarlyRequest      = "mcp/early-server-request"
	RuleClientCapability  = "mcp/undeclared-client-capability"
	RulePing              = "mcp/ping-refused"
	RuleResult            = "mcp/result-shape"
	RuleList              = "mcp/list-result"
	RuleToolDefinition    = "mcp/tool-definition"
	RuleToolName          = "mcp/tool-name"
	RuleOutputSchema      = "mcp/output-schema"
	RuleStructuredMissing = "mcp/structured-missing"
	RuleStructuredText    = "mcp/structured-text"
	RuleContent           = "mcp/content"
	RuleUnknownToolResult = "mcp/unknown-tool-result"
	RuleUnknownTool       = "mcp/unknown-tool-executed"
	RuleInput             = "mcp/input-not-validated"
	RuleToolFailure       = "mcp/failure-as-protocol-error"

	RuleResourceContents  = "mcp/resource-contents"
	RuleResourceURI       = "mcp/resource-uri"
	RuleResourceNotFound  = "mcp/resource-not-found"
	RuleUnsubscribed      = "mcp/update-not-subscribed"
	RulePromptArguments   = "mcp/prompt-arguments"
	RuleUnknownPrompt     = "mcp/unknown-prompt-served"
	RuleCompletion        = "mcp/completion"
	RuleCompletionSize    = "mcp/completion-size"
	RuleLogLevel          = "mcp/log-level"
	RuleLogMessage        = "mcp/log-message"
	RuleCursor            = "mcp/cursor"
	RulePageRepeats       = "mcp/page-repeats"
	RulePagination        = "mcp/pagination"
	RuleProgress          = "mcp/progress"
	RuleCancelled         = "mcp/cancelled-reply"
	RuleTraversal         = "mcp/path-traversal"
	RuleTemplateInjection = "mcp/template-injection"
	RuleHTTPError         = "mcp/http-server-error"
	RuleHTTPNoResponse    = "mcp/http-no-response"
	RuleHTTPType          = "mcp/http-content-type"
	RuleHTTPAccepted      = "mcp/http-notification"
	RuleHTTPOrigin        = "mcp/http-origin"
	RuleHTTPVersion       = "mcp/http-version"
	RuleHTTPSession       = "mcp/http-session"
	RuleHTTPNoSession     = "mcp/http-no-session"
	RuleHTTPSessionID     = "mcp/http-session-id"
	RuleHTTPGet           = "mcp/http-get"
	RuleHTTPMismatch      = "mcp/http-head-mismatch"
	RuleHTTPEncoding      = "mcp/http-head-encoding"
	RuleHTTPStatus        = "mcp/http-error-status"
	RuleHTTPDeclined      = "mcp/http-declined"
	RuleHTTPGetAnswer     = "mcp/http-stream-answer"
	RuleHTTPEventID       = "mcp/http-event-id"
	RuleHTTPBroadcast     = "mcp/http-broadcast"
	RuleHTTPHost          = "mcp/http-host"
	RuleHTTPRequestType   = "mcp/http-request-type"
	RuleHTTPFraming       = "mcp/http-framing"

	RuleDiscover   = "mcp/discover"
	RuleMeta       = "mcp/request-meta"
	RuleMetaCode   = "mcp/unsupported-version-code"
	RuleResultType = "mcp/result-type"
	RuleCaching    = "mcp/caching"

	RuleServerRequest = "mcp/server-request"
	RuleUnaskedLog    = "mcp/log-not-asked"

	RuleSubscription = "mcp/subscription"

	RuleRequestShape  = "mcp/request-shape"
	RuleInputRequired = "mcp/input-required"
	RuleRequestState  = "mcp/request-state"
	RuleMissingInput  = "mcp/missing-input"

	RuleTaskStatus  = "mcp/task-status"
	RuleTaskResult  = "mcp/task-result"
	RuleTaskCancel  = "mcp/task-cancel"
	RuleTaskTimes   = "mcp/task-times"
	RuleTaskSupport = "mcp/task-support"

	RuleSecret     = "mcp/secret-leak"
	RuleStackTrace = "mcp/stack-trace"
)

const specification = "https://modelcontextprotocol.io/specification/"

// Rules returns every rule of this package, sorted by id.
func Rules() []teasel.Rule {
	all := slices.Concat(processRules, jsonrpcRules, lifecycleRules, toolRules, resourceRules, sessionRules, securityRules, httpRules, statelessRules, mirrorRules, subscriptionRules, questionRules, taskRules)
	for i := range all {
		scopes[all[i].ID].describe(&all[i])
	}
	slices.SortFunc(all, func(a, b teasel.Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// ruleByID is how a finding gets its severity and its detail the place where the rule is written down.
func ruleByID() map[string]*teasel.Rule {
	all := Rules()
	m := make(map[string]*teasel.Rule, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
}
