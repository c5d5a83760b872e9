// Package fuzztest runs one fuzz test of a Go package, func FuzzX(f *testing.F), as it stands.
//
// A [Target] is a test binary that package overlay has built, and the name of a fuzz test in it. Its executor starts
// the binary as a fuzz worker and hands it batches of inputs in shared memory; the agent inside (package agent) runs
// them and judges what is new. An input is the packed form of the fuzz target's arguments (agent.Split); on disk it has
// the format of Go's own corpus files, so that plain go test takes it.
package fuzztest
