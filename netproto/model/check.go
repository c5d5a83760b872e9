package model

import "fmt"

// check looks for what makes a model useless though each part of it could be read.
func (l *loader) check() {
	seen := map[*Type]bool{}
	for _, m := range l.m.Messages {
		l.checkType(m.Type, seen)
	}
	for _, m := range l.m.Responses {
		l.checkType(m.Type, seen)
	}
	for _, t := range l.m.Types {
		l.checkType(t, seen)
	}
	measures := map[string]bool{}
	for t := range seen {
		for _, f := range t.Fields {
			for _, e := range [...]*linear{f.sizing, f.counting} {
				if e != nil && len(e.ref.path) > 0 {
					measures[e.ref.path[len(e.ref.path)-1]] = true
				}
			}
		}
	}
	for t := range seen {
		for _, f := range t.Fields {
			f.measures = f.Kind.Number() && measures[f.ID]
		}
	}
	if len(l.m.Messages) == 0 {
		l.problems = append(l.problems, &Problem{File: l.file, Offset: -1, Reason: "the model has no messages"})
	}
}

func (l *loader) problem(f *Field, t *Type, hint, format string, args ...any) {
	l.problems = append(l.problems, &Problem{File: l.file, Line: f.line, Col: f.col, Field: t.Name + "." + f.ID, Offset: -1,
		Reason: fmt.Sprintf(format, args...), Hint: hint})
}

func (l *loader) checkType(t *Type, seen map[*Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	bits := 0
	l.checkCopies(t)
	for i, f := range t.Fields {
		l.checkReferences(t, i)
		l.checkSize(t, f)
		if f.Kind == Bits {
			bits += f.Width
		} else if bits%8 != 0 && !f.Optional() {
			l.problem(f, t, "add a bit field for the bits in between", "%d bits before it do not fill whole bytes", bits)
			bits = 0
		}
		for _, sub := range f.types() {
			l.checkType(sub, seen)
		}
	}
	if len(t.Fields) > 0 && l.endless(t, map[*Type]bool{}) {
		l.problem(t.Fields[0], t, "an if, a switch or a repetition has to end it", "the type contains itself without an end")
	}
}

// endless reports whether a type always has itself in it.
func (l *loader) endless(t *Type, above map[*Type]bool) bool {
	if above[t] {
		return true
	}
	above[t] = true
	defer delete(above, t)
	for _, f := range t.Fields {
		if f.Kind == Struct && f.Switch == nil && f.If == nil && f.Repeat == Once && f.Type != nil && l.endless(f.Type, above) {
			return true
		}
	}
	return false
}

// checkReferences looks for names in the expressions of field i that nothing before it has.
func (l *loader) checkReferences(t *Type, i int) {
	f := t.Fields[i]
	visit := func(what string, later bool) func(*reference) {
		return func(r *reference) {
			if r.up > 0 || r.root || r.item || len(r.path) == 0 {
				return
			}
			for j, g := range t.Fields {
				if g.ID == r.path[0] && (j < i || later) {
					return
				}
			}
			if t.instance(r.path[0]) != nil && len(r.path) == 1 {
				return // if a field that it uses is not there yet, parsing says so
			}
			hint := ""
			var names []string
			for _, g := range t.Fields {
				names = append(names, g.ID)
			}
			if near := nearest(r.path[0], names); near != "" {
				hint = "did you mean " + near + "?"
			}
			if t.Field(r.path[0]) != nil {
				hint = "fields are read in order: what it depends on has to stand before it"
			}
			l.problem(f, t, hint, "%s uses %s, but no field before it has that name", what, r)
		}
	}
	f.If.references(visit("if", false))
	f.Size.references(visit("size", false))
	if f.Repeat == RepeatCount {
		f.Times.references(visit("repeat-expr", false))
	}
	if f.Switch != nil && f.Switch.On != nil {
		f.Switch.On.references(visit("switch-on", false))
	}
	if f.Derive != nil {
		for _, g := range f.Derive.Targets {
			if g.ref != nil {
				visit("derive", true)(g.ref)
			}
		}
	}
}

// checkSize makes sure that a length or a count can be computed from what it is the length of.
func (l *loader) checkSize(t *Type, f *Field) {
	if !f.Mutable {
		return // it keeps its size
	}
	for _, e := range [...]struct {
		expr *Expr
		lin  *linear
		what string
	}{{f.Size, f.sizing, "size"}, {f.Times, f.counting, "number of items"}} {
		if e.lin != nil && len(e.lin.ref.path) == 1 && e.lin.ref.up == 0 && t.instance(e.lin.ref.path[0]) != nil {
			e.lin = nil
		}
		if e.expr == nil || e.lin != nil || constantOf(e.expr.node) != nil || e.what == "size" && f.Repeat != Once || e.what != "size" && f.Repeat != RepeatCount {
			continue
		}
		derived, found := false, false
		e.expr.references(func(r *reference) {
			found = true
			if r.up == 0 && !r.root && !r.item && len(r.path) == 1 {
				if g := t.Field(r.path[0]); g != nil && g.Derive != nil {
					derived = true
				}
			} else {
				derived = true // another type's: it is looked at where it is used
			}
		})
		if found && !derived {
			l.problem(f, t, "write it as field*number+number, or say with derive how the field in it follows from this one",
				"the %s %s cannot be inverted: nothing says what the fields in it have to be when the field changes", e.what, e.expr.Source)
		}
	}
	if f.Derive == nil || f.Derive.Kind > Offset && f.Derive.Kind != Same {
		return
	}
	for _, g := range f.Derive.Targets {
		if g.ref != nil && !g.ref.root && g.ref.up == 0 && len(g.ref.path) == 1 && g.ref.path[0] == f.ID {
			l.problem(f, t, "self: true adds the field's own size to a length", "a cycle: the field is derived from itself")
		}
	}
}

// checkCopies looks for fields that are copies of each other. Lengths and checksums of each other settle, or the check of
// the seeds says that they do not.
func (l *loader) checkCopies(t *Type) {
	for _, f := range t.Fields {
		first := f.copied(t)
		g := first
		for range t.Fields {
			if g == nil || g == f {
				break
			}
			g = g.copied(t)
		}
		if g == f {
			l.problem(f, t, "one of them has to have a value of its own", "a cycle: it is derived from %s, and %s from it", first.ID, first.ID)
			return
		}
	}
}

// copied returns the field of the same type that a field is a copy of, nil if there is none.
func (f *Field) copied(t *Type) *Field {
	if f.Derive == nil || f.Derive.Kind != Same || f.Derive.Targets[0].ref == nil || len(f.Derive.Targets[0].ref.path) != 1 {
		return nil
	}
	return t.Field(f.Derive.Targets[0].ref.path[0])
}
