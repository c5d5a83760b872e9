package gen

import (
	"github.com/teaselfuzz/teasel/mutate"
)

// within returns the part of a message that a change of values goes to: mostly the arguments, then the params, seldom
// all of the envelope. It is nil where there is no such part: what is wrong with an envelope is the same for most
// messages, keeps a server from looking further, and cannot be sent together with others.
func (e *editor) within(root *mutate.JSON) *mutate.JSON {
	draw := e.r.IntN(64)
	if draw == 0 {
		return root
	}
	if result := root.Get("result"); result != nil && root.Get("method") == nil {
		return result
	}
	params := root.Get("params")
	if arguments := params.Get("arguments"); draw < 56 && arguments.Len() > 1 {
		return arguments
	}
	if params.Len() < 2 {
		return nil
	}
	return params
}

// valueWithin is within for changes that may replace all of what they are given: params that are no object would be as
// good as an envelope that is wrong.
func (e *editor) valueWithin(root *mutate.JSON) *mutate.JSON {
	part := e.within(root)
	if part == nil || part != root.Get("params") || len(part.Members) == 0 || e.r.IntN(16) == 0 {
		return part
	}
	return choose(e, part.Members).Value
}

// operate changes values of a step by one of the operators on trees.
func (e *editor) operate(operators []mutate.JSONOperator, where func(*editor, *mutate.JSON) *mutate.JSON) bool {
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return false
	}
	part := where(e, root)
	if part == nil {
		return false
	}
	values := &e.values
	if e.r.IntN(64) == 0 {
		values = &e.large
	}
	if !values.Apply(e.r, choose(e, operators), part, nil) {
		return false
	}
	if e.r.IntN(8) > 0 {
		tame(part)
	}
	e.touch(i)
	return true
}

// tame makes strings of what is no JSON, such as NaN. A line that is none tests the same few lines of every server,
// and some end the session there.
func tame(v *mutate.JSON) {
	if v == nil {
		return
	}
	if v.Kind == mutate.Raw && len(v.Text) < 64 {
		if _, err := mutate.ParseJSON([]byte(v.Text)); err != nil {
			*v = *mutate.NewString(v.Text)
		}
	}
	for _, item := range v.Items {
		tame(item)
	}
	for i := range v.Members {
		tame(v.Members[i].Value)
	}
}

var (
	typeOperators     = []mutate.JSONOperator{mutate.JSONTypeConfusion}
	boundaryOperators = []mutate.JSONOperator{
		mutate.JSONBoundary, mutate.JSONBoundary, mutate.JSONBoundary, mutate.JSONNumberAdd, mutate.JSONNumberAdd, mutate.JSONNumberScale, mutate.JSONNumberNegate,
		mutate.JSONNumberForm, mutate.JSONItemDuplicate, mutate.JSONItemDrop,
	}
	nestingOperators = []mutate.JSONOperator{mutate.JSONNesting}
	unicodeOperators = []mutate.JSONOperator{mutate.JSONUnicode}
	stringOperators  = []mutate.JSONOperator{
		mutate.JSONStringFlip, mutate.JSONStringInsert, mutate.JSONStringDelete, mutate.JSONStringDuplicate, mutate.JSONStringToken, mutate.JSONStringToken,
		mutate.JSONStringCase, mutate.JSONStringSpace,
	}
	movingOperators = []mutate.JSONOperator{mutate.JSONSwap, mutate.JSONCopy, mutate.JSONMemberShuffle, mutate.JSONItemReorder}
)

// confuseType gives a value another type, as close to its content as that goes.
func confuseType(e *editor) bool { return e.operate(typeOperators, (*editor).valueWithin) }

// setBoundary puts a value at the border of its type, or a little further.
func setBoundary(e *editor) bool { return e.operate(boundaryOperators, (*editor).valueWithin) }

// nestDeeply wraps a value into arrays or objects.
func nestDeeply(e *editor) bool { return e.operate(nestingOperators, (*editor).valueWithin) }

// injectUnicode puts characters into a string that are hard to see, compare or decode.
func injectUnicode(e *editor) bool { return e.operate(unicodeOperators, (*editor).valueWithin) }

// rearrange swaps, copies and shuffles values.
func rearrange(e *editor) bool { return e.operate(movingOperators, (*editor).valueWithin) }

// changeString changes a string, or puts a word in its place that may mean something to this server.
func changeString(e *editor) bool {
	if e.r.IntN(3) > 0 {
		return e.operate(stringOperators, (*editor).valueWithin)
	}
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return false
	}
	places := e.under(e.valueWithin(root), isString)
	if len(places) == 0 {
		return false
	}
	v, word := choose(e, places), e.word()
	if v.Text == word {
		return false
	}
	*v = *mutate.NewString(word)
	e.touch(i)
	return true
}

func isString(v *mutate.JSON) bool { return v.Kind == mutate.String }
