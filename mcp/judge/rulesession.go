package judge

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
)

const (
	lifecycleSource = specification + "2025-11-25/basic/lifecycle"
	toolsSource     = specification + "2025-11-25/server/tools"
	resourcesSource = specification + "2025-11-25/server/resources"
	promptsSource   = specification + "2025-11-25/server/prompts"
	utilitiesSource = specification + "2025-11-25/server/utilities/"
	basicSource     = specification + "2025-11-25/basic/utilities/"
)

var lifecycleRules = []teasel.Rule{
	{ID: RuleVersion, Severity: teasel.Medium, Title: "Protocol version is negotiated wrongly",
		Help:   "The server answered initialize with a version that it cannot support, or with another one than asked for although it supports that.\n\nBoth sides then speak different protocols.\n\nEcho the version if it is on your list, else answer with the latest you support.",
		Source: lifecycleSource + "#version-negotiation"},
	{ID: RuleInitialize, Severity: teasel.High, Title: "Result of initialize is malformed",
		Help:   "The result of initialize lacks protocolVersion, capabilities or serverInfo with name and version, or one has the wrong type.\n\nClients refuse the server.\n\nReturn all three.",
		Source: lifecycleSource + "#initialization"},
	{ID: RuleBeforeInitialize, Severity: teasel.Info, Title: "Request is served before initialize",
		Help:   "A request was served in a session that had not been initialized. Most SDKs do this, so it is information.\n\nNo version has been agreed on, so that neither side knows what the answer means.\n\nRefuse everything but ping until initialize was answered.",
		Source: lifecycleSource + "#initialization"},
	{ID: RuleSecondInitialize, Severity: teasel.Info, Title: "Second initialize is accepted",
		Help:   "initialize was accepted a second time in one session. Most SDKs do this, so it is information.\n\nInitialization is the first interaction and happens once; a second one changes the version under running requests.\n\nAnswer -32600.",
		Source: lifecycleSource + "#initialization"},
	{ID: RuleCapability, Severity: teasel.Medium, Title: "Feature works without its capability",
		Help:   "A method works, or a notification is sent, although the server did not declare the capability it belongs to.\n\nClients will not use it, and nobody expects it to be reachable.\n\nDeclare the capability or remove the method.",
		Source: lifecycleSource + "#capability-negotiation"},
	{ID: RuleMissing, Severity: teasel.Medium, Title: "Declared capability does not work",
		Help:   "The server declared a capability and answers its method with -32601.\n\nClients rely on what was declared.\n\nImplement the method or do not declare the capability.",
		Source: lifecycleSource + "#capability-negotiation"},
	{ID: RuleEarlyRequest, Severity: teasel.Low, Title: "Server sends requests before it is initialized",
		Help:   "The server sent a request other than ping before the client's initialized notification.\n\nThe client is not ready to serve it.\n\nWait for notifications/initialized.",
		Source: lifecycleSource + "#initialization"},
	{ID: RuleClientCapability, Severity: teasel.Medium, Title: "Server uses a capability that the client lacks",
		Help:   "The server sent a request for sampling, elicitation or roots to a client that did not declare it.\n\nThe client can only refuse, and what waits for the answer fails.\n\nCheck the client's capabilities first.",
		Source: lifecycleSource + "#capability-negotiation"},
	{ID: RulePing, Severity: teasel.Medium, Title: "Ping is not answered with an empty result",
		Help:   "ping was answered with an error.\n\nClients close connections whose ping fails.\n\nAnswer with {}.",
		Source: basicSource + "ping"},
	{ID: RuleResult, Severity: teasel.Medium, Title: "Result breaks the schema of the protocol",
		Help:   "A result has a member of the wrong type, or lacks one that the protocol's schema requires, for example a task without a status.\n\nTyped clients refuse the whole answer.\n\nBuild results from the types of an SDK, and leave out what has no value; null is a value.",
		Source: specification + "2025-11-25/schema"},
}

var toolRules = []teasel.Rule{
	{ID: RuleList, Severity: teasel.Medium, Title: "List has malformed items",
		Help:   "The result of a list request is not what the schema of the protocol says: the list is missing, or an item lacks its name or URI.\n\nTyped clients refuse the whole list.\n\nFill in what is required.",
		Source: specification + "2025-11-25/schema"},
	{ID: RuleToolDefinition, Severity: teasel.Medium, Title: "Tool has no valid input schema",
		Help:   "A tool's inputSchema (or outputSchema) is missing, is not of type object, or is no valid JSON Schema.\n\nClients and models cannot know how to call it; some refuse the whole list.\n\nGive {\"type\":\"object\"} at least.",
		Source: toolsSource + "#tool"},
	{ID: RuleToolName, Severity: teasel.Low, Title: "Tool's name is not portable",
		Help:   "A tool's name is used twice, is longer than 128 characters, or has characters other than letters, digits, _ - and .\n\nClients and model interfaces reject such names.\n\nRename the tool.",
		Source: toolsSource + "#tool-names"},
	{ID: RuleOutputSchema, Severity: teasel.High, Title: "Result breaks the tool's output schema",
		Help:   "A tool that declares an outputSchema returned structuredContent that does not conform to it.\n\nClients that validate, as they should, throw the result away.\n\nValidate before returning, or correct the schema.",
		Source: toolsSource + "#output-schema"},
	{ID: RuleStructuredMissing, Severity: teasel.High, Title: "Structured content is missing",
		Help:   "A tool that declares an outputSchema returned a result without structuredContent.\n\nClients that validate, as they should, throw the result away.\n\nReturn structuredContent on every path that is no error.",
		Source: toolsSource + "#output-schema"},
	{ID: RuleStructuredText, Severity: teasel.Low, Title: "Structured result has no text",
		Help:   "A result with structuredContent has no text content.\n\nClients that do not know structured content show nothing.\n\nReturn the same JSON as text also.",
		Source: toolsSource + "#structured-content"},
	{ID: RuleContent, Severity: teasel.Medium, Title: "Content of a result is malformed",
		Help:   "A content item of a tool's result or of a prompt's message is not one of the types of the protocol: an unknown type, a missing text, data that is no base64, an embedded resource without URI, a role other than user and assistant.\n\nTyped clients throw the whole result away.\n\nReturn content as the schema says.",
		Source: toolsSource + "#tool-result"},
	{ID: RuleUnknownToolResult, Severity: teasel.Info, Title: "Unknown tool is reported as a result",
		Help:   "A call of a tool that does not exist was answered with a result that has isError, instead of an error with code -32602.\n\nThe specification lists unknown tools under protocol errors. Most SDKs do otherwise, so this is for your information.",
		Source: toolsSource + "#error-handling"},
	{ID: RuleUnknownTool, Severity: teasel.High, Title: "Unknown tool is executed",
		Help:   "A call of a tool that is not in tools/list was executed.\n\nWhoever decides which tools may be called decides by name; a name that is not on the list gets past.\n\nLook tools up by their exact name and answer -32602.",
		Source: toolsSource + "#error-handling"},
	{ID: RuleInput, Severity: teasel.Medium, Title: "Arguments that break the schema are executed",
		Help:   "A call whose arguments break the tool's inputSchema was executed without an error.\n\nServers must validate tool inputs. What slips through is converted, ignored or believed.\n\nValidate against the schema that you publish.",
		Source: toolsSource + "#security-considerations"},
	{ID: check.RuleListOrder, Severity: teasel.Low, Title: "Order of a list changes",
		Help:   "The same list came in different orders.\n\nLists go into prompts; another order makes caches useless and results hard to reproduce.\n\nSort before answering: iterating over a map is the usual cause.",
		Source: toolsSource + "#listing-tools"},
	{ID: check.RuleReadOnly, Severity: teasel.Medium, Title: "Tool that says it is read-only changes state",
		Help:   "A tool with readOnlyHint changed what other requests see, or one with idempotentHint answered a repetition differently.\n\nClients run read-only tools without asking.\n\nCorrect the annotation or the tool.",
		Source: toolsSource + "#tool"},
	{ID: RuleToolFailure, Severity: teasel.Info, Title: "Tool's failure is a protocol error",
		Help:   "A tool that failed on valid arguments answered with a JSON-RPC error instead of a result with isError. The specification lists server errors under protocol errors, so this is information.\n\nModels see results and can correct themselves; protocol errors they often do not see.\n\nReturn isError with a message.",
		Source: toolsSource + "#error-handling"},
}

var resourceRules = []teasel.Rule{
	{ID: RuleResourceContents, Severity: teasel.Medium, Title: "Contents of a resource are malformed",
		Help:   "The result of resources/read has contents without URI, with both or neither of text and blob, or with a blob that is no base64.\n\nClients cannot use it or take it for something else.\n\nReturn contents as the schema says.",
		Source: resourcesSource + "#reading-resources"},
	{ID: RuleResourceURI, Severity: teasel.Medium, Title: "Another resource is returned than was asked for",
		Help:   "The contents that resources/read returned carry another URI than the one that was asked for.\n\nClients file the contents under the wrong name.\n\nReturn the URI of the request.",
		Source: resourcesSource + "#reading-resources"},
	{ID: RuleResourceNotFound, Severity: teasel.Low, Title: "Missing resource gets the wrong code",
		Help:   "A resource that does not exist was answered with an internal error or with empty contents.\n\nClients tell a missing resource from a broken server by the code -32002, from 2026-07-28 on -32602.\n\nAnswer that.",
		Source: resourcesSource + "#error-handling"},
	{ID: RuleUnsubscribed, Severity: teasel.Low, Title: "Update of a resource nobody subscribed to",
		Help:   "notifications/resources/updated came for a URI that was not subscribed to.\n\nSend it to subscribers only.",
		Source: resourcesSource + "#subscriptions"},
	{ID: RulePromptArguments, Severity: teasel.Low, Title: "Required argument of a prompt may be missing",
		Help:   "prompts/get succeeded without an argument that the prompt lists as required.\n\nThe model gets a prompt with a hole.\n\nAnswer -32602, or do not require the argument.",
		Source: promptsSource + "#error-handling"},
	{ID: RuleUnknownPrompt, Severity: teasel.Medium, Title: "Unknown prompt is served",
		Help:   "prompts/get succeeded for a name that is not in prompts/list.\n\nNobody can know what is asked for by such a name.\n\nLook prompts up by their exact name and answer -32602.",
		Source: promptsSource + "#error-handling"},
	{ID: RuleCompletion, Severity: teasel.Medium, Title: "Completion result is malformed",
		Help:   "The result of completion/complete has no list of strings, or a total or hasMore of the wrong type or that contradicts it.\n\nClients refuse it.\n\nReturn values, and total and hasMore only if they are right.",
		Source: utilitiesSource + "completion#response-format"},
	{ID: RuleCompletionSize, Severity: teasel.Medium, Title: "Completion has more than 100 values",
		Help:   "completion/complete returned more than 100 values.\n\nTyped clients refuse the result.\n\nCut the list to 100 and set hasMore.",
		Source: utilitiesSource + "completion#response-format"},
}

var sessionRules = []teasel.Rule{
	{ID: RuleLogLevel, Severity: teasel.Low, Title: "Log level is not checked or not honoured",
		Help:   "logging/setLevel accepted a level that does not exist, or messages below the level that was set came all the same.\n\nAnswer -32602 for unknown levels, and filter.",
		Source: utilitiesSource + "logging"},
	{ID: RuleLogMessage, Severity: teasel.Low, Title: "Log message is malformed",
		Help:   "notifications/message has no data, or a level that is not one of the eight.\n\nClients drop it.",
		Source: utilitiesSource + "logging#log-message-notifications"},
	{ID: RuleCursor, Severity: teasel.Low, Title: "Invalid cursor is accepted",
		Help:   "A list request with a cursor that the server never gave was answered with a result.\n\nA client whose cursor has expired reads the first page again and again, or nothing, and does not notice. Of a list that has one page only this is information: most SDKs ignore the cursor then.\n\nAnswer -32602.",
		Source: utilitiesSource + "pagination#error-handling"},
	{ID: RulePageRepeats, Severity: teasel.Medium, Title: "Pages repeat items",
		Help:   "The same item stands on more than one page of a list.\n\nClients that follow cursors show it twice.\n\nBegin each page after the last item of the one before.",
		Source: utilitiesSource + "pagination"},
	{ID: RulePagination, Severity: teasel.Medium, Title: "Pages do not fit together",
		Help:   "nextCursor is not a string, or leads back to a page that was seen.\n\nClients that follow cursors never end.\n\nOmit nextCursor on the last page.",
		Source: utilitiesSource + "pagination"},
	{ID: RuleProgress, Severity: teasel.Medium, Title: "Progress notifications break the rules",
		Help:   "A progress notification has another token than was given, does not increase, or comes after the request was answered.\n\nClients throw errors for progress of a request that is over.\n\nSend it before the answer only, with rising values.",
		Source: basicSource + "progress"},
	{ID: RuleCancelled, Severity: teasel.Low, Title: "Cancelled request is answered with a cancellation",
		Help:   "A request that was cancelled got an answer which says so.\n\nA cancelled request should get no answer: the client has forgotten its id.\n\nDrop the answer.",
		Source: basicSource + "cancellation#behavior-requirements"},
	{ID: check.RuleRuntimeName, Severity: teasel.Medium, Title: "Name that the runtime owns is not an unknown name",
		Help: "A name such as __proto__, constructor or toString is treated otherwise than a random name which does not exist.\n\n" +
			"The server looks names up in an object that inherits from the runtime. What is found there is not a tool, prompt or key of the server, but is used as one.\n\n" +
			"Use a map without a prototype, or look for own properties only."},
	{ID: check.RuleVariantKey, Severity: teasel.High, Title: "Variant of a key is taken for the key",
		Help: "A key in another case or with extra characters is taken for the key that it resembles. For a key of the message this is high, for an argument medium.\n\nProxies and filters that read the right key see another message than the server does.\n\nCompare keys exactly. (Go's encoding/json ignores case.)"},
	{ID: check.RuleSameAfterGarbage, Severity: teasel.Medium, Title: "Garbage changes later answers",
		Help: "The same request is answered differently after lines that the server could not use.\n\n" +
			"Something of a refused message stays behind and spoils what comes later.\n\n" +
			"Drop everything of a message that is refused."},
	{ID: check.RuleUsed, Severity: teasel.High, Title: "Calls are refused for good after another",
		Help: "A call that was answered with a result at first is refused from some other call on, however often it is repeated, while the server still answers. That other call was refused itself or only reads, or no tool of the server works any more.\n\n" +
			"Whoever can make that call ends the service for everybody until somebody starts the server again, and no crash says so.\n\n" +
			"Leave nothing behind of a call that fails: release locks, roll back, and check what is stored before it is stored."},
	{ID: check.RuleLostWrite, Severity: teasel.High, Title: "Write is lost beside another",
		Help: "Of calls that were in flight together and were all answered with a result, some left nothing behind, though the same calls one after another do.\n\n" +
			"Clients call tools in parallel. What reads, changes and writes back overwrites what another has written meanwhile, and the data is gone without a word.\n\n" +
			"Have such calls wait for one another: a lock, a queue, a transaction."},
	{ID: check.RuleMixedAnswers, Severity: teasel.High, Title: "Answer is about another request",
		Help: "Of calls that were in flight together one was answered with what the answer to another one says, though calls that are made alone are answered right.\n\n" +
			"Clients call tools in parallel, and several clients share a server: each gets what another has asked for, secrets included.\n\n" +
			"Keep nothing of a request where the next one finds it: in a global, in a field of an object that requests share, or in the order of a queue."},
	{ID: check.RuleKeptOpen, Severity: teasel.Medium, Title: "Open files or child processes rise with every call",
		Help: "The server's open files, or its child processes, rose steadily while one valid call was repeated. Children that have ended count too if the server has not waited for them.\n\nWhen there are as many as the system allows the server can open nothing more, or start nothing.\n\n" +
			"Close what is opened also where something fails, and wait for each process that is started."},
	{ID: check.RuleVersions, Severity: teasel.Medium, Title: "Version of the protocol changes what is answered",
		Help: "A list, a resource, a prompt or a call that only reads has other contents in one version of the protocol, or is refused there, although the server agreed to both versions and answers the same twice in one of them. What the versions themselves say differently is not compared.\n\n" +
			"Clients of one version miss tools, or get other data, and nobody tests with all of them.\n\n" +
			"Have one implementation behind all versions, and translate at the border."},
	{ID: check.RuleTransports, Severity: teasel.Medium, Title: "Transport changes what is answered",
		Help: "A list, a resource, a prompt or a call that only reads has other contents over one transport of the server than over another, or is refused there, although each answers the same twice.\n\n" +
			"Clients that are connected in another way miss tools, or get other data, and nobody tests with all of them.\n\n" +
			"Have one implementation behind all transports, with the same configuration."},
	{ID: check.RuleNotRepeatable, Severity: teasel.Low, Title: "Repeated call ends differently",
		Help:   "A call that the server marks as idempotent or read-only succeeded once and failed once with the same arguments and nothing between.\n\nClients repeat such calls without asking.\n\nCorrect the annotation or the tool.",
		Source: toolsSource + "#tool"},
	{ID: check.RuleMemoryGrowth, Severity: teasel.Medium, Title: "Memory grows with every call",
		Help: "The server's memory grew steadily while one valid call was repeated.\n\nA long session ends in the out-of-memory killer.\n\nLook for lists and maps that are only ever added to."},
	{ID: check.RuleSlower, Severity: teasel.Low, Title: "Calls take longer the more there were",
		Help: "One valid call was repeated, and each took more of the processor than those before it, though its answer did not grow.\n\nA long session gets slower and slower, for each of its calls.\n\n" +
			"Look for a list that is only ever added to and gone through with each call, and for a file that is read and written whole."},
	{ID: check.RuleShape, Severity: teasel.Low, Title: "Arguments cost far more than their size",
		Help: "Arguments with very many members or items keep the server busy sixteen times as long, or more, as one text of the same length.\n\n" +
			"A few requests of ordinary length hold up all others. Validators that go over every member several times are the usual cause. It is information when it takes less than half a second.\n\n" +
			"Limit the size of a request, or the number of members before they are validated."},
	{ID: check.RuleSlowGrowth, Severity: teasel.Medium, Title: "Time grows faster than the input",
		Help: "The time for a call grows much faster than the size of its input: with the square or worse.\n\n" +
			"An input of ordinary size keeps the server busy for minutes. Regular expressions that backtrack, nested loops and repeated copying are the usual causes.\n\n" +
			"Limit the size, or use an algorithm that is linear."},
}

var securityRules = []teasel.Rule{
	{ID: RuleTraversal, Severity: teasel.Critical, Title: "File outside the allowed folders is read",
		Help:   "An answer contains the content of a file, or the names in a directory, that lies outside everything the server was given.\n\nWhoever can talk to the model can read any file that the server's user can. It is medium when only a symbolic link in an allowed directory leads to the file, and information when the tool's description says that it reads files anywhere.\n\nResolve paths, symbolic links and percent signs included, and compare with the allowed folders afterwards, name by name and not by the beginning of the text.",
		Source: resourcesSource + "#security-considerations"},
	{ID: check.RuleShellInjection, Severity: teasel.Critical, Title: "Argument is run by a shell",
		Help:   "An answer contains what only a shell can have made of the argument.\n\nWhoever can talk to the model can run commands.\n\nStart programs with a list of arguments and no shell.",
		Source: toolsSource + "#security-considerations"},
	{ID: check.RuleSQLInjection, Severity: teasel.Critical, Title: "Argument is part of a database query",
		Help:   "An answer contains what only a database can have made of the argument, or an argument with one quote breaks a query that the same argument does not break without it.\n\nWhoever can talk to the model can read what the database holds, and often change it.\n\nGive values to the database as parameters, never as part of the query's text.",
		Source: toolsSource + "#security-considerations"},
	{ID: RuleTemplateInjection, Severity: teasel.Critical, Title: "Argument is evaluated as a template or program",
		Help:   "An answer contains the value of an expression that was sent as an argument, or the type of an object that a placeholder in it reached.\n\nWhat evaluates expressions usually reaches the server's data and often its commands.\n\nPass arguments as data, never as part of a template or program.",
		Source: toolsSource + "#security-considerations"},
	{ID: check.RulePollution, Severity: teasel.High, Title: "Argument is written to the prototype of all objects",
		Help:   "A call has written one of its arguments to the prototype that all objects of the program inherit from. A later request that lacks a member got it from there.\n\nWhoever can call the tool can set what other code takes for missing options, checks and names, and often run code.\n\nSkip the keys __proto__, constructor and prototype when you merge or set by path, or use objects without a prototype.",
		Source: toolsSource + "#security-considerations"},
	{ID: RuleSecret, Severity: teasel.High, Title: "Answer contains a secret",
		Help:   "An answer contains a secret that was not sent: a variable of the server's environment, a private key or an access token.\n\nAnswers end in prompts, logs and other people's systems.\n\nDo not return environments and configurations; cut secrets out.",
		Source: toolsSource + "#security-considerations"},
	{ID: RuleStackTrace, Severity: teasel.Medium, Title: "Answer contains a stack trace",
		Help: "An answer contains a stack trace.\n\nIt tells file names, versions and the structure of the program to whoever asks, and says nothing to a model.\n\nLog it, and answer with a sentence."},
}
