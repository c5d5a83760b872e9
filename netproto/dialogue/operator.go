package dialogue

import "strconv"

// Operator is one way in which [Mutator] changes a dialogue.
type Operator uint8

// The operators. Those on a message change one that is drawn, the dialogue goes on as before. What follows from a changed
// field, such as a length, is computed anew, but for the fields that an operator breaks.
const (
	OpInvalid Operator = iota

	// On fields.
	OpBoundary    // write a limit of the field: 0, the largest, the smallest, a power of two; of bytes, none or a popular size
	OpArithmetic  // add or subtract 1 to 35, double or halve
	OpBitFlip     // invert a share of the field's bits: Mutator.Bytes.BitRatio
	OpInteresting // write a value that the model knows, a neighbour of one, or one at which programs break
	OpExpand      // make bytes longer, by up to 64 KiB
	OpShrink      // make bytes shorter
	OpRepeat      // write a part of bytes many times, up to 64 KiB
	OpFieldBytes  // change the field's bytes with the operators of [mutate.Bytes]
	OpFieldCopy   // write the value of another field
	OpLie         // break a derived field: one more or less, 0, the largest, another value
	OpStale       // change a field and leave a derived one as it was
	OpMend        // make all broken fields right again
	OpDuplicate   // write a field, an item or a structure twice, or many times
	OpDrop        // leave a field, an item or a structure out
	OpReorder     // swap two fields or items
	OpOptional    // add a field that the message may have

	// On the bytes of a message.
	OpBytes  // change them with the operators of [mutate.Bytes]
	OpSplice // put the head of a message and the tail of another one together

	// On the order of messages.
	OpMessageDrop    // leave a message out
	OpMessageDouble  // send a message twice, or many times
	OpMessageSwap    // swap two messages
	OpMessageReplace // send another kind of message in its place
	OpMessageInsert  // send a message that belongs elsewhere
	OpMessageCut     // end the dialogue early
	OpMessageNoWait  // send the next message without waiting for the answer, or wait again
	OpReconnect      // connect anew before a message, or do not
	OpClient         // have another client send a message and those behind it, or one message
	OpBeside         // hold the dialogue twice side by side, with two clients
	operatorCount
)

// family is what an operator works on.
type family uint8

const (
	onField family = iota
	onBytes
	onOrder
)

// operators are the names and weights. On fields, two of five changes move a value to a limit, to one that the protocol knows
// or to a neighbour, since servers mostly check values against those. Long texts have less, as they take longer to send, and
// so has what changes which fields there are; mend has little, since each minimisation tries it. On the order of messages, a
// message that belongs elsewhere has the most, since it may lead to a state that no dialogue has reached.
var operators = [operatorCount]struct {
	name   string
	family family
	weight int
}{
	OpInvalid:     {"invalid", onField, 0},
	OpBoundary:    {"boundary", onField, 25},
	OpArithmetic:  {"arithmetic", onField, 20},
	OpBitFlip:     {"bit-flip", onField, 15},
	OpInteresting: {"interesting", onField, 20},
	OpExpand:      {"expand", onField, 8},
	OpShrink:      {"shrink", onField, 7},
	OpRepeat:      {"repeat", onField, 5},
	OpFieldBytes:  {"field-bytes", onField, 10},
	OpFieldCopy:   {"field-copy", onField, 8},
	OpLie:         {"lie", onField, 10},
	OpStale:       {"stale", onField, 5},
	OpMend:        {"mend", onField, 2},
	OpDuplicate:   {"duplicate", onField, 8},
	OpDrop:        {"drop", onField, 6},
	OpReorder:     {"reorder", onField, 5},
	OpOptional:    {"optional", onField, 5},

	OpBytes:  {"bytes", onBytes, 90},
	OpSplice: {"splice", onBytes, 10},

	OpMessageDrop:    {"message-drop", onOrder, 15},
	OpMessageDouble:  {"message-double", onOrder, 15},
	OpMessageSwap:    {"message-swap", onOrder, 10},
	OpMessageReplace: {"message-replace", onOrder, 15},
	OpMessageInsert:  {"message-insert", onOrder, 30},
	OpMessageCut:     {"message-cut", onOrder, 5},
	OpMessageNoWait:  {"message-no-wait", onOrder, 5},
	OpReconnect:      {"reconnect", onOrder, 5},
	OpClient:         {"client", onOrder, 5},
	OpBeside:         {"beside", onOrder, 3},
}

// String returns the operator's name.
func (op Operator) String() string {
	if op < operatorCount {
		return operators[op].name
	}
	return "operator(" + strconv.Itoa(int(op)) + ")"
}

// Operators returns all operators in their order.
func Operators() []Operator {
	all := make([]Operator, 0, operatorCount-1)
	for op := OpInvalid + 1; op < operatorCount; op++ {
		all = append(all, op)
	}
	return all
}
