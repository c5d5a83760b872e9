package gen

import (
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// DefaultDictionary returns a new dictionary of words of JSON-RPC and of the Model Context Protocol, and of the texts of
// [mutate.Dictionary.AddText].
func DefaultDictionary() *mutate.Dictionary {
	d := new(mutate.Dictionary)
	d.Add(mutate.Other, rpcTokens[:]...)
	d.Add(mutate.Other, methodTokens[:]...)
	d.Add(mutate.Field, fieldTokens[:]...)
	d.AddText()
	return d
}

// rpcTokens are members, versions and error codes of JSON-RPC.
var rpcTokens = [...]string{
	"jsonrpc", "2.0", "method", "params", "result", "error", "id", "code", "message", "data",
	"1.0", "2.1", "2", "rpc.discover", "rpc.", "-32700", "-32600", "-32601", "-32602", "-32603", "-32000", "-32002", "-32020", "-32021", "-32022",
}

// methodTokens are requests and notifications of all versions of the protocol, and some that look like one.
var methodTokens = [...]string{
	"initialize", "initialized", "notifications/initialized", "ping", "tools/list", "tools/call",
	"resources/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "resources/templates/list",
	"prompts/list", "prompts/get", "logging/setLevel", "completion/complete",
	"notifications/cancelled", "notifications/progress", "notifications/message", "notifications/roots/list_changed",
	"notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
	"notifications/resources/updated", "notifications/elicitation/complete", "notifications/tasks/status",
	"roots/list", "sampling/createMessage", "elicitation/create",
	"tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged", "shutdown", "exit",
	"tools/call/", "Tools/Call", "tools//call", "$/cancelRequest",
}

// fieldTokens are names and values of members in the protocol's messages.
var fieldTokens = [...]string{
	"protocolVersion", "capabilities", "serverInfo", "clientInfo", "name", "version", "description", "inputSchema",
	"tools", "resources", "prompts", "logging", "experimental", "uri", "mimeType", "annotations", "arguments",
	"outputSchema", "structuredContent", "content", "isError", "_meta", "progressToken", "progress", "total", "cursor",
	"nextCursor", "requestId", "reason", "level", "logger", "ref", "argument", "value", "context", "completion",
	"ref/prompt", "ref/resource", "uriTemplate", "title", "icons", "type", "text", "blob", "roots", "sampling",
	"elicitation", "tasks", "taskId", "listChanged", "subscribe", "instructions", "messages", "maxTokens",
	"resultType", "complete", "input_required", "inputRequests", "inputResponses", "requestState", "ttlMs", "cacheScope", "supportedVersions", "notifications",
	"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions",
	session.MetaVersion, session.MetaCapabilities, session.MetaClient, session.MetaSubscription, session.MetaLogLevel,
	"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", session.StatelessVersion, "1900-01-01", "9999-12-31", "DRAFT-2026-v1",
	"debug", "info", "notice", "warning", "critical", "alert", "emergency",
}
