package gen

import (
	"slices"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// maxStepped is the number of steps of the longest script whose changes are tried in order. Longer ones are checks, which are thorough
// already.
const maxStepped = 8

// maxSteppedBytes is the size of the largest script whose changes are tried in order: of a larger one there is no end.
const maxSteppedBytes = 32 << 10

// Step returns the k-th ordered change of a script: steps said again at the end, left out, exchanged; the arguments of
// calls breaking their schema in every way that was found; on the plainest messages every odd id, version, method and
// member; odd cursors of lists; and last every ordered change of the values, as [mutate.JSONTree.Step] has them. A script
// that has a process of its own, or whose messages are not in order already, has no steps.
func (m *Mutator) Step(k uint64, dst, src script.Script) (script.Script, bool) {
	if src.Start == script.Fresh || len(src.Steps) > maxStepped || len(src.Steps) == 0 || src.Size() > maxSteppedBytes {
		return dst, false
	}
	c := countdown(k)
	e := &m.e
	e.begin(nil, dst, src)
	for i := range e.in.Steps {
		if !e.isWellFormed(i) {
			return e.end(), false
		}
	}
	for _, change := range []func(*countdown) bool{e.changeSteps, e.changeSchemas, e.changeEnvelope, e.changeCursors, e.changeValues} {
		if change(&c) {
			e.endWhole()
			return e.end(), true
		}
	}
	return e.end(), false
}

func (e *editor) changeSteps(c *countdown) bool {
	n := len(e.in.Steps)
	for i := range n {
		if c.here() {
			e.add(e.copyOf(i))
			return true
		}
	}
	for i := 0; i < n && n > 1; i++ {
		if c.here() {
			e.remove(i)
			return true
		}
		if i+1 < n && c.here() {
			e.swap(i, i+1)
			return true
		}
	}
	if n > 1 && c.here() {
		for i := range e.in.Steps {
			e.in.Steps[i].NoWait = true
		}
		return true
	}
	return false
}

// called returns the tool that a step calls, nil if it calls none that we know.
func (e *editor) called(i int) *session.Operation {
	if e.method(i) != "tools/call" {
		return nil
	}
	name, _ := e.message(i).Get("params").Get("name").Str()
	return e.b.Find(name)
}

func (e *editor) changeSchemas(c *countdown) bool {
	for i := range e.in.Steps {
		t := e.called(i)
		if t == nil {
			continue
		}
		if which, here := c.skip(uint64(len(t.Broken))); here {
			return e.setArguments(i, e.message(i), t.Broken[which].Clone())
		}
	}
	return false
}

// isPlain reports whether the script is one message that says no more than it has to, so that what is wrong with its
// envelope is all there is to it.
func (e *editor) isPlain() bool {
	if len(e.in.Steps) != 1 || e.message(0).Get("method") == nil {
		return false
	}
	params := e.message(0).Get("params")
	if params == nil || params.Kind == mutate.Object && len(params.Members) == 0 {
		return true
	}
	arguments := params.Get("arguments")
	return arguments != nil && arguments.Kind == mutate.Object && len(arguments.Members) == 0 && len(params.Members) == 2
}

func (e *editor) changeEnvelope(c *countdown) bool {
	if !e.isPlain() {
		return false
	}
	root := e.message(0)
	for _, odd := range []struct {
		name   string
		values []string
	}{{"id", oddIDs}, {"jsonrpc", oddVersions}, {"params", oddParams}, {"method", oddMethodValues}} {
		if which, here := c.skip(uint64(len(odd.values))); here {
			root.Set(odd.name, mutate.NewRaw(odd.values[which]))
			e.touch(0)
			return true
		}
	}
	if which, here := c.skip(uint64(len(oddMethods))); here {
		root.Set("method", mutate.NewString(oddMethods[which]))
		e.touch(0)
		return true
	}
	if which, here := c.skip(uint64(len(root.Members))); here {
		root.Members = slices.Delete(root.Members, int(which), int(which)+1)
		e.touch(0)
		return true
	}
	if which, here := c.skip(uint64(len(oddMembers))); here {
		odd := oddMembers[which]
		root.Members = append(root.Members, jsonrpc.Member(odd.name, mutate.NewRaw(odd.value)))
		e.touch(0)
		return true
	}
	return e.tryNames(c)
}

// tryNames calls what there is not, where tools or prompts are called.
func (e *editor) tryNames(c *countdown) bool {
	params := e.message(0).Get("params")
	if params.Get("name") == nil {
		return false
	}
	for _, names := range [][]string{check.OwnedNames, oddTools, check.Variants(orA(params.Get("name").Text))} {
		if which, here := c.skip(uint64(len(names))); here {
			params.Set("name", mutate.NewString(names[which]))
			e.touch(0)
			return true
		}
	}
	return false
}

func (e *editor) changeCursors(c *countdown) bool {
	for i := range e.in.Steps {
		if !slices.Contains(check.Lists, e.method(i)) {
			continue
		}
		if which, here := c.skip(uint64(len(check.OddCursors))); here {
			e.message(i).Set("params", check.CursorParams(mutate.NewRaw(check.OddCursors[which])))
			e.touch(i)
			return true
		}
	}
	return false
}

// changeValues takes the ordered changes of all messages in turn, the first of each, the second of each, since how many
// there are is not known.
func (e *editor) changeValues(c *countdown) bool {
	n := uint64(len(e.in.Steps))
	i, k := int(uint64(*c)%n), uint64(*c)/n
	more := false
	for at := range e.in.Steps {
		root := e.message(at)
		part := root.Get("params")
		if arguments := part.Get("arguments"); arguments.Len() > 1 {
			part = arguments
		}
		if part.Len() < 2 {
			continue
		}
		changed, ok := e.values.Step(k, nil, part)
		more = more || ok
		if at == i && ok {
			*part = *changed
			e.touch(at)
		}
	}
	return more
}
