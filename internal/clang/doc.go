// Package clang builds programs for the native kind with clang. A [Compiler] replaces the C or C++ compiler of a build and adds
// edge counters, comparison hooks and the runtime of package sancov; [Cargo] does the same for Rust's build tool. [HookCalls]
// finds the calls of the hooks in a program.
package clang
