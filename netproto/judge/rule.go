package judge

import "github.com/teaselfuzz/teasel"

// The ids of the rules.
const (
	RuleMemoryError = "net/memory-error"
	RuleCrash       = "net/server-crash"
	RulePanic       = "net/server-panic"
	RuleExit        = "net/server-exit"
	RuleReport      = "net/sanitizer-report"
	RuleHang        = "net/hang"
	RuleStuck       = "net/stuck"
	RuleClosed      = "net/port-closed"
	RuleUnanswered  = "net/unanswered"
	RuleGone        = "net/server-gone"
	RuleHealth      = "net/unhealthy"
	RuleFlood       = "net/flood"
	RuleLimit       = "net/memory-limit"
	RuleMemory      = "net/memory-growth"
	RuleFiles       = "net/file-leak"
	RuleResponse    = "net/response"
)

var rules = [...]teasel.Rule{
	{ID: RuleMemoryError, Severity: teasel.Critical, Title: "memory error",
		Help: "A sanitizer in the server, or its C library, has found an access to memory that is not the server's to use: beyond a buffer, after it was freed, or twice freed. Who can reach the port can cause it, and may get control of the server. The report names the place; check lengths that come from the network before they are used."},
	{ID: RuleCrash, Severity: teasel.Critical, Title: "server crash",
		Help: "A signal ended the server. Who can reach the port can stop the service, and where memory was damaged, perhaps more. Built with -fsanitize=address, the server says where."},
	{ID: RulePanic, Severity: teasel.High, Title: "server panic",
		Help: "The server ended with a panic, an uncaught exception or a failed assertion. Who can reach the port can stop the service. Refuse the message instead, and go on."},
	{ID: RuleExit, Severity: teasel.Medium, Title: "server exit",
		Help: "The server ended by itself. If the dialogue has a command that asks it to, forbid that command to whoever has not logged in, or leave it out of the model; otherwise an error that concerns one client has ended the service for all."},
	{ID: RuleReport, Severity: teasel.High, Title: "sanitizer report",
		Help: "A sanitizer in the server has reported a fault and let the server go on, as for undefined behaviour and data races. The report names the place."},
	{ID: RuleHang, Severity: teasel.High, Title: "hang",
		Help: "After the dialogue the server goes on using processor time beyond the limit, which --timeout sets. It is judged by processor time, so a busy machine or a server that waits is no hang. A few such dialogues stop the service."},
	{ID: RuleStuck, Severity: teasel.Medium, Title: "server stuck",
		Help: "The server neither sleeps nor gets anywhere: it waits for something other than a processor or a client, such as a disk, for many times the limit that --timeout sets."},
	{ID: RuleClosed, Severity: teasel.High, Title: "no connections any more",
		Help: "The server runs, but refuses new connections or leaves them waiting. Who can reach the port can stop the service."},
	{ID: RuleUnanswered, Severity: teasel.High, Title: "clients are not answered any more",
		Help: "The server runs and sleeps, connections to it are made, and a fresh client that it has answered before, or one of several, gets no answer, or only hears that there is no place for it: a lock that is not released, a process or thread that waits for a client that has gone, places or files that nobody gives back. Who can reach the port can stop the service. A server that is to refuse everybody after some attempts does the same: exclude the rule."},
	{ID: RuleGone, Severity: teasel.Critical, Title: "server gone",
		Help: "A server that teasel has not started takes no connections any more, or answers nobody, not even a client that it has answered before, and has not come back within --start-timeout. It has ended, was stopped, or hangs: its own log says which. teasel cannot start it again, so that the finding is unconfirmed; it has the last dialogues, and 'teasel repro' holds them again once the server runs. With --reset, a command that starts it again, such findings are confirmed and minimised; with its command behind --, teasel also sees how it ends."},
	{ID: RuleHealth, Severity: teasel.High, Title: "health check failed",
		Help: "The command given with --health ended with another status than 0 after the dialogue, and with 0 on a fresh server."},
	{ID: RuleFlood, Severity: teasel.Medium, Title: "endless answer",
		Help: "The server answers one message with more than 16 MiB and does not stop. Bound what one request can ask for."},
	{ID: RuleLimit, Severity: teasel.Medium, Title: "memory limit",
		Help: "The server holds more memory than --memory-limit allows. Bound what one client, and what all of them together, can have it keep."},
	{ID: RuleMemory, Severity: teasel.Medium, Title: "memory leak",
		Help: "Each time the same dialogue is repeated, the server holds more memory than before, and more than the dialogue has sent, with its connection closed again. A service that runs for long will end of it. Free what belongs to a connection or a request when that ends, on the ways out that errors take too."},
	{ID: RuleFiles, Severity: teasel.Medium, Title: "file leak",
		Help: "Each time the same dialogue is repeated, the server has more files or sockets open than before, with the dialogue's connection closed again. At the limit for open files it takes no connections any more. Close them on all ways out."},
	{ID: RuleResponse, Severity: teasel.Low, Title: "response breaks the model",
		Help: "A response is none that the model describes, or an expectation in the model does not hold. Either the server or the model is wrong."},
}

// Rules returns what this package looks for.
func Rules() []teasel.Rule { return append([]teasel.Rule(nil), rules[:]...) }

// CrashRules are the rules whose findings are deaths of the server.
func CrashRules() []string {
	return []string{RuleMemoryError, RuleCrash, RulePanic, RuleExit, RuleReport, RuleGone}
}

// HangRules are the rules whose findings are dialogues that do not end.
func HangRules() []string { return []string{RuleHang, RuleStuck, RuleClosed} }

func severity(id string) teasel.Severity {
	for i := range rules {
		if rules[i].ID == id {
			return rules[i].Severity
		}
	}
	return teasel.SeverityInvalid
}
