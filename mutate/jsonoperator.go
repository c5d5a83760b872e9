package mutate

import "strconv"

// JSONOperator is one way in which [JSONTree] changes a tree.
type JSONOperator uint8

// The operators on trees. What they make of strings and numbers is JSON unless it says otherwise.
const (
	JSONInvalid         JSONOperator = iota
	JSONTypeConfusion                // any value to one of another type: "1", [v], {"value":v}, its own text as a string, ...
	JSONBoundary                     // limits of numbers, strings, arrays and objects; also what is no JSON, such as NaN
	JSONNesting                      // put a value inside up to MaxDepth arrays or objects
	JSONUnicode                      // put characters into a string that are hard to see, compare or decode
	JSONStringFlip                   // invert a bit of a string
	JSONStringInsert                 // insert drawn characters into a string
	JSONStringDelete                 // delete a part of a string
	JSONStringDuplicate              // repeat a part of a string, or all of it
	JSONStringToken                  // put a token of the dictionary into a string or in its place
	JSONStringCase                   // change the case of a string
	JSONStringSpace                  // put white space before, behind or into a string
	JSONNumberAdd                    // add or subtract 1 to 35
	JSONNumberScale                  // times or by 2, 10, 1000
	JSONNumberNegate                 // the other sign
	JSONNumberForm                   // the same number in another spelling: 1.0, 1e0; also such as are no JSON: +1, 01
	JSONMemberRemove                 // remove a member
	JSONMemberRename                 // change a member's name: case, affix, control byte, ...
	JSONMemberDuplicate              // the same name once more, with another value
	JSONMemberAdd                    // add a member that nobody asked for
	JSONMemberShuffle                // the same members in another order
	JSONItemDuplicate                // repeat an item of an array
	JSONItemDrop                     // drop an item of an array
	JSONItemReorder                  // the same items in another order
	JSONSwap                         // swap two values
	JSONCopy                         // put a copy of one value in the place of another
	JSONDefect                       // break the text: commas, quotes, comments, cut off, escapes, byte order mark, two values
	JSONSplice                       // put a value of another tree in the place of one: only in Cross
	jsonOperatorCount
)

// treeEdit changes the tree at one place; false if it does not fit there or would change nothing.
type treeEdit func(e *editor, at *slot) bool

// fit says at which places an operator is tried.
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
	JSONNumberForm:      {"number-form", 2, atNumber, respellNumber},
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
