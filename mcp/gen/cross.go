package gen

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// Cross makes one script of two: the arguments of a call go into a call of the same tool, or steps of b stand behind or
// among those of a.
func (m *Mutator) Cross(r *teasel.Rand, dst, a, b script.Script) script.Script {
	e := &m.e
	e.begin(r, dst, a)
	if e.in.Start == script.Fresh {
		e.toShared()
	}
	if e.r.IntN(4) > 0 {
		e.repairEnvelope()
	}
	if len(b.Steps) > 0 && (e.r.IntN(2) == 0 || !e.crossArguments(&b)) {
		e.crossSteps(&b)
	}
	return m.finish(a)
}

// crossArguments puts some members of the arguments of a call in b into a call of the same tool.
func (e *editor) crossArguments(b *script.Script) bool {
	i := e.pick()
	root := e.message(i)
	if e.method(i) != "tools/call" {
		return false
	}
	params := root.Get("params")
	mine := params.Get("arguments")
	for range 4 {
		other := parsed(&e.memory, b.Steps[e.r.IntN(len(b.Steps))].Line)
		if other == nil || other.Kind != mutate.Object {
			continue
		}
		theirs := other.Get("params").Get("arguments")
		if theirs == nil || !other.Get("params").Get("name").Equal(params.Get("name")) {
			continue
		}
		if nonEmpty(mine) == nil || nonEmpty(theirs) == nil {
			return e.setArguments(i, root, theirs)
		}
		if e.r.IntN(2) == 0 && e.values.Apply(e.r, mutate.JSONSplice, mine, theirs) {
			e.touch(i)
			return true
		}
		for _, m := range theirs.Members {
			if e.r.IntN(2) == 0 {
				mine.Set(m.Name, m.Value)
			}
		}
		e.touch(i)
		return true
	}
	return false
}

// crossSteps puts a run of b's steps behind or among those of the script. References among them keep their meaning;
// what referred to steps left behind refers to nothing.
func (e *editor) crossSteps(b *script.Script) {
	from := e.r.IntN(len(b.Steps))
	to := from + 1 + e.r.IntN(len(b.Steps)-from)
	to = min(to, from+max(1, maxSteps-len(e.in.Steps)))
	at := len(e.in.Steps)
	if e.r.IntN(3) == 0 {
		at = e.r.IntN(at + 1)
	}
	for k := from; k < to; k++ {
		s := script.Step{NoWait: b.Steps[k].NoWait, Times: b.Steps[k].Times}
		s.Line = script.Renumber(append([]byte(nil), b.Steps[k].Line...), func(step int) int {
			if step < from || step >= to {
				return script.Gone
			}
			return step - from + at
		})
		e.insertAsIs(at+k-from, s)
	}
}

// insertAsIs is insert for a step whose references are right already for where it goes.
func (e *editor) insertAsIs(i int, s script.Step) {
	line := s.Line
	s.Line = nil
	e.insert(i, s)
	e.in.Steps[i].Line = line
}

// Join puts scripts one after another into one. A script that has a process of its own cannot have had a part in what
// befell the session of others: it is left out, unless all are such. So is what measured how time grows, for it takes
// its time and has no other effect; and before such a measurement nothing else has a part in it.
func (m *Mutator) Join(ins []script.Script) script.Script {
	if n := len(ins); n > 0 && check.MeasuresTime(ins[n-1].Check) {
		return script.Copy(script.Script{}, ins[n-1])
	}
	all := true
	for i := range ins {
		all = all && ins[i].Start == script.Fresh
	}
	out := script.Script{Start: script.Shared}
	if all && len(ins) > 0 {
		out.Start = script.Fresh
	}
	for i := range ins {
		if ins[i].Start != out.Start || check.MeasuresTime(ins[i].Check) {
			continue
		}
		base := len(out.Steps)
		for k := range ins[i].Steps {
			s := ins[i].Steps[k]
			s.Line = append([]byte(nil), s.Line...)
			s.Renumber(func(step int) int { return step + base })
			out.Steps = append(out.Steps, s)
		}
		if n := len(out.Steps); n > base && out.Start == script.Shared {
			out.Steps[n-1].NoNewline = false
		}
	}
	return out
}

// A part is a step, or the head of one that is sent with or without it.
type part struct {
	step int
	head bool
}

// parts returns the parts of a script. A head that makes another request than a POST of its line is none by itself.
func parts(in *script.Script) (all []part) {
	for i := range in.Steps {
		s := &in.Steps[i]
		all = append(all, part{step: i})
		if s.Head != "" && len(s.Line) > 0 && conn.ParseHead(s.Head).Method == "POST" {
			all = append(all, part{i, true})
		}
	}
	return all
}

// Keep implements [teasel.Joiner]. References keep their meaning; what referred to a step that is left out refers to nothing.
func (m *Mutator) Keep(in script.Script, kept []int) script.Script {
	if measuresGrowth(&in) {
		return script.Copy(script.Script{}, in)
	}
	all := parts(&in)
	var steps []int
	places := map[int]int{}
	for _, k := range kept {
		if p := all[k]; !p.head {
			places[p.step] = len(steps)
			steps = append(steps, p.step)
		}
	}
	e := editor{in: script.Script{Start: in.Start, Check: in.Check}}
	for _, from := range steps {
		s := in.Steps[from]
		if head := slices.Index(all, part{from, true}); head >= 0 && !slices.Contains(kept, head) {
			s.Head = ""
		}
		s.Line = append([]byte(nil), s.Line...)
		s.Renumber(func(step int) int {
			if to, ok := places[step]; ok {
				return to
			}
			return script.Gone
		})
		e.in.Steps = append(e.in.Steps, s)
	}
	e.keepEnd(&in)
	return e.in
}

// Together returns a script that sends all that another one does before anything is awaited.
func (m *Mutator) Together(in script.Script) script.Script {
	out := script.Copy(script.Script{}, in)
	for i := range out.Steps[:max(len(out.Steps)-1, 0)] {
		out.Steps[i].NoWait = out.Steps[i].Asked == ""
	}
	return out
}
