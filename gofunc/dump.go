package gofunc

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// dump returns a text that is equal for two values if all that can be reached from them is, pointers followed, as
// reflect.DeepEqual compares, except that a NaN equals itself. Unlike a copy it cannot share memory with the value, and has
// fields that are not exported.
func dump(v any) string {
	d := dumper{within: map[visit]int{}}
	d.value(reflect.ValueOf(v))
	return d.String()
}

// visit is a pointer that is being followed.
type visit struct {
	p   uintptr
	len int // of a slice: a part of it may begin where the whole does
	typ reflect.Type
}

type dumper struct {
	strings.Builder
	within map[visit]int // how deep, for values that contain themselves
}

func (d *dumper) value(v reflect.Value) {
	if !v.IsValid() {
		d.WriteString("nil")
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			d.WriteString("nil")
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		d.WriteByte('&')
		d.follow(v, func() { d.value(v.Elem()) })
	case reflect.Interface:
		fmt.Fprintf(d, "%v(", v.Elem().Type())
		d.value(v.Elem())
		d.WriteByte(')')
	case reflect.Struct:
		d.list(v.NumField(), v.Field)
	case reflect.Array:
		d.list(v.Len(), v.Index)
	case reflect.Slice:
		d.follow(v, func() { d.list(v.Len(), v.Index) })
	case reflect.Map:
		d.follow(v, func() { d.entries(v) })
	case reflect.String:
		d.WriteString(strconv.Quote(v.String()))
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprintf(d, "%#x", v.Pointer())
	case reflect.Bool:
		fmt.Fprint(d, v.Bool())
	case reflect.Float32, reflect.Float64:
		fmt.Fprint(d, v.Float())
	case reflect.Complex64, reflect.Complex128:
		fmt.Fprint(d, v.Complex())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprint(d, v.Int())
	default:
		fmt.Fprint(d, v.Uint())
	}
}

// follow writes what a pointer, a slice or a map refers to, and how far up it is if it is being written already.
func (d *dumper) follow(v reflect.Value, write func()) {
	at := visit{p: v.Pointer(), typ: v.Type()}
	if v.Kind() == reflect.Slice {
		at.len = v.Len()
	}
	if depth, ok := d.within[at]; ok {
		fmt.Fprintf(d, "up %d", len(d.within)-depth)
		return
	}
	d.within[at] = len(d.within)
	write()
	delete(d.within, at)
}

func (d *dumper) list(n int, at func(int) reflect.Value) {
	d.WriteByte('{')
	for i := range n {
		d.value(at(i))
		d.WriteByte(' ')
	}
	d.WriteByte('}')
}

func (d *dumper) entries(v reflect.Value) {
	var lines []string
	for it := v.MapRange(); it.Next(); {
		e := dumper{within: d.within}
		e.value(it.Key())
		e.WriteByte(':')
		e.value(it.Value())
		lines = append(lines, e.String())
	}
	slices.Sort(lines)
	fmt.Fprintf(d, "map{%s}", strings.Join(lines, " "))
}
