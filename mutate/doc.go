// Package mutate makes inputs and changes them: plain bytes ([Bytes]) and JSON ([JSONTree]), with tokens from a
// [Dictionary].
//
// Both mutators implement what the engine asks of one: Generate and Mutate; Step, the ordered changes that are worth
// trying once each; Simplify, the way down for trimming and minimising; Cross, one input from two; and Complexity.
// [Bytes] also repairs: it puts what a target compared with in the place of what it found. Each kind of change is an
// operator with a name and a weight, and Apply makes one certain change.
//
// Everything is a pure function of the settings and the arguments: the same generator state gives the same mutant,
// whatever was done before. A mutant differs from its source; where an operator does not fit the input, or would change
// nothing, another place or another operator is drawn.
//
// [JSON] is the tree that the JSON mutators work on. It keeps what decoders throw away, the text of numbers, escapes,
// order and duplicate names, so that a mutant differs from its source in what was changed and in nothing else.
package mutate
