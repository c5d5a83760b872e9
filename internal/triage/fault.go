package triage

// Fault says what went wrong. Its text is the same for every kind of target, so that the id of a rule is the name of a kind,
// a slash and a fault. "" is unknown.
type Fault string

// The faults.
const (
	HeapOverflow   Fault = "heap-buffer-overflow"
	StackOverflow  Fault = "stack-buffer-overflow" // beyond a variable; not Recursion
	GlobalOverflow Fault = "global-buffer-overflow"
	UseAfterFree   Fault = "use-after-free"
	UseAfterScope  Fault = "use-after-scope"
	DoubleFree     Fault = "double-free"
	BadFree        Fault = "bad-free"
	Uninitialised  Fault = "uninitialised-value"
	Undefined      Fault = "undefined-behaviour"
	WildJump       Fault = "wild-jump"
	InvalidAccess  Fault = "invalid-access"
	NullAccess     Fault = "null-dereference"
	Recursion      Fault = "stack-exhaustion"
	Arithmetic     Fault = "arithmetic"
	Trap           Fault = "trap"
	Abort          Fault = "abort"
	Panic          Fault = "panic"
	Exception      Fault = "exception" // of Python's
	OutOfMemory    Fault = "out-of-memory"
	DataRace       Fault = "data-race"
	LockOrder      Fault = "lock-order-inversion"
	Leak           Fault = "leak"
	Deadlock       Fault = "deadlock"
	Hang           Fault = "hang"
	Exit           Fault = "exit"
	Signal         Fault = "signal"
	Sanitizer      Fault = "sanitizer" // reported something that is none of the others
)

// ofMemory are the faults of which one access is this one or that, by where it goes.
var ofMemory = [...]Fault{HeapOverflow, StackOverflow, GlobalOverflow, UseAfterFree, UseAfterScope, DoubleFree, BadFree, WildJump,
	InvalidAccess, NullAccess, Sanitizer}
