package model

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"math"
	"strconv"
	"strings"
)

// An Expr is an expression over the fields of a message. It is written as in Kaitai Struct: integers, strings, names of
// fields that stand before, _parent, _root and _ (the last item of a repetition), the operators + - * / % << >> & | ^,
// comparisons, and, or, not, and enumname::valuename.
type Expr struct {
	Source string
	node   exprNode
}

// maxInstances is how many instances may use one another in turn.
const maxInstances = 16

// errCircular is the result of an instance that is computed from itself.
var errCircular = fmt.Errorf("its instances use one another more than %d deep, or in a circle", maxInstances)

// errUnknown is the result of an expression that looks at a field which is not there.
var errUnknown = errors.New("it uses a field that is not there")

// scope is where names of an expression are looked up.
type scope struct {
	tree  *Tree
	at    int // the structure whose fields are known by their names
	item  int // what _ is; -1: nothing
	input int // bits that are left of the stream; for _io.eof
	depth int // instances that are being evaluated
}

type exprNode interface {
	eval(s *scope) (value, error)
}

// value is an integer or bytes.
type value struct {
	number int64
	bytes  []byte
	text   bool
}

func boolean(b bool) value {
	if b {
		return value{number: 1}
	}
	return value{}
}

func (v value) holds() bool { return v.text && len(v.bytes) > 0 || !v.text && v.number != 0 }

func (v value) equal(w value) bool {
	if v.text != w.text {
		return false
	}
	return v.number == w.number && bytes.Equal(v.bytes, w.bytes)
}

func (v value) String() string {
	if v.text {
		return string(v.bytes)
	}
	return strconv.FormatInt(v.number, 10)
}

type literal struct{ v value }

func (l literal) eval(*scope) (value, error) { return l.v, nil }

type eof struct{}

func (eof) eval(s *scope) (value, error) { return boolean(s.input == 0), nil }

// reference is a path from the present structure to a field.
type reference struct {
	up   int // structures upwards
	root bool
	item bool
	path []string // a last name of length or size that no field has means the field before it
}

func (r *reference) String() string {
	var parts []string
	switch {
	case r.root:
		parts = append(parts, "_root")
	case r.item:
		parts = append(parts, "_")
	}
	for range r.up {
		parts = append(parts, "_parent")
	}
	return strings.Join(append(parts, r.path...), ".")
}

// find returns the node that is referred to.
func (r *reference) find(s *scope) (int, bool) { return r.walk(s, r.path) }

func (r *reference) walk(s *scope, path []string) (int, bool) {
	at := s.at
	switch {
	case r.root:
		at = 0
	case r.item:
		at = s.item
	}
	for range r.up {
		if at <= 0 {
			return 0, false
		}
		at = s.tree.structure(at)
	}
	if at < 0 || at >= len(s.tree.Nodes) {
		return 0, false
	}
	for _, id := range path {
		if at = s.tree.Child(at, id); at < 0 {
			return 0, false
		}
	}
	return at, true
}

func (r *reference) eval(s *scope) (value, error) {
	if at, ok := r.find(s); ok {
		return s.tree.value(at), nil
	}
	if v, ok, err := r.instance(s); ok {
		return v, err
	}
	if !r.measures() {
		return value{}, errUnknown
	}
	at, ok := r.walk(s, r.path[:len(r.path)-1])
	if !ok {
		return value{}, errUnknown
	}
	n := &s.tree.Nodes[at]
	if n.Flags&Array != 0 {
		return value{number: int64(s.tree.Items(at))}, nil
	}
	return value{number: int64(max(n.End-n.Start, 0)) / 8}, nil // one that is still being read has no end
}

// instance evaluates the reference if it names an instance of a type.
func (r *reference) instance(s *scope) (v value, ok bool, err error) {
	if len(r.path) == 0 {
		return v, false, nil
	}
	at, found := r.walk(s, r.path[:len(r.path)-1])
	if !found || s.tree.Nodes[at].Type == nil {
		return v, false, nil
	}
	e := s.tree.Nodes[at].Type.instance(r.path[len(r.path)-1])
	if e == nil {
		return v, false, nil
	}
	if s.depth >= maxInstances {
		return v, true, errCircular
	}
	v, err = e.node.eval(&scope{tree: s.tree, at: at, item: -1, input: s.input, depth: s.depth + 1})
	return v, true, err
}

// measures reports whether the reference may mean the length of what stands before its last name.
func (r *reference) measures() bool {
	if len(r.path) == 0 {
		return false
	}
	last := r.path[len(r.path)-1]
	return (last == "length" || last == "size") && (len(r.path) > 1 || r.item)
}

type unary struct {
	op token.Token
	x  exprNode
}

func (u unary) eval(s *scope) (value, error) {
	x, err := u.x.eval(s)
	if err != nil {
		return x, err
	}
	switch u.op {
	case token.SUB:
		return value{number: -x.number}, nil
	case token.XOR:
		return value{number: ^x.number}, nil
	}
	return boolean(!x.holds()), nil
}

type binary struct {
	op   token.Token
	x, y exprNode
}

func (b binary) eval(s *scope) (value, error) {
	x, err := b.x.eval(s)
	if err != nil {
		return x, err
	}
	switch b.op { // whose second operand may not matter
	case token.LAND:
		if !x.holds() {
			return boolean(false), nil
		}
	case token.LOR:
		if x.holds() {
			return boolean(true), nil
		}
	}
	y, err := b.y.eval(s)
	if err != nil {
		return y, err
	}
	switch b.op {
	case token.LAND, token.LOR:
		return boolean(y.holds()), nil
	case token.EQL:
		return boolean(x.equal(y)), nil
	case token.NEQ:
		return boolean(!x.equal(y)), nil
	}
	if x.text || y.text {
		return compareText(b.op, x, y)
	}
	return arithmetic(b.op, x.number, y.number)
}

func compareText(op token.Token, x, y value) (value, error) {
	if !x.text || !y.text {
		return value{}, errors.New("it mixes a number and a text")
	}
	c := bytes.Compare(x.bytes, y.bytes)
	switch op {
	case token.LSS:
		return boolean(c < 0), nil
	case token.LEQ:
		return boolean(c <= 0), nil
	case token.GTR:
		return boolean(c > 0), nil
	case token.GEQ:
		return boolean(c >= 0), nil
	}
	return value{}, fmt.Errorf("texts have no operator %s", op)
}

func arithmetic(op token.Token, x, y int64) (value, error) {
	switch op {
	case token.LSS:
		return boolean(x < y), nil
	case token.LEQ:
		return boolean(x <= y), nil
	case token.GTR:
		return boolean(x > y), nil
	case token.GEQ:
		return boolean(x >= y), nil
	case token.ADD:
		return value{number: x + y}, nil
	case token.SUB:
		return value{number: x - y}, nil
	case token.MUL:
		return value{number: x * y}, nil
	case token.AND:
		return value{number: x & y}, nil
	case token.OR:
		return value{number: x | y}, nil
	case token.XOR:
		return value{number: x ^ y}, nil
	case token.SHL:
		return value{number: x << (uint64(y) & 63)}, nil
	case token.SHR:
		return value{number: x >> (uint64(y) & 63)}, nil
	}
	if y == 0 {
		return value{}, errors.New("it divides by zero")
	}
	if op == token.QUO {
		return value{number: x / y}, nil
	}
	return value{number: ((x % y) + y) % y}, nil // Kaitai's remainder is never negative
}

// references visits the references of an expression.
func (e *Expr) references(visit func(*reference)) {
	if e != nil {
		visitReferences(e.node, visit)
	}
}

func visitReferences(n exprNode, visit func(*reference)) {
	switch n := n.(type) {
	case *reference:
		visit(n)
	case unary:
		visitReferences(n.x, visit)
	case binary:
		visitReferences(n.x, visit)
		visitReferences(n.y, visit)
	}
}

// linear is an expression of the form factor*reference + addend, which can be inverted.
type linear struct {
	ref    *reference
	factor int64
	addend int64
}

// inverse returns what the reference has to be for the expression to have the value n.
func (l *linear) inverse(n int64) int64 {
	return (n - l.addend + l.factor - 1) / l.factor
}

// asLinear returns the linear form of an expression; nil if it has none.
func asLinear(n exprNode) *linear {
	switch n := n.(type) {
	case *reference:
		return &linear{ref: n, factor: 1}
	case binary:
		l, c := asLinear(n.x), constantOf(n.y)
		if l == nil && (n.op == token.ADD || n.op == token.MUL) {
			l, c = asLinear(n.y), constantOf(n.x)
		}
		if l == nil || c == nil {
			return nil
		}
		switch {
		case n.op == token.ADD:
			l.addend += *c
		case n.op == token.SUB:
			l.addend -= *c
		case n.op == token.MUL && *c > 0:
			if l.factor > math.MaxInt32 / *c {
				return nil
			}
			l.factor, l.addend = l.factor**c, l.addend**c
		case n.op == token.SHL && *c >= 0 && *c < 32:
			if l.factor > math.MaxInt32>>*c {
				return nil
			}
			l.factor, l.addend = l.factor<<*c, l.addend<<*c
		default:
			return nil
		}
		return l
	}
	return nil
}

// constantOf returns the value of an expression without references; nil if it has some.
func constantOf(n exprNode) *int64 {
	constant := true
	visitReferences(n, func(*reference) { constant = false })
	if _, ok := n.(eof); ok || !constant {
		return nil
	}
	v, err := n.eval(&scope{item: -1})
	if err != nil || v.text {
		return nil
	}
	return &v.number
}
