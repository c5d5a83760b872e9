package check

import "slices"

// The labels of systematic checks. A check is a script whose answers are judged together or for one thing in
// particular. The label promises how the script is built, so that its detector may rely on it; a detector asks for every
// control that is named here, because the minimiser drops steps. A mutated script has lost its label.
//
// "Equal steps" are steps whose Line is the same before placeholders are replaced. "Answered alike" means: the same
// outcome and error code, and the same text or structure once the differing name itself is taken out.
const (
	// Every step is one request that names something (a tool, method, prompt, argument, URI) which the server does not
	// have, and all of them must be answered alike. The controls are the steps whose name begins with [ControlName];
	// there are two. The others name what runtimes own: "__proto__", "constructor", "toString", "", ... Where the name is the
	// value of an argument, which may have to look in some way, there is a third control that has letters only.
	UnknownName = "unknown-name"

	// Every step is one and the same valid request but for its id, which is literal and allowed: integers and strings in
	// many notations. Each must be answered, with the id's exact value and type.
	IDs = "ids"

	// All steps must be answered alike, since each differs from the others by one key that must count as unknown. The
	// controls are the steps whose key begins with [ControlName]; there are two. The others have variants of a key that
	// is known: "Method", "METHOD", "method\u0000", ... either beside the right key or in its place.
	VariantKey = "variant-key"

	// Every step is a request that has one key twice, with different values. No behaviour is right, dying is wrong.
	DuplicateKey = "duplicate-key"

	// Requests, the same again, garbage, and the same requests a third time. When the last two answers to one before the
	// garbage are alike, so must be the one after it.
	SameAfterGarbage = "same-after-garbage"

	// All steps are equal: a list, or a call of a tool that says it is idempotent or read-only.
	Repeat = "repeat"

	// Observing requests, the same again, a call of a tool that says it is read-only, and the same observing requests once
	// more; perhaps another such call, and so on. An observer is a step that stands there several times; when its last two
	// answers before a call are alike, so must be the one after it.
	ReadOnly = "read-only"

	// A walk through all pages of one list: step 0 has no cursor, each later one the nextCursor of the step before it
	// (its Sent is Unresolved when there was none).
	Pagination = "pagination"

	// Every step is a list request with a cursor that the server never gave. Wanted is -32602.
	Cursor = "cursor"

	// Fresh. What comes before, instead of and after a right handshake: calls before initialize, initialize twice,
	// unsupported and supported versions. The order of the messages says which.
	Lifecycle = "lifecycle"

	// Every step is a request for a method of a capability that the server did not declare. Wanted is -32601.
	Undeclared = "undeclared"

	// Requests, each followed at once by notifications/cancelled that names it, by unknown ids, or by its own end.
	Cancel = "cancel"

	// Requests that carry _meta.progressToken, each a token of its own.
	Progress = "progress"

	// Every step is the same call, or an answer to what the server asks meanwhile. A script ends where nothing was asked.
	Questions = "questions"

	// The first step runs a tool as a task, or not; the others are about that task.
	Tasks = "tasks"

	// completion/complete with references that are known, unknown and malformed.
	Completion = "completion"

	// logging/setLevel with each level there is, and with values that are no level.
	LogLevel = "log-level"

	// Over HTTP. Requests whose heads a server has to refuse, or to survive.
	HTTP = "http"

	// Fresh, over HTTP. Two sessions on one server: that of [script.Handshake], and that which step 2 begins. Names with
	// [ControlName] and a or b say whose a call is.
	Sessions = "sessions"

	// Fresh, over HTTP. Requests of one session, each several times, those by which another client begins a session and may end it, and the
	// first ones again, whose answers must be the same.
	SessionState = "session-state"

	// Fresh, over HTTP. One step whose connection is cut, again and again, and a request that is answered.
	GrowthFiles = "growth-files"

	// In the version without a handshake. Every step is a request that lacks what each has to say, or says something else.
	Stateless = "stateless"

	// Fresh, in the version without a handshake. Plain requests, each several times, requests of other clients, and the plain ones again,
	// whose answers must be the same.
	EarlierRequests = "earlier-requests"

	// In the version without a handshake. A call, and the same call of a client that has no capabilities.
	BareClient = "bare-client"

	// In the version without a handshake. Requests for notifications, and another request.
	Subscriptions = "subscriptions"

	// Fresh. The same requests in one version of the protocol twice, and in others; each part begins with initialize or server/discover.
	Versions = "versions"

	// A step that is never sent and has the answer of the same server over another transport, and the request twice.
	Transports = "transports"

	// Fresh. The last step closes standard input: after a request, in the middle of a line, or before anything was said.
	EOF = "eof"

	// Every step is the same call, its size doubling from step to step, each awaited before the next. All are
	// conform to the input schema, unless the schema has a limit that the size breaks.
	GrowthTime = "growth-time"

	// A call with a text for an argument, a call of the same length with another shape of arguments, and both again.
	ShapeTime = "shape-time"

	// One step, a valid call that is sent many times.
	GrowthMemory = "growth-memory"

	// Every step calls one tool; the arguments break its input schema, but for the first step's, which may be conform.
	Validation = "validation"

	// Every step tries to read the canary file, by a path or URI in one of many disguises, or to list the directory above an allowed one.
	Traversal = "traversal"

	// Every step has an argument that gives [InjectionMarker] only where a shell, a template or a query evaluates it,
	// or that a format string fills in.
	Injection = "injection"

	// The steps are one request but for one argument: a number, the number with one quote behind it, and with two.
	Quotes = "quotes"

	// Fresh. Calls without a name, which are refused, and between them calls of tools with what writes to the prototype of all
	// objects. When a later refusal has [PollutionMarker] and an earlier one has not, one of the calls did.
	Pollution = "pollution"

	// Fresh. Plain calls twice, other calls, and the plain calls twice again. What was answered with a result at first must not be
	// refused for good because of calls that were refused, or only read.
	Used = "used-server"

	// Calls that write a text each, one after another, in flight together, and one after another again; after each of these, requests that
	// show what there is. The texts begin with the same word; the letter behind it is a, b or c.
	SideBySide = "side-by-side"

	// A call with a text, calls with others that are in flight together, and one more call. The texts begin with the same word; the letter behind
	// it is a, b or c. What is said in answer to one is not about another one.
	InFlight = "in-flight"

	// One step, a valid call that is sent many times, and a request that is answered.
	KeptOpen = "kept-open"

	// Each step is an array of messages.
	Batch = "batch"

	// The first step is a line that is no valid message, the last a valid request.
	Invalid = "invalid"

	// The first step is a valid message that is very large, deep or wide, the last a plain valid request.
	Large = "large"
)

// MeasuresTime reports whether the scripts of a check measure time, so that nothing else must be part of them.
func MeasuresTime(label string) bool { return label == GrowthTime || label == ShapeTime }

// comparing are the checks in which one answer is held against another. Changing one of their messages would change
// what is compared, so that the minimiser may drop their steps but not touch them.
var comparing = []string{
	BareClient, EarlierRequests, IDs, InFlight, Pagination, Pollution, ReadOnly, Repeat, SameAfterGarbage, SessionState, Sessions, SideBySide, Transports, UnknownName, Used, VariantKey, Versions,
}

// IsComparing reports whether a check compares one answer with another.
func IsComparing(check string) bool { return slices.Contains(comparing, check) }

// ControlName begins the names of controls: no server has a tool, method, key or prompt of that name.
const ControlName = "teasel_no_such_"

// letterControl is another one, that looks like "constructor" to who asks for letters only, or for no more than so many.
const letterControl = "teaselnoone"

// InjectionMarker is what an answer contains when something evaluated an injected expression. It is never sent as it
// stands: what is sent has the product as two factors.
const InjectionMarker = "tzl467221lzt"

// The factors of the number in [InjectionMarker].
const (
	InjectionA = "59"
	InjectionB = "7919"
)
