package native

import "github.com/teaselfuzz/teasel"

// RuleUndefined is the rule of undefined behaviour: a program that is run by hand reports it and goes on, unless UBSAN_OPTIONS
// says otherwise.
const RuleUndefined = "native/undefined-behaviour"

// kind begins the id of each rule; a fault of package triage follows.
const kind = "native/"

const (
	ruleHeap          = "native/heap-buffer-overflow"
	ruleStack         = "native/stack-buffer-overflow"
	ruleGlobal        = "native/global-buffer-overflow"
	ruleFreed         = "native/use-after-free"
	ruleScope         = "native/use-after-scope"
	ruleDouble        = "native/double-free"
	ruleBadFree       = "native/bad-free"
	ruleUninitialised = "native/uninitialised-value"
	ruleJump          = "native/wild-jump"
	ruleSegv          = "native/invalid-access"
	ruleNull          = "native/null-dereference"
	ruleRecursion     = "native/stack-exhaustion"
	ruleArithmetic    = "native/arithmetic"
	ruleTrap          = "native/trap"
	ruleAbort         = "native/abort"
	rulePanic         = "native/panic"
	ruleException     = "native/exception"
	ruleMemory        = "native/out-of-memory"
	ruleRace          = "native/data-race"
	ruleLocks         = "native/lock-order-inversion"
	ruleLeak          = "native/leak"
	ruleHang          = "native/hang"
	ruleExit          = "native/exit"
	ruleSignal        = "native/signal"
	ruleSanitizer     = "native/sanitizer"
)

var rules = [...]teasel.Rule{
	{ID: ruleHeap, Severity: teasel.High, Title: "heap buffer overflow",
		Help: "The program read or wrote beyond a block of the heap. A write is critical: it can change other data and often leads to control of the program. Check the length before the access. Without a sanitizer the allocator detects the damage, later and elsewhere: build with -fsanitize=address to see where."},
	{ID: ruleStack, Severity: teasel.High, Title: "stack buffer overflow",
		Help: "The program read or wrote beyond a variable on the stack. A write is critical: return addresses are near. Check the length before the access."},
	{ID: ruleGlobal, Severity: teasel.High, Title: "global buffer overflow",
		Help: "The program read or wrote beyond a global variable. Check the index before the access."},
	{ID: ruleFreed, Severity: teasel.Critical, Title: "use after free",
		Help: "The program used memory that it had freed, which may hold other data now. Make one owner responsible for it, and clear pointers to what is freed."},
	{ID: ruleScope, Severity: teasel.High, Title: "use after scope or return",
		Help: "The program used a variable whose block or function had ended. Do not keep pointers to local variables."},
	{ID: ruleDouble, Severity: teasel.Critical, Title: "double free",
		Help: "The program freed the same block twice, which corrupts the heap. Clear the pointer when it is freed."},
	{ID: ruleBadFree, Severity: teasel.High, Title: "bad free",
		Help: "The program freed a pointer that no allocation returned, or with the wrong function."},
	{ID: ruleUninitialised, Severity: teasel.Medium, Title: "use of an uninitialised value",
		Help: "The behaviour of the program depended on memory that it had never written. Initialise the memory before use."},
	{ID: RuleUndefined, Severity: teasel.Medium, Title: "undefined behaviour",
		Help: "The program did what the language leaves undefined, such as overflowing a signed integer: the compiler may have made anything of it. An index out of bounds, a pointer that wraps around, an object of another type and a misaligned pointer to where there is no memory are of severity high."},
	{ID: ruleJump, Severity: teasel.Critical, Title: "jump to a wild address",
		Help: "The program jumped to an address that holds no code. The input may decide where it goes."},
	{ID: ruleSegv, Severity: teasel.High, Title: "access to an invalid address",
		Help: "The program read or wrote where there is no memory. A write is critical. Building with -fsanitize=address says more."},
	{ID: ruleNull, Severity: teasel.Medium, Title: "null pointer dereference",
		Help: "The program used a null pointer, or one a little above null, as of a member of a structure. Check for null."},
	{ID: ruleRecursion, Severity: teasel.Medium, Title: "stack exhaustion",
		Help: "The program recursed until the stack was exhausted. Limit the depth."},
	{ID: ruleArithmetic, Severity: teasel.Medium, Title: "arithmetic exception",
		Help: "The program divided an integer by zero, or the smallest one by -1. Check the divisor."},
	{ID: ruleTrap, Severity: teasel.Medium, Title: "trap",
		Help: "The program ran an instruction that is illegal or stops it on purpose, as compilers put where code cannot go on."},
	{ID: ruleAbort, Severity: teasel.Medium, Title: "abort",
		Help: "The program aborted: an assertion failed, an exception was not caught, or abort was called."},
	{ID: rulePanic, Severity: teasel.Medium, Title: "panic",
		Help: "A Rust program panicked: an index out of bounds, an integer that overflowed, an unwrap of None, an assertion that failed. Programs are built for fuzzing with checks for overflow, which many release builds leave out: there the value wraps instead. Return an error for input that is wrong."},
	{ID: ruleException, Severity: teasel.Medium, Title: "exception",
		Help: "A program in Python, Java, JavaScript or another language with exceptions ended since nobody caught one. It counts if its exit status is one of --crash-exit, for Python and Java 1: many programs end so on purpose. Catch it, or check the input first."},
	{ID: ruleMemory, Severity: teasel.Medium, Title: "out of memory",
		Help: "The program needed more memory than the limit. Check sizes that come from the input before they are allocated. --memory-limit sets the limit."},
	{ID: ruleRace, Severity: teasel.Medium, Title: "data race",
		Help: "Two threads accessed the same memory, at least one of them to write, without synchronisation: the behaviour is undefined. Guard the memory with a lock, or make it atomic."},
	{ID: ruleLocks, Severity: teasel.Low, Title: "lock order inversion",
		Help: "The program acquires two locks in one order and elsewhere in the opposite order: two threads that do so concurrently can deadlock. Acquire the locks in one order everywhere."},
	{ID: ruleLeak, Severity: teasel.Low, Title: "leak",
		Help: "The harness allocated memory to which nothing pointed any more when it returned. Free it, also on the paths that errors take. ASAN_OPTIONS=detect_leaks=0 switches the detection of leaks off."},
	{ID: ruleHang, Severity: teasel.Medium, Title: "hang",
		Help: "The program did not end within the time limit. --timeout sets the limit."},
	{ID: ruleExit, Severity: teasel.Low, Title: "exit",
		Help: "The harness ended the process instead of returning, or the program ended with an exit status that counts as a crash."},
	{ID: ruleSignal, Severity: teasel.Medium, Title: "ended by a signal",
		Help: "A signal that is no fault of memory or arithmetic ended the program. The message has its name."},
	{ID: ruleSanitizer, Severity: teasel.High, Title: "sanitizer report",
		Help: "A sanitizer reported a fault of another kind: see the report."},
}

// MemoryRule is the rule whose findings are runs that want more memory than they may have.
const MemoryRule = ruleMemory

// LeakRule is the rule whose findings are runs that lose memory.
const LeakRule = ruleLeak

// Rules returns the rules of this package.
func Rules() []teasel.Rule { return append([]teasel.Rule(nil), rules[:]...) }

func rule(id string) *teasel.Rule {
	for i := range rules {
		if rules[i].ID == id {
			return &rules[i]
		}
	}
	return nil
}

func ruleTitle(id string) string { return rule(id).Title }

// Damage reports whether a finding of a program without a sanitizer may be a memory error that was made elsewhere: one error may have several
// such findings.
func Damage(f *teasel.Finding) bool {
	switch f.Rule {
	case ruleHeap, ruleDouble, ruleBadFree, ruleSegv, ruleJump:
		return true
	}
	return false
}
