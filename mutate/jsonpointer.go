package mutate

import (
	"strconv"
	"strings"
)

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// At returns the node to which a JSON pointer (RFC 6901) refers, nil if there is none. The empty pointer refers to v itself. Of several
// members with the same name the first counts.
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

// Walk calls visit for v and all nodes below it, parents first and in document order, with the pointer from v to each node. If visit
// returns false, the nodes below are skipped. visit may change only the node that it is given.
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

// path is a JSON pointer that grows on the way down. The pointer of a first child shares the memory of its parent's: otherwise the
// pointers of ten thousand nested arrays would take a quarter of a gigabyte.
type path struct {
	pointer string
	memory  *strings.Builder
}

// step returns the path to a child.
func (p *path) step(name string) path {
	if p.memory == nil || p.memory.Len() != len(p.pointer) {
		p.memory = new(strings.Builder)
		p.memory.WriteString(p.pointer)
	}
	p.memory.WriteByte('/')
	pointerEscaper.WriteString(p.memory, name) // writing to a strings.Builder does not fail
	return path{p.memory.String(), p.memory}
}
