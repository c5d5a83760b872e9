// Package process runs the test processes of typed fuzz tests, which package gofunc writes, as workers of a campaign. The
// worker is in the test process, since the values have a type only there; this side starts it, serves its exchange, and
// goes on when it dies: the input that was running stands in memory that both share. It is tried again in a fresh process,
// simplified there, and reported to the hub as any finding is.
package process
