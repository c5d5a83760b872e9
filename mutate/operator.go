package mutate

import "strconv"

// Operator is a kind of change that [Bytes] makes to an input.
type Operator uint8

// The operators on bytes. A block is a run of up to 1,500 bytes; short blocks are more likely.
const (
	OpInvalid         Operator = iota
	OpBitFlip                  // invert one bit
	OpBitFlips                 // invert a share of all bits: Bytes.BitRatio
	OpByteFlip                 // invert all bits of one byte
	OpByteFlips                // replace a share of all bytes: Bytes.ByteRatio
	OpXor                      // xor a byte with a random one
	OpArith8                   // add or subtract 1 to 35
	OpArith16                  // the same for integers of two bytes, in either byte order
	OpArith32                  // the same for four bytes
	OpArith64                  // the same for eight bytes
	OpInteresting8             // write a boundary value, a power of two or a common size
	OpInteresting16            // the same for integers of two bytes, in either byte order
	OpInteresting32            // the same for four bytes
	OpInteresting64            // the same for eight bytes
	OpCopyInsert               // insert a copy of a block at another position
	OpFixedInsert              // insert a block of one repeated byte
	OpCopyOverwrite            // write a copy of a block over other bytes
	OpFixedOverwrite           // write one byte over a block
	OpDelete                   // delete a block
	OpInsert                   // insert random bytes
	OpDuplicate                // insert a copy of a block after the block
	OpRepeat                   // repeat up to 16 bytes up to 4,096 times, for example to nest too deeply
	OpLine                     // delete a line of text, duplicate it, or copy it before another line
	OpShuffle                  // shuffle the bytes of a block
	OpSwap                     // swap two blocks
	OpNumber                   // change a number that is written in digits
	OpTokenOverwrite           // write a token of the dictionary over other bytes
	OpTokenInsert              // insert a token of the dictionary
	OpSpliceOverwrite          // write a block of another input over other bytes: only in Cross
	OpSpliceInsert             // insert a block of another input: only in Cross
	operatorCount
)

var operators = [operatorCount]struct {
	name   string
	weight int
	edit   edit
}{
	OpInvalid:         {name: "invalid"},
	OpBitFlip:         {"bit-flip", 4, bitFlip},
	OpBitFlips:        {"bit-flips", 1, bitFlips},
	OpByteFlip:        {"byte-flip", 2, byteFlip},
	OpByteFlips:       {"byte-flips", 1, byteFlips},
	OpXor:             {"xor", 4, xor},
	OpArith8:          {"arith-8", 4, arith(0)},
	OpArith16:         {"arith-16", 3, arith(1)},
	OpArith32:         {"arith-32", 3, arith(2)},
	OpArith64:         {"arith-64", 2, arith(3)},
	OpInteresting8:    {"interesting-8", 3, limit(0)},
	OpInteresting16:   {"interesting-16", 2, limit(1)},
	OpInteresting32:   {"interesting-32", 2, limit(2)},
	OpInteresting64:   {"interesting-64", 2, limit(3)},
	OpCopyInsert:      {"copy-insert", 3, copyInsert},
	OpFixedInsert:     {"fixed-insert", 1, fixedInsert},
	OpCopyOverwrite:   {"copy-overwrite", 3, copyOverwrite},
	OpFixedOverwrite:  {"fixed-overwrite", 1, fixedOverwrite},
	OpDelete:          {"delete", 5, remove},
	OpInsert:          {"insert", 2, insert},
	OpDuplicate:       {"duplicate", 2, duplicate},
	OpRepeat:          {"repeat", 1, repeat},
	OpLine:            {"line", 2, textLine},
	OpShuffle:         {"shuffle", 1, shuffle},
	OpSwap:            {"swap", 2, swap},
	OpNumber:          {"number", 2, number},
	OpTokenOverwrite:  {"token-overwrite", 3, tokenOverwrite},
	OpTokenInsert:     {"token-insert", 3, tokenInsert},
	OpSpliceOverwrite: {"splice-overwrite", 1, spliceOverwrite},
	OpSpliceInsert:    {"splice-insert", 1, spliceInsert},
}

// String returns the operator's name.
func (op Operator) String() string {
	if op < operatorCount {
		return operators[op].name
	}
	return "operator(" + strconv.Itoa(int(op)) + ")"
}

// Operators returns all operators on bytes in their order.
func Operators() []Operator {
	all := make([]Operator, 0, operatorCount-1)
	for op := OpInvalid + 1; op < operatorCount; op++ {
		all = append(all, op)
	}
	return all
}
