// Package triage finds out what went wrong in a program that has ended, and names it so that the same bug gets the same
// name whatever input shows it: from the text of sanitizers, of the C library, of Rust's, Go's and Python's runtimes, from
// the image of its memory, and from addresses, by the symbol tables and the debug information of the program.
//
// Everything comes together in a [Report]. [Report.Key] names the bug by the innermost functions of the program's own,
// [Report.Place] tells two reports of one memory access to be one bug. The package knows nothing of how a program was run,
// nor of rules and severities: a kind of target maps each [Fault] to a rule.
package triage
