// Package triage determines why a program has ended, and names the bug so that it has the same name whatever input triggers it.
// It uses the reports of sanitizers, of the C library and of the runtimes of Rust, Go, Python, JavaScript, Java, .NET, PHP and Ruby, core
// dumps, and addresses, which it resolves by the symbol tables and the debug information of the program. [LastCrash] reads what a program
// of any language has written before it ended.
//
// The result is a [Report]. [Report.Key] names the bug by the innermost functions of the program itself; [Report.Place] identifies
// a memory access, so that two reports of it count as one bug. The package is independent of how a program was run, and of rules
// and severities: each kind of target maps every [Fault] to a rule.
package triage
