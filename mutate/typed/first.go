package typed

import (
	"math/rand/v2"
	"time"
	"unsafe"
)

// first fills zeroed memory with the simplest value, or, if a function of the user decides, a nearly simplest one.
func (e *Editor) first(n node, p unsafe.Pointer) {
	switch n := n.(type) {
	case *integer:
		store(p, n.size, n.base)
	case *float:
		store(p, n.size, n.bits(n.base()))
	case *text:
		e.firstText(n, p)
	case *slice:
		if n.min > 0 {
			h := header{n.elem.about().alloc(n.min), n.min, n.min}
			for i := range n.min {
				e.first(n.elem, n.elemAt(h, i))
			}
			*(*header)(p) = h
		}
	case *structure:
		for i := range n.fields {
			e.first(n.fields[i].node, unsafe.Add(p, n.fields[i].offset))
		}
	case *pointer:
		if n.required {
			to := n.elem.about().alloc(1)
			e.first(n.elem, to)
			*(*unsafe.Pointer)(p) = to
		}
	case *choice:
		if n.required {
			i := n.pick(&Editor{r: fixed()}, 0)
			to := n.options[i].node.about().alloc(1)
			e.first(n.options[i].node, to)
			*(*words)(p) = n.wrap(i, to)
		}
	case *enum:
		n.move(p, n.values[0], 1)
	case *instant:
		*(*time.Time)(p) = time.Unix(0, 0).UTC()
	case *guarded:
		e.first(n.inner, p)
		if n.repair != nil {
			n.repair(p)
		}
		if n.accept != nil && !n.accept(p) {
			e.search(n, p)
		}
	case *mapping:
		if n.min > 0 {
			e.search(n, p)
		}
	case *custom:
		n.make(fixed(), p)
	}
}

const firstTries = 10

// search generates values until filters accept one. The result is deterministic.
func (e *Editor) search(n node, p unsafe.Pointer) {
	f := &Editor{r: fixed()}
	for range firstTries {
		f.rejected = false
		n.about().at(p).SetZero()
		if n.generate(f, p, n.about().min); !f.rejected {
			return
		}
	}
	e.rejected = true
}

func (e *Editor) firstText(n *text, p unsafe.Pointer) {
	var b []byte
	if n.grammar != nil {
		b = []byte(n.grammar.shortest())
	}
	mark := len(e.log)
	if n.min > 0 || len(b) > 0 {
		n.set(e, p, b)
	}
	e.log = e.log[:mark]
}

// fixed returns a generator with a constant seed.
func fixed() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
