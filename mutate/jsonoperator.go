package mutate

import "strconv"

// JSONOperator is a kind of change that [JSONTree] makes to a tree.
type JSONOperator uint8

// The operators on trees. Changed strings and numbers are valid JSON unless stated otherwise.
const (
	JSONInvalid         JSONOperator = iota
	JSONTypeConfusion                // any value to one of another type: "1", [v], {"value":v}, its own text as a string, ...
	JSONBoundary                     // boundary values of numbers, strings, arrays and objects; also invalid JSON, such as NaN
	JSONNesting                      // put a value inside up to MaxDepth arrays or objects
	JSONUnicode                      // insert characters into a string that are hard to display, compare or decode
	JSONStringFlip                   // invert a bit of a string
	JSONStringInsert                 // insert random characters into a string
	JSONStringDelete                 // delete a part of a string
	JSONStringDuplicate              // repeat a part of a string, or all of it
	JSONStringToken                  // insert a token of the dictionary into a string, or replace the string by it
	JSONStringCase                   // change the case of a string
	JSONStringSpace                  // insert white space before, after or into a string
	JSONNumberAdd                    // add or subtract 1 to 35
	JSONNumberScale                  // multiply or divide by 2, 10, 1000
	JSONNumberNegate                 // change the sign
	JSONNumberForm                   // the same number in another notation: 1.0, 1e0; also invalid ones: +1, 01
	JSONMemberRemove                 // remove a member
	JSONMemberRename                 // change a member's name: case, affix, control byte, ...
	JSONMemberDuplicate              // insert a member with the same name and another value
	JSONMemberAdd                    // add a member with another name
	JSONMemberShuffle                // the same members in another order
	JSONItemDuplicate                // repeat an item of an array
	JSONItemDrop                     // drop an item of an array
	JSONItemReorder                  // the same items in another order
	JSONSwap                         // swap two values
	JSONCopy                         // replace a value by a copy of another one
	JSONDefect                       // malformed text: commas, quotes, comments, truncation, escapes, byte order mark, two values
	JSONSplice                       // replace a value by one of another tree: only in Cross
	jsonOperatorCount
)

// treeEdit changes the tree at a slot. It returns false if it cannot be applied there or would change nothing.
type treeEdit func(e *editor, at *slot) bool

// fit tells to which slots an operator can be applied.
type fit uint8

const (
	anywhere fit = iota
	atNumber
	atString // and at raw text
	atArray
	atObject
	atItem   // of an array
	atMember // of an object
)

var jsonOperators = [jsonOperatorCount]struct {
	name   string
	weight int
	fit    fit
	edit   treeEdit
}{
	JSONInvalid:         {name: "invalid"},
	JSONTypeConfusion:   {"type-confusion", 8, anywhere, confuseType},
	JSONBoundary:        {"boundary", 8, anywhere, setBoundary},
	JSONNesting:         {"nesting", 1, anywhere, nest},
	JSONUnicode:         {"unicode", 4, atString, injectUnicode},
	JSONStringFlip:      {"string-flip", 2, atString, flipText},
	JSONStringInsert:    {"string-insert", 2, atString, insertText},
	JSONStringDelete:    {"string-delete", 2, atString, deleteText},
	JSONStringDuplicate: {"string-duplicate", 2, atString, duplicateText},
	JSONStringToken:     {"string-token", 6, atString, putToken},
	JSONStringCase:      {"string-case", 1, atString, changeCase},
	JSONStringSpace:     {"string-space", 1, atString, putSpace},
	JSONNumberAdd:       {"number-add", 4, atNumber, addNumber},
	JSONNumberScale:     {"number-scale", 2, atNumber, scaleNumber},
	JSONNumberNegate:    {"number-negate", 2, atNumber, negateNumber},
	JSONNumberForm:      {"number-form", 2, atNumber, reformatNumber},
	JSONMemberRemove:    {"member-remove", 3, atMember, removeMember},
	JSONMemberRename:    {"member-rename", 3, atMember, renameMember},
	JSONMemberDuplicate: {"member-duplicate", 2, atMember, duplicateMember},
	JSONMemberAdd:       {"member-add", 3, atObject, addMember},
	JSONMemberShuffle:   {"member-shuffle", 1, atObject, shuffleMembers},
	JSONItemDuplicate:   {"item-duplicate", 2, atItem, duplicateItem},
	JSONItemDrop:        {"item-drop", 2, atItem, dropItem},
	JSONItemReorder:     {"item-reorder", 1, atArray, reorderItems},
	JSONSwap:            {"swap", 2, anywhere, swapValues},
	JSONCopy:            {"copy", 2, anywhere, copyValue},
	JSONDefect:          {"defect", 3, anywhere, breakText},
	JSONSplice:          {"splice", 1, anywhere, spliceValue},
}

// String returns the operator's name.
func (op JSONOperator) String() string {
	if op < jsonOperatorCount {
		return jsonOperators[op].name
	}
	return "jsonoperator(" + strconv.Itoa(int(op)) + ")"
}

// JSONOperators returns all operators on trees in their order.
func JSONOperators() []JSONOperator {
	all := make([]JSONOperator, 0, jsonOperatorCount-1)
	for op := JSONInvalid + 1; op < jsonOperatorCount; op++ {
		all = append(all, op)
	}
	return all
}
