package typed

import (
	"reflect"
	"unsafe"
)

// kind is the kind of memory that an undo entry restores.
type kind uint8

const (
	kindInvalid kind = iota
	kind8
	kind16
	kind32
	kind64
	kindString
	kindPointer
	kindSlice
	kindInterface
	kindBlock // a whole value, shallow
)

// header is the memory layout of a slice.
type header struct {
	p        unsafe.Pointer
	len, cap int
}

// words is the memory layout of an interface.
type words struct{ typ, data unsafe.Pointer }

// write is an overwritten piece of memory.
type write struct {
	p     unsafe.Pointer
	kind  kind
	bits  uint64
	text  string
	slice header
	typ   reflect.Type
}

func load(p unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(p unsafe.Pointer, size uintptr, x uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

func kindOf(size uintptr) kind {
	switch size {
	case 1:
		return kind8
	case 2:
		return kind16
	case 4:
		return kind32
	}
	return kind64
}

// setBits overwrites a number.
func (e *Editor) setBits(p unsafe.Pointer, size uintptr, x uint64) {
	e.log = append(e.log, write{p: p, kind: kindOf(size), bits: load(p, size)})
	store(p, size, x)
}

func (e *Editor) setString(p unsafe.Pointer, s string) {
	e.log = append(e.log, write{p: p, kind: kindString, text: *(*string)(p)})
	*(*string)(p) = s
}

// setPointer overwrites a pointer or a map.
func (e *Editor) setPointer(p, to unsafe.Pointer) {
	e.log = append(e.log, write{p: p, kind: kindPointer, slice: header{p: *(*unsafe.Pointer)(p)}})
	*(*unsafe.Pointer)(p) = to
	e.moved++
}

func (e *Editor) setSlice(p unsafe.Pointer, h header) {
	e.log = append(e.log, write{p: p, kind: kindSlice, slice: *(*header)(p)})
	*(*header)(p) = h
	e.moved++
}

func (e *Editor) setInterface(p unsafe.Pointer, w words) {
	old := *(*words)(p)
	e.log = append(e.log, write{p: p, kind: kindInterface, slice: header{p: old.data}, typ: nil})
	e.log = append(e.log, write{p: nil, kind: kindInterface, slice: header{p: old.typ}})
	*(*words)(p) = w
	e.moved++
}

// saveBlock saves a whole value, but not the memory to which it refers, before it is overwritten.
func (e *Editor) saveBlock(i *info, p unsafe.Pointer) {
	old := i.alloc(1)
	i.move(old, p, 1)
	e.log = append(e.log, write{p: p, kind: kindBlock, slice: header{p: old}, typ: i.typ})
	e.moved++
}

// rewind restores memory until only the first n writes of the log are left.
func (e *Editor) rewind(n int) {
	for len(e.log) > n {
		last := len(e.log) - 1
		w := &e.log[last]
		switch w.kind {
		case kind8:
			*(*uint8)(w.p) = uint8(w.bits)
		case kind16:
			*(*uint16)(w.p) = uint16(w.bits)
		case kind32:
			*(*uint32)(w.p) = uint32(w.bits)
		case kind64:
			*(*uint64)(w.p) = w.bits
		case kindString:
			*(*string)(w.p) = w.text
		case kindPointer:
			*(*unsafe.Pointer)(w.p) = w.slice.p
		case kindSlice:
			*(*header)(w.p) = w.slice
		case kindInterface: // the entry of the type follows that of the data
			typ := w.slice.p
			last--
			*(*words)(e.log[last].p) = words{typ, e.log[last].slice.p}
		case kindBlock:
			reflect.NewAt(w.typ, w.p).Elem().Set(reflect.NewAt(w.typ, w.slice.p).Elem())
		}
		clear(e.log[last:]) // for the garbage collector
		e.log = e.log[:last]
	}
}
