package operands

import "github.com/teaselfuzz/teasel"

// Stages returns the stages that use what a testcase itself was compared with, in their order. They come before havoc;
// [Tokens], which is random mutation, comes beside it.
func Stages() []teasel.Stage[[]byte] {
	return []teasel.Stage[[]byte]{InputToState{}, Gradient{}, Repair{}}
}
