// Package mutate generates and mutates inputs: plain bytes ([Bytes]) and JSON ([JSONTree]), with tokens from a [Dictionary].
//
// Both mutators implement the engine's interfaces: Generate and Mutate; Step, the ordered changes, each of which is tried once;
// Simplify, for trimming and minimising; Cross, which combines two inputs; and Complexity. [Bytes] also has Repair, which replaces
// values that the target has read by the values with which it has compared them. Each kind of change is an operator with a name
// and a weight; Apply applies a particular one.
//
// All results are a pure function of the settings and the arguments: the same generator state gives the same mutant, regardless of
// earlier calls. A mutant differs from its source: if an operator cannot be applied to the input, or would change nothing, another
// position or another operator is drawn.
//
// [JSON] is the tree on which the JSON mutators work. It preserves what decoders discard, such as the text of numbers, escapes, the
// order of members and duplicate names, so that a mutant differs from its source only in the mutated parts.
package mutate
