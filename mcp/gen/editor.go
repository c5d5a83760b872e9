package gen

import (
	"bytes"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// editor makes scripts and changes them, one after another. The line of a step is read into a tree when a change wants
// that, and written back when all are done, so that several changes of one line cost one reading. It has one owner.
type editor struct {
	b           *material
	adversarial int // percentage of arguments that are drawn to be hostile
	havoc       mutate.Bytes
	values      mutate.JSONTree // ordinary changes of values
	large       mutate.JSONTree // the same, of which some come out long

	r      *teasel.Rand
	in     script.Script     // the one that is being changed
	trees  []tree            // by step
	memory mutate.JSONParser // of the trees
	known  []reading
	places []*mutate.JSON
}

// reading is a line that was read before. Most mutations are of the same script as the one before, and copying a tree
// is several times as fast as reading its text.
type reading struct {
	line   []byte
	root   *mutate.JSON // nil: it is no JSON
	memory mutate.JSONParser
}

type tree struct {
	state treeState
	root  *mutate.JSON
}

type treeState uint8

const (
	unread treeState = iota
	notJSON
	asRead
	changed
)

// begin takes up src, out of the memory of dst.
func (e *editor) begin(r *teasel.Rand, dst, src script.Script) {
	e.r = r
	e.in = script.Copy(dst, src)
	e.forget()
}

// forget drops all trees.
func (e *editor) forget() {
	n := len(e.in.Steps)
	e.trees = slices.Grow(e.trees[:0], n)[:n]
	clear(e.trees)
	e.memory.Reset()
}

// end writes back what was changed and returns the script, which the editor no longer knows.
func (e *editor) end() script.Script {
	for i := range e.trees {
		e.settle(i)
	}
	in := e.in
	in.Check = ""
	e.in = script.Script{}
	clear(e.trees)
	return in
}

// settle writes a changed tree back.
func (e *editor) settle(i int) {
	t := &e.trees[i]
	if t.state == changed {
		s := &e.in.Steps[i]
		s.Line = oneLine(t.root.Append(s.Line[:0]))
	}
	*t = tree{}
}

// oneLine keeps a line on one line, which it may have left with a Raw.
func oneLine(line []byte) []byte {
	for i := bytes.IndexByte(line, '\n'); i >= 0; {
		line[i] = ' '
		next := bytes.IndexByte(line[i:], '\n')
		if next < 0 {
			break
		}
		i += next
	}
	return line
}

// tree returns the line of a step as JSON, nil if it is none. Who changes it says so with touch.
func (e *editor) tree(i int) *mutate.JSON {
	t := &e.trees[i]
	if t.state == unread {
		t.state = notJSON
		if t.root = e.read(i); t.root != nil {
			t.state = asRead
		}
	}
	return t.root
}

// maxKnown is the length of the longest line whose tree is remembered.
const maxKnown = 4 << 10

func (e *editor) read(i int) *mutate.JSON {
	line := e.in.Steps[i].Line
	if i < len(e.known) && len(line) > 0 && bytes.Equal(e.known[i].line, line) {
		return e.memory.Copy(e.known[i].root)
	}
	if i >= maxSteps || len(line) > maxKnown {
		return parsed(&e.memory, line)
	}
	for len(e.known) <= i {
		e.known = append(e.known, reading{})
	}
	k := &e.known[i]
	k.memory.Reset()
	k.line = append(k.line[:0], line...)
	k.root = parsed(&k.memory, line)
	return e.memory.Copy(k.root)
}

// parsed returns a line as a tree, nil if it is no JSON.
func parsed(p *mutate.JSONParser, line []byte) *mutate.JSON {
	root, _ := p.Parse(line)
	return root
}

func (e *editor) touch(i int) { e.trees[i].state = changed }

// message returns the line of a step if it is an object, nil otherwise.
func (e *editor) message(i int) *mutate.JSON {
	root := e.tree(i)
	if root == nil || root.Kind != mutate.Object {
		return nil
	}
	return root
}

// method returns what a step asks for, "" if it does not.
func (e *editor) method(i int) string {
	m, _ := e.message(i).Get("method").Str()
	return m
}

// line returns the bytes of a step as they are now.
func (e *editor) line(i int) []byte {
	e.settle(i)
	return e.in.Steps[i].Line
}

// setLine gives a step another line.
func (e *editor) setLine(i int, line []byte) {
	e.trees[i] = tree{}
	e.in.Steps[i].Line = append(e.in.Steps[i].Line[:0], line...)
}

// setTree gives a step another message.
func (e *editor) setTree(i int, root *mutate.JSON) { e.trees[i] = tree{state: changed, root: root} }

// pick draws a step; the last ones are likelier, since what stands before them leads up to them.
func (e *editor) pick() int {
	n := len(e.in.Steps)
	if n == 1 {
		return 0
	}
	return max(e.r.IntN(n), e.r.IntN(n))
}

// insert puts a step before step i. References to later steps follow them.
func (e *editor) insert(i int, s script.Step) {
	e.renumber(func(k int) int {
		if k >= i {
			return k + 1
		}
		return k
	})
	e.in.Steps = slices.Insert(e.in.Steps, i, s)
	e.trees = slices.Insert(e.trees, i, tree{})
}

// add puts a step at the end.
func (e *editor) add(s script.Step) {
	e.in.Steps = append(e.in.Steps, s)
	e.trees = append(e.trees, tree{})
}

// remove takes a step out.
func (e *editor) remove(i int) {
	e.in.Steps = slices.Delete(e.in.Steps, i, i+1)
	e.trees = slices.Delete(e.trees, i, i+1)
	e.renumber(func(k int) int {
		switch {
		case k == i:
			return script.Gone
		case k > i:
			return k - 1
		}
		return k
	})
}

// swap exchanges two steps; references keep their meaning.
func (e *editor) swap(i, j int) {
	e.in.Steps[i], e.in.Steps[j] = e.in.Steps[j], e.in.Steps[i]
	e.trees[i], e.trees[j] = e.trees[j], e.trees[i]
	e.renumber(func(k int) int {
		switch k {
		case i:
			return j
		case j:
			return i
		}
		return k
	})
}

func (e *editor) renumber(move func(int) int) {
	for i := range e.in.Steps {
		e.settle(i)
		e.in.Steps[i].Renumber(move)
	}
}

// copyOf returns a step of its own memory.
func (e *editor) copyOf(i int) script.Step {
	e.settle(i)
	s := e.in.Steps[i]
	s.Line = bytes.Clone(s.Line)
	return s
}

// maxSteps is how long mutation makes a script.
const maxSteps = 24

func (e *editor) full() bool { return len(e.in.Steps) >= maxSteps }

// maxPlaces bounds how much of a huge message is looked at.
const maxPlaces = 2048

// under collects the values below v that wanted takes, v included. They are good until the next call.
func (e *editor) under(v *mutate.JSON, wanted func(*mutate.JSON) bool) []*mutate.JSON {
	clear(e.places) // or one huge tree would live on behind many small ones
	e.places = e.places[:0]
	e.collect(v, wanted)
	return e.places
}

func (e *editor) collect(v *mutate.JSON, wanted func(*mutate.JSON) bool) {
	if v == nil || len(e.places) >= maxPlaces {
		return
	}
	if wanted(v) {
		e.places = append(e.places, v)
	}
	for _, item := range v.Items {
		e.collect(item, wanted)
	}
	for i := range v.Members {
		e.collect(v.Members[i].Value, wanted)
	}
}
