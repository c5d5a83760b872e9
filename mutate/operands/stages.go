package operands

import "github.com/teaselfuzz/teasel"

// Stages returns the stages that use the comparisons of the testcase itself, in order. They are to be run before havoc. [Tokens], which
// mutates at random, is not among them.
func Stages() []teasel.Stage[[]byte] {
	return []teasel.Stage[[]byte]{InputToState{}, Gradient{}, Repair{}}
}
