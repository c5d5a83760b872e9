package mutate

import (
	"strconv"
	"strings"
)

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// At returns the node that an RFC 6901 pointer names, nil if nothing is there. The empty pointer is v itself. Of
// members of the same name it is the first.
func (v *JSON) At(pointer string) *JSON {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if v == nil {
			return nil
		}
		switch v.Kind {
		case Object:
			v = v.Get(pointerUnescaper.Replace(step))
		case Array:
			i, err := strconv.ParseUint(step, 10, 31)
			if err != nil || i >= uint64(len(v.Items)) || len(step) > 1 && step[0] == '0' {
				return nil
			}
			v = v.Items[i]
		default:
			return nil
		}
	}
	return v
}

// Walk visits v and all below it, parents first and in document order, with the pointer from v to each. False stops
// the descent below a node. visit may change the node it is given, but no other.
func (v *JSON) Walk(visit func(pointer string, v *JSON) bool) {
	walk(v, path{}, visit)
}

func walk(v *JSON, at path, visit func(string, *JSON) bool) {
	if v == nil || !visit(at.pointer, v) {
		return
	}
	switch v.Kind {
	case Array:
		for i, item := range v.Items {
			walk(item, at.step(strconv.Itoa(i)), visit)
		}
	case Object:
		for _, m := range v.Members {
			walk(m.Value, at.step(m.Name), visit)
		}
	}
}

// path is a pointer that grows on the way down. A first child's pointer continues the memory of its parent's, which
// keeps those of ten thousand nested arrays from taking a quarter of a gigabyte.
type path struct {
	pointer string
	memory  *strings.Builder
}

// step returns the path to the child of that name.
func (p *path) step(name string) path {
	if p.memory == nil || p.memory.Len() != len(p.pointer) {
		p.memory = new(strings.Builder)
		p.memory.WriteString(p.pointer)
	}
	p.memory.WriteByte('/')
	pointerEscaper.WriteString(p.memory, name) // a strings.Builder does not fail
	return path{p.memory.String(), p.memory}
}
