package gen

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// Simplify proposes a simpler script: no process of its own, runs of steps left out (halves, quarters, down to single
// ones), repetitions and flags gone, and then each message with parts of its JSON left out or made plain, or, where it
// is none, of its bytes. Of a script whose answers are compared only steps are left out, because to change one of its
// messages would be to compare something else.
// What was made to measure growth is as simple as it can be: each try would measure anew.
func (m *Mutator) Simplify(k uint64, dst, src script.Script) (script.Script, bool) {
	if measuresGrowth(&src) {
		return src, false
	}
	c := countdown(k)
	for _, propose := range []func(*countdown, script.Script, *script.Script) (script.Script, bool){
		shareProcess, dropSteps, dropFlags, m.simplifyLines,
	} {
		if out, ok := propose(&c, dst, &src); ok {
			out.Check = src.Check
			return out, true
		}
	}
	return src, false
}

func measuresGrowth(in *script.Script) bool {
	return check.MeasuresTime(in.Check) || in.Check == check.GrowthMemory || in.Check == check.GrowthFiles || in.Check == check.KeptOpen
}

// countdown counts candidates that are passed over.
type countdown uint64

// here reports whether it is this one's turn.
func (c *countdown) here() bool {
	if *c == 0 {
		return true
	}
	*c--
	return false
}

// skip passes over n candidates at once, or tells which of them it is.
func (c *countdown) skip(n uint64) (which uint64, here bool) {
	if uint64(*c) < n {
		return uint64(*c), true
	}
	*c -= countdown(n)
	return 0, false
}

// editing starts to change a copy of src, with the memory of dst.
func editing(dst script.Script, src *script.Script) *editor {
	var e editor
	e.begin(nil, dst, *src)
	return &e
}

func shareProcess(c *countdown, dst script.Script, src *script.Script) (script.Script, bool) {
	if src.Start != script.Fresh || src.Check != "" || !c.here() {
		return script.Script{}, false
	}
	e := editing(dst, src)
	e.toShared()
	return e.end(), true
}

// dropSteps leaves runs out, from the end on: what comes after a fault has no part in it.
func dropSteps(c *countdown, dst script.Script, src *script.Script) (script.Script, bool) {
	n := len(src.Steps)
	for size := n / 2; size >= 1; size /= 2 {
		runs := uint64((n + size - 1) / size)
		if n == 1 {
			return script.Script{}, false
		}
		which, here := c.skip(runs)
		if !here {
			continue
		}
		to := n - int(which)*size
		from := max(0, to-size)
		e := editing(dst, src)
		for i := to - 1; i >= from; i-- {
			e.remove(i)
		}
		e.keepEnd(src)
		return e.end(), true
	}
	return script.Script{}, false
}

// keepEnd lets the last step close the connection if that is what the script's last one did.
func (e *editor) keepEnd(src *script.Script) {
	if len(e.in.Steps) == 0 {
		return
	}
	last := &e.in.Steps[len(e.in.Steps)-1]
	if e.in.Start == script.Fresh && src.Steps[len(src.Steps)-1].Close {
		last.Close = true
	}
	e.endWhole()
}

func dropFlags(c *countdown, dst script.Script, src *script.Script) (script.Script, bool) {
	for i := range src.Steps {
		s := &src.Steps[i]
		change := func(edit func(*script.Step)) (script.Script, bool) {
			out := script.Copy(dst, *src)
			edit(&out.Steps[i])
			return out, true
		}
		if s.Times > 1 {
			for _, times := range [...]int{0, s.Times / 2, s.Times - s.Times/4, s.Times - 1} {
				if c.here() {
					return change(func(s *script.Step) { s.Times = times })
				}
			}
		}
		for _, head := range simplerHeads(s.Head) {
			if c.here() {
				return change(func(s *script.Step) { s.Head = head })
			}
		}
		if s.NoWait && c.here() {
			return change(func(s *script.Step) { s.NoWait = false })
		}
		if s.NoNewline && c.here() {
			return change(func(s *script.Step) { s.NoNewline = false })
		}
		if s.Close && c.here() {
			return change(func(s *script.Step) { s.Close = false })
		}
	}
	return script.Script{}, false
}

// simplerHeads returns a head without its changes: all, and each.
func simplerHeads(head string) (simpler []string) {
	if head == "" {
		return nil
	}
	simpler = append(simpler, "")
	if lines := strings.Split(head, "\n"); len(lines) > 1 {
		for i := range lines[:min(len(lines), maxSimplerHeads)] {
			simpler = append(simpler, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n"))
		}
	}
	return simpler
}

const maxSimplerHeads = 64

// simplifyLines takes the simpler candidates of all messages in turn, the first of each, the second of each, since how
// many there are is not known.
func (m *Mutator) simplifyLines(c *countdown, dst script.Script, src *script.Script) (script.Script, bool) {
	if check.IsComparing(src.Check) {
		return script.Script{}, false
	}
	n := uint64(len(src.Steps))
	if n == 0 {
		return script.Script{}, false
	}
	i, k := int(n-1-uint64(*c)%n), uint64(*c)/n
	line, ok := m.simplerLine(k, src.Steps[i].Line)
	for at := 0; at < len(src.Steps) && !ok; at++ {
		// This one is past its last; the end is where all are.
		if _, ok = m.simplerLine(k, src.Steps[at].Line); ok {
			line = src.Steps[i].Line
		}
	}
	if !ok {
		return script.Script{}, false
	}
	out := script.Copy(dst, *src)
	out.Steps[i].Line = append(out.Steps[i].Line[:0], line...)
	return out, true
}

// What is longer than longLine is shortened by its larger parts only, in so many tries: servers take their time for it,
// and whether it has a thousand bytes more or less tells nobody anything.
const (
	longLine  = 64 << 10
	longTries = 64
)

// simplerLine returns the k-th simpler candidate of a line. Of a message with a method the envelope is put right or left
// alone, since its bytes are not what anybody wants to see shortened, and the work goes into the params.
func (m *Mutator) simplerLine(k uint64, line []byte) ([]byte, bool) {
	if k == 0 {
		return nil, true
	}
	if len(line) > longLine && k > longTries {
		return nil, false
	}
	c := countdown(k - 1)
	root, err := mutate.ParseJSON(line)
	if err != nil {
		simpler, ok := m.e.havoc.Simplify(uint64(c), nil, line)
		return oneLine(simpler), ok
	}
	if root.Get("method") == nil {
		simpler, ok := m.e.values.Simplify(uint64(c), nil, root)
		if !ok {
			return nil, false
		}
		return oneLine(simpler.Append(nil)), true
	}
	if !simplerEnvelope(&c, root) && !m.simplerParams(uint64(c), root) {
		return nil, false
	}
	return oneLine(root.Append(nil)), true
}

// simplerEnvelope makes an envelope as it should be, one member at a time, or takes out a member.
func simplerEnvelope(c *countdown, root *mutate.JSON) bool {
	if text, _ := root.Get("jsonrpc").Str(); text != "2.0" && c.here() {
		root.Delete("jsonrpc")
		root.Members = append([]mutate.Member{jsonrpc.Member("jsonrpc", mutate.NewString("2.0"))}, root.Members...)
		return true
	}
	if id := root.Get("id"); id != nil && id.String() != `"@id"` && c.here() {
		root.Set("id", mutate.NewString("@id"))
		return true
	}
	for i, m := range root.Members {
		if m.Name != "jsonrpc" && m.Name != "method" && m.Name != "id" && c.here() {
			root.Members = append(root.Members[:i], root.Members[i+1:]...)
			return true
		}
	}
	return false
}

// simplerParams leaves the name of what is called as it is.
func (m *Mutator) simplerParams(k uint64, root *mutate.JSON) bool {
	params := root.Get("params")
	if params == nil {
		return false
	}
	tree := mutate.JSONTree{Dictionary: m.e.b.Dictionary}
	if name, _ := params.Get("name").Str(); m.e.b.Find(name) != nil || m.e.b.Session.Prompt(name) != nil {
		tree.Protect = func(pointer string) bool { return pointer == "/name" }
	}
	simpler, ok := tree.Simplify(k, nil, params)
	if ok && !renamed(params, simpler) {
		root.Set("params", simpler)
	}
	return ok
}

// renamed reports whether an object has a member whose name was not there before. A name that is shorter by a letter
// is no simpler to people, and each try costs a run.
func renamed(was, now *mutate.JSON) bool {
	known := make(map[string]bool)
	was.Walk(func(_ string, v *mutate.JSON) bool {
		for _, m := range v.Members {
			known[m.Name] = true
		}
		return true
	})
	other := false
	now.Walk(func(_ string, v *mutate.JSON) bool {
		for _, m := range v.Members {
			other = other || !known[m.Name]
		}
		return !other
	})
	return other
}
