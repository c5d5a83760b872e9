package triage

// Fault is the reason why a program has failed. Its text is the same for every kind of target: the id of a rule is the name of a
// kind, a slash and a fault. "" is unknown.
type Fault string

// The faults.
const (
	HeapOverflow   Fault = "heap-buffer-overflow"
	StackOverflow  Fault = "stack-buffer-overflow" // access beyond a variable; not Recursion
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
	Exception      Fault = "exception" // of a language that has them
	Assertion      Fault = "assertion"
	OutOfMemory    Fault = "out-of-memory"
	DataRace       Fault = "data-race"
	LockOrder      Fault = "lock-order-inversion"
	Leak           Fault = "leak"
	Deadlock       Fault = "deadlock"
	Hang           Fault = "hang"
	Exit           Fault = "exit"
	Signal         Fault = "signal"
	Sanitizer      Fault = "sanitizer" // a sanitizer's report of any other kind
)

// ofMemory are the faults that the same memory access can have, depending on its address.
var ofMemory = [...]Fault{HeapOverflow, StackOverflow, GlobalOverflow, UseAfterFree, UseAfterScope, DoubleFree, BadFree, WildJump,
	InvalidAccess, NullAccess, Sanitizer}
