// Package operands has the stages that use what a target compares, for every kind of target that says it: inputs are
// bytes, and an executor records the comparisons of an execution when a stage asks for them ([teasel.Ask]).
//
// [InputToState] puts what an input was compared with in the place of what was compared (RedQueen, NDSS 2019; AFL++'s
// CmpLog). [Gradient] changes comparisons whose operands are computed from a few bytes of the input (Angora, S&P 2018,
// without its taint tracking). [Repair] makes checksums right again after a change, and [Tokens] puts values that were
// compared anywhere into an input.
//
// An executor that records keeps one [History], counts its executions with [History.Ran], and hands each recording over
// with [History.Attach]. Whatever does not record is left alone by the stages, at the cost of one execution a testcase.
package operands
