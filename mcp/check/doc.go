// Package check looks for one thing at a time, systematically rather than by chance. Each check has two halves in one file: a
// function in [All] that makes its scripts, and a method of [Case] that holds the answers against what the check expects.
package check
