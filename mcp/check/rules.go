package check

// The rules that checks look for. Package judge describes them.
const (
	RuleListOrder        = "mcp/list-order"
	RuleReadOnly         = "mcp/read-only"
	RuleRuntimeName      = "mcp/unknown-name"
	RuleVariantKey       = "mcp/key-variant"
	RuleSameAfterGarbage = "mcp/state-after-garbage"
	RuleNotRepeatable    = "mcp/not-repeatable"
	RuleMemoryGrowth     = "mcp/memory-growth"
	RuleSlowGrowth       = "mcp/slow-growth"
	RuleSlower           = "mcp/slower"
	RuleShape            = "mcp/costly-shape"
	RuleShellInjection   = "mcp/shell-injection"
	RuleSQLInjection     = "mcp/sql-injection"
	RulePollution        = "mcp/prototype-pollution"
	RuleSessionLeak      = "mcp/http-session-leak"
	RuleSessionState     = "mcp/http-session-state"
	RuleSessionKept      = "mcp/http-session-kept"
	RuleCapabilityCode   = "mcp/client-capability-code"
	RuleReplay           = "mcp/http-replay"
	RuleOpenFiles        = "mcp/open-files"
	RuleKeptOpen         = "mcp/kept-open"
	RuleMixedAnswers     = "mcp/mixed-answers"
	RuleUsed             = "mcp/refused-for-good"
	RuleLostWrite        = "mcp/lost-write"
	RuleVersions         = "mcp/version-differs"
	RuleTransports       = "mcp/transport-differs"
	RuleEarlierRequests  = "mcp/earlier-requests"
)

// CauseArgumentName stands for arguments that are no arguments like others because all objects have members of their names.
const CauseArgumentName = "argument name"
