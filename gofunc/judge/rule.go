package judge

import "github.com/teaselfuzz/teasel"

const (
	rulePanic    = "go/panic"
	ruleFailed   = "go/failed"
	ruleExit     = "go/exit"
	ruleFatal    = "go/fatal"
	ruleRace     = "go/race"
	ruleMemory   = "go/out-of-memory"
	ruleStack    = "go/stack-overflow"
	ruleDeadlock = "go/deadlock"
	ruleHang     = "go/hang"
	ruleSignal   = "go/signal"
)

var rules = [...]teasel.Rule{
	{ID: rulePanic, Severity: teasel.High, Title: "panic",
		Help: "The code panicked, in the goroutine of the test or in one that it started. Return an error for input that is wrong."},
	{ID: ruleFailed, Severity: teasel.Medium, Title: "failed test",
		Help: "The fuzz test said that something it checks does not hold, by t.Error, t.Fatal or the like."},
	{ID: ruleExit, Severity: teasel.Medium, Title: "exit",
		Help: "The code ended the process by os.Exit or log.Fatal. A library should return an error."},
	{ID: ruleFatal, Severity: teasel.High, Title: "fatal error of the runtime",
		Help: "The Go runtime ended the process, and no recover can stop that: for example when goroutines use a map at once, or an unlocked mutex is unlocked."},
	{ID: ruleRace, Severity: teasel.High, Title: "data race",
		Help: "Two goroutines used the same memory at once, one of them to write. Guard the memory with a mutex or a channel."},
	{ID: ruleMemory, Severity: teasel.High, Title: "out of memory",
		Help: "The code wanted more memory than there may be. Check sizes that come from the input before allocating. --memory-limit sets the limit, also of what is allocated and not written to."},
	{ID: ruleStack, Severity: teasel.High, Title: "stack overflow",
		Help: "The code called itself until the stack was used up, which no recover can stop. Limit the depth."},
	{ID: ruleDeadlock, Severity: teasel.Medium, Title: "deadlock",
		Help: "The test did not end in time, and its goroutine was waiting: for a lock, a channel, or other goroutines. --timeout sets the limit."},
	{ID: ruleHang, Severity: teasel.Medium, Title: "hang",
		Help: "The test did not end in time, and its goroutine was running or asleep. --timeout sets the limit."},
	{ID: ruleSignal, Severity: teasel.Medium, Title: "ended by a signal",
		Help: "A signal ended the process, such as one that the code sent to itself, or a fault in C code."},
}

// MemoryRule is the rule of a process that held more memory than it may.
const MemoryRule = ruleMemory

// StackRule is the rule that a stack which overflows breaks.
const StackRule = ruleStack

// Rules returns what this package looks for.
func Rules() []teasel.Rule { return append([]teasel.Rule(nil), rules[:]...) }

// CrashRules are the rules whose findings are failures, and HangRules those whose findings did not end in time.
func CrashRules() (ids []string) {
	for _, r := range rules {
		if r.ID != ruleHang && r.ID != ruleDeadlock {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// HangRules are the rules whose findings did not end in time. See [CrashRules].
func HangRules() []string { return []string{ruleDeadlock, ruleHang} }

func severity(id string) teasel.Severity {
	for i := range rules {
		if rules[i].ID == id {
			return rules[i].Severity
		}
	}
	return teasel.SeverityInvalid
}
