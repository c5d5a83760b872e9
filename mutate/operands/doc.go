// Package operands has the stages that use the operands of a target's comparisons. They work with every kind of target whose inputs are
// bytes and whose executor records the comparisons of an execution when a stage asks for them ([teasel.Ask]).
//
// [InputToState] replaces values of an input by those with which the target compares them (RedQueen, NDSS 2019; AFL++'s CmpLog).
// [Gradient] solves comparisons whose operands are computed from a few bytes of the input (Angora, S&P 2018, without its taint
// tracking). [Repair] corrects checksums after a change, and [Tokens] inserts values that occur in any comparison.
//
// An executor that records comparisons has one [History], counts its executions with [History.Ran], and attaches each recording to an
// observation with [History.Attach]. For an executor that does not, the stages do nothing, at the cost of one execution per testcase.
package operands
