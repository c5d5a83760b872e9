package judge

import "github.com/teaselfuzz/teasel"

const (
	stdioSource   = specification + "2025-11-25/basic/transports#stdio"
	jsonrpcSource = "https://www.jsonrpc.org/specification"
)

var processRules = []teasel.Rule{
	{ID: RuleGone, Severity: teasel.Critical, Title: "Server serves nobody any more",
		Help: "A server that was running already, at the address of --url, takes no connections any more after the requests that are shown, or answers none, not even initialize of a new client, or refuses all. It was not started by teasel, which cannot start it again to see which of them it was.\n\n" +
			"Whoever can send these requests ends the service for everybody.\n\n" +
			"Look into the server's log. To have the request found, reproduced and minimised, let teasel start the server: --url 'http://127.0.0.1:{port}/mcp' -- COMMAND."},
	{ID: RuleRefuses, Severity: teasel.High, Title: "Server refuses everything from then on",
		Help: "After this input the server runs and answers each request with an HTTP status and no message, or closes its connection: a ping, and initialize of a new client, too.\n\n" +
			"One message from one client has ended the service for everybody, until somebody starts it again. What other requests get from then on is no finding of its own.\n\n" +
			"Look at what the input has left behind: a connection to a database that is closed, a lock or a disk that is full, a worker that has died. Have what fails made anew, or exit so that the server is started again."},
	{ID: RuleCrash, Severity: teasel.Critical, Title: "Server process crashes",
		Help: "The server process died with an error status, a panic, an uncaught exception or a signal.\n\n" +
			"One message from a client, or from a model that was talked into it, ends the session and everything else the server was doing.\n\n" +
			"Find the place that the stack trace names, check the input there and answer with an error instead."},
	{ID: RuleExit, Severity: teasel.High, Title: "Server ends the session by exiting",
		Help:   "The server process exited although its standard input was still open: with status 0, or with an error status because a line was no valid request.\n\nA client cannot tell this from an orderly end: the tools are gone. A line that cannot be read is to be answered with an error, or ignored, and the session goes on. A server that exits because the first message is not initialize is reported as information.\n\nAnswer with -32700 or -32600 and keep reading.",
		Source: stdioSource},
	{ID: RuleSanitizer, Severity: teasel.Critical, Title: "Sanitizer or race detector report",
		Help: "A sanitizer compiled into the server reported a memory error, undefined behaviour, a leak or a data race.\n\n" +
			"These are faults even when the process survives them.\n\nFix what the report names."},
	{ID: RuleOutOfMemory, Severity: teasel.Critical, Title: "Server runs out of memory",
		Help: "The server died because it could not get memory, or it says that it could not and did not answer.\n\nA message of moderate size that makes a server use all memory takes the machine down with it.\n\nLimit sizes and counts before allocating for them."},
	{ID: RuleAssertion, Severity: teasel.High, Title: "Assertion fails",
		Help: "An assertion in the server failed because of a message, and the server lived on.\n\n" +
			"Assertions say what cannot be; a client can make it be, and usually ends the process with it.\n\n" +
			"Check what comes from outside and answer with an error."},
	{ID: RulePanicLogged, Severity: teasel.Medium, Title: "Panic or uncaught exception that the server survived",
		Help: "The server wrote a panic or an uncaught exception to standard error and lived on.\n\n" +
			"Something came loose that nobody expected: locks may still be held, answers may never come.\n\n" +
			"Handle the case where it arises."},
	{ID: RuleException, Severity: teasel.Medium, Title: "Request fails by a mistake in the program",
		Help: "A request is refused with what the language's runtime says of a mistake in the program: an index out of range, a member of nothing.\n\n" +
			"Nobody has decided to refuse it: the case was not thought of, and what was done until then is done. The message tells a model nothing that it could do better.\n\n" +
			"Handle the case, and say what is wrong with the request."},
	{ID: RuleErrorLogged, Severity: teasel.Low, Title: "Programming error logged",
		Help: "The server logged the stack trace of an error which programs do not raise on purpose, such as a reference to nothing or an endless recursion.\n\n" +
			"The client's input reached code that was not made for it.\n\nCheck the input before it gets there."},
	{ID: RuleHang, Severity: teasel.High, Title: "Request is not answered",
		Help:   "A well-formed request got no answer in time, although the server still answers pings.\n\nThe severity depends on what is known. It is high for a tool with openWorldHint false, and for methods that wait for nobody. It is low when a tool that may wait for somebody else used the processor all the while: it may only be slow. It is information when such a tool used none: the default of openWorldHint is true, so that the server may have been waiting, and nothing says how long a call may take.\n\nA client waits until its own timeout, and so does the model that called the tool. Every path through the code of a request must end in an answer; give slow work a deadline.",
		Source: jsonrpcSource + "#response_object"},
	{ID: RuleDeaf, Severity: teasel.High, Title: "Server answers nothing any more",
		Help:   "After this input the server runs but answers nothing, not even a ping.\n\nIt loops, is blocked, or has stopped reading. The session is lost until somebody kills the process. It is information while the server used no processor and seems to have been waiting for somebody else: it has a connection or a child that works, the request has an address, or the tool's annotation or words say that it asks others.\n\nBound the work that one message can cause, and do not do it in the loop that reads messages.",
		Source: specification + "2025-11-25/basic/utilities/ping"},
	{ID: RuleSlow, Severity: teasel.Low, Title: "Answer takes long",
		Help: "One request took much longer than its size explains.\n\nWhile the server works on it, other requests may have to wait. For a tool that may wait for somebody else this is information. --slow sets the limit.\n\nLimit sizes and counts, or do the work in the background."},
	{ID: RuleNoReply, Severity: teasel.Medium, Title: "Unusual request with a readable id is dropped",
		Help: "A message with an id that can be read was dropped without an answer, while the server goes on.\n\n" +
			"The sender waits until its own timeout and never learns what was wrong. JSON-RPC wants an error, with the id or with null if it could not be read.\n\n" +
			"Answer -32600 (or -32602) with the id.",
		Source: jsonrpcSource + "#response_object"},
	{ID: RuleStdoutClosed, Severity: teasel.High, Title: "Server closes its standard output",
		Help:   "The server closed its standard output and runs on: no answer can come any more.\n\nKeep it open until standard input ends.",
		Source: stdioSource},
	{ID: RuleNoise, Severity: teasel.Medium, Title: "Text on standard output that is no message",
		Help: "The server wrote something on standard output that is not a JSON-RPC message in UTF-8.\n\n" +
			"Standard output carries the protocol. Clients report an error for such a line or give the session up.\n\n" +
			"Write logs to standard error; look for print statements and for libraries that print. Cut texts between characters, not between bytes.",
		Source: stdioSource},
	{ID: RuleFlood, Severity: teasel.High, Title: "Server floods its output",
		Help: "The server wrote more than it was asked for, without end.\n\n" +
			"A client's memory and the model's context fill up. It is information after a line of a megabyte or more, of which the answer may have several copies.\n\nLimit what one request can produce."},
	{ID: RuleIgnoresEOF, Severity: teasel.Low, Title: "Server stays after its input ended",
		Help: "The server did not exit after its standard input was closed and had to be killed.\n\n" +
			"Closing the input is how a client ends a session; servers that stay pile up.\n\nExit when reading standard input says that it has ended.",
		Source: specification + "2025-11-25/basic/lifecycle#shutdown"},
}

var jsonrpcRules = []teasel.Rule{
	{ID: RuleID, Severity: teasel.High, Title: "Answer carries another id than the request",
		Help: "The id of the answer is not the id of the request: its type or value was changed.\n\n" +
			"Clients match answers by id. An answer with another id belongs to nobody, or worse, to another request.\n\n" +
			"Keep the id as the JSON text that came in; do not read it as a floating-point number.",
		Source: specification + "2025-11-25/basic#responses"},
	{ID: RuleDuplicateReply, Severity: teasel.High, Title: "Request is answered twice",
		Help:   "One request got more than one answer.\n\nThe second may be taken for the answer to a later request.\n\nLook for a path that answers and then falls into another one that does.",
		Source: jsonrpcSource + "#response_object"},
	{ID: RuleNotificationReply, Severity: teasel.Medium, Title: "Notification is answered",
		Help:   "The server answered a notification, which has no id and must not be answered.\n\nClients cannot tell what such an answer belongs to.\n\nAnswer only messages that have an id.",
		Source: jsonrpcSource + "#notification"},
	{ID: RuleResponseReply, Severity: teasel.Medium, Title: "Response is answered",
		Help:   "The server answered a response.\n\nTwo peers that do so never stop.\n\nIgnore responses that belong to no request.",
		Source: jsonrpcSource + "#response_object"},
	{ID: RuleMalformedReply, Severity: teasel.High, Title: "Answer is not a JSON-RPC response",
		Help: "The answer breaks the shape of a response: \"jsonrpc\" is not \"2.0\", there is neither or both of result and error, or the error has no integer code or no message. Or nobody can read it: it has NaN or Infinity, which is no JSON, or is not UTF-8, which is medium.\n\n" +
			"Typed clients drop such a message, so that the request is never answered for them.\n\nBuild answers from one type that cannot be wrong. Tell the JSON library to refuse such numbers, and write UTF-8 whatever the system's encoding is.",
		Source: jsonrpcSource + "#response_object"},
	{ID: RuleInvalidID, Severity: teasel.Medium, Title: "Request with an invalid id is executed",
		Help: "A request whose id is neither a string nor a number was executed.\n\n" +
			"MCP allows strings and integers only. What the server echoes in their place cannot be matched.\n\nAnswer -32600 and do nothing else.",
		Source: specification + "2025-11-25/basic#requests"},
	{ID: RuleInvalidRequest, Severity: teasel.Low, Title: "Invalid request is executed",
		Help: "A message that is no JSON-RPC 2.0 request was executed as if it were one.\n\n" +
			"What one peer takes for a request and another does not is a way past whatever stands between them.\n\nAnswer -32600.",
		Source: jsonrpcSource + "#request_object"},
	{ID: RuleParseError, Severity: teasel.Medium, Title: "Unreadable line gets another code than -32700",
		Help:   "A line that is no JSON was answered with another code than -32700.\n\nClients cannot tell a broken connection from a refused request.\n\nAnswer -32700 with id null.",
		Source: jsonrpcSource + "#error_object"},
	{ID: RuleUnknownMethod, Severity: teasel.Medium, Title: "Unknown method is not refused with -32601",
		Help:   "A method that does not exist was answered with a result, or with another error than -32601.\n\nClients find out by -32601 what a server cannot do.\n\nAnswer -32601.",
		Source: jsonrpcSource + "#error_object"},
	{ID: RuleWrongCode, Severity: teasel.Medium, Title: "Invalid parameters get another code than -32602",
		Help: "A request with invalid parameters was answered with an internal error (or a parse error, or a code that means nothing), often with the raw output of a validator.\n\n" +
			"-32603 says that the server is broken and that trying again may help; the model never learns that it has to change the call.\n\n" +
			"Check parameters first and answer -32602 with a sentence.",
		Source: jsonrpcSource + "#error_object"},
	{ID: RuleCodeRange, Severity: teasel.Low, Title: "Error code is reserved or zero",
		Help:   "The error code is 0 or lies in the range that JSON-RPC reserves (-32768 to -32100) or, from 2026-07-28 on, is one that MCP reserves and does not define (-32099 to -32023).\n\nA 0 looks like success to many clients, and reserved codes may get a meaning.\n\nUse the defined codes, or ones outside the range.",
		Source: jsonrpcSource + "#error_object"},
	{ID: RuleBatch, Severity: teasel.Low, Title: "Batch is handled against the protocol version",
		Help:   "Batches exist in protocol version 2025-03-26 only: there they must be accepted, later they must not be.\n\nFollow the version that was negotiated.",
		Source: specification + "2025-06-18/changelog"},
	{ID: RuleInvalidParams, Severity: teasel.Low, Title: "Parameters of the wrong shape are accepted",
		Help:   "Parameters that miss a required member, or have one of the wrong type, were accepted.\n\nThe mistake shows later, where nobody looks for it.\n\nAnswer -32602.",
		Source: specification + "2025-11-25/schema"},
}
