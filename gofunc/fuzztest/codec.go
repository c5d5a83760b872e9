package fuzztest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// Header is the first line of Go's corpus files.
const Header = "go test fuzz v1"

// Codec reads and writes Go's corpus files: one line for each argument, as an expression of Go. It implements
// [teasel.Codec]. Both methods may be called at once.
type Codec struct{ Kinds []agent.Kind }

var _ teasel.Codec[[]byte] = Codec{}

// Encode returns the corpus file of a packed input, exactly as go test -fuzz would write it.
func (c Codec) Encode(in []byte) ([]byte, error) {
	b := append(make([]byte, 0, len(in)+64), Header+"\n"...)
	for i, part := range agent.Split(c.Kinds, in, nil) {
		b = append(appendValue(b, c.Kinds[i], part), '\n')
	}
	return b, nil
}

// Decode packs the arguments of a corpus file. An error names the line.
func (c Codec) Decode(data []byte) ([]byte, error) {
	var parts [][]byte
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if n == 1 {
			if strings.TrimRight(string(line), "\r\n") != Header {
				return nil, fmt.Errorf("line 1: expected %q", Header)
			}
			continue
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(parts) == len(c.Kinds) {
			return nil, fmt.Errorf("line %d: expected %d arguments, found more", n, len(c.Kinds))
		}
		part, err := parseValue(c.Kinds[len(parts)], line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		parts = append(parts, part)
	}
	if n == 0 || len(parts) < len(c.Kinds) {
		return nil, fmt.Errorf("line %d: expected %d arguments, found %d", n, len(c.Kinds), len(parts))
	}
	return pack(nil, c.Kinds, parts), nil
}

// CheckFile reports what is wrong with a corpus file, whatever types its arguments have. An error names the line.
func CheckFile(data []byte) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); n == 1 && string(line) != Header {
			return fmt.Errorf("line 1: expected %q", Header)
		} else if n == 1 || len(line) == 0 {
			continue
		}
		expr, err := parser.ParseExpr(string(line))
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if call, ok := expr.(*ast.CallExpr); !ok || len(call.Args) != 1 {
			return fmt.Errorf("line %d: %q: expected a value such as []byte(\"abc\") or int(5)", n, line)
		}
	}
	if n < 2 {
		return fmt.Errorf("line %d: expected a value such as []byte(\"abc\") or int(5) behind it", n)
	}
	return nil
}

// pack appends the packed form of arguments to dst. It is the reverse of agent.Split.
func pack(dst []byte, kinds []agent.Kind, parts [][]byte) []byte {
	_, variable := agent.Head(kinds)
	for i, k := range kinds {
		if n := k.Size(); n > 0 {
			dst = append(dst, parts[i]...)
			dst = append(dst, make([]byte, n-len(parts[i]))...)
		}
	}
	left := variable
	for i, k := range kinds {
		if k.Size() == 0 {
			if left--; left > 0 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(parts[i])))
			}
		}
	}
	for i, k := range kinds {
		if k.Size() == 0 {
			dst = append(dst, parts[i]...)
		}
	}
	return dst
}

// appendValue writes one argument as Go's marshalCorpusFile does.
func appendValue(b []byte, k agent.Kind, part []byte) []byte {
	switch v := k.Value(part).(type) {
	case []byte:
		b = append(b, "[]byte("...)
		return append(strconv.AppendQuote(b, string(v)), ')')
	case string:
		b = append(b, "string("...)
		return append(strconv.AppendQuote(b, v), ')')
	case uint8:
		return fmt.Appendf(b, "byte(%q)", v)
	case int32:
		if utf8.ValidRune(v) {
			return fmt.Appendf(b, "rune(%q)", v)
		}
		return fmt.Appendf(b, "int32(%d)", v)
	case float32:
		if bits := math.Float32bits(v); v != v && bits != math.Float32bits(float32(math.NaN())) {
			return fmt.Appendf(b, "math.Float32frombits(0x%x)", bits)
		}
		return fmt.Appendf(b, "float32(%v)", v)
	case float64:
		if bits := math.Float64bits(v); v != v && bits != math.Float64bits(math.NaN()) {
			return fmt.Appendf(b, "math.Float64frombits(0x%x)", bits)
		}
		return fmt.Appendf(b, "float64(%v)", v)
	default:
		return fmt.Appendf(b, "%T(%v)", v, v)
	}
}

// parseValue reads a line such as []byte("abc") or int(-5) and returns the bytes of the argument.
func parseValue(k agent.Kind, line []byte) ([]byte, error) {
	expr, err := parser.ParseExpr(string(line))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	call, ok := expr.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil, fmt.Errorf("%q: expected a value such as []byte(\"abc\") or int(5)", line)
	}
	name, literal := typeName(call.Fun), literalText(call.Args[0])
	if !slices.Contains(namesOf(k), name) {
		return nil, fmt.Errorf("%q: expected a value of type %s", line, goType(k))
	}
	part, err := convert(k, name, literal, call.Args[0])
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	return part, nil
}

// goType is the type as one writes it in Go.
func goType(k agent.Kind) string { return namesOf(k)[0] }

// namesOf returns what a corpus file may call a type.
func namesOf(k agent.Kind) []string {
	switch k {
	case agent.KindBytes:
		return []string{"[]byte", "[]uint8"}
	case agent.KindUint8:
		return []string{"byte", "uint8"}
	case agent.KindInt32:
		return []string{"rune", "int32"}
	case agent.KindFloat32:
		return []string{"float32", "math.Float32frombits"}
	case agent.KindFloat64:
		return []string{"float64", "math.Float64frombits"}
	}
	return []string{k.String()}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + typeName(e.Elt)
		}
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	}
	return ""
}

// literalText returns a literal, perhaps with a sign, as it stands there.
func literalText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value
	case *ast.Ident:
		return e.Name
	case *ast.UnaryExpr:
		if e.Op == token.SUB || e.Op == token.ADD {
			return e.Op.String() + literalText(e.X)
		}
	}
	return ""
}

// convert returns the bytes of a literal of a type.
func convert(k agent.Kind, name, literal string, e ast.Expr) ([]byte, error) {
	number := func(n uint64, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		return binary.LittleEndian.AppendUint64(nil, n)[:k.Size()], nil
	}
	bits := 8 * k.Size()
	switch k {
	case agent.KindBytes, agent.KindString:
		s, err := strconv.Unquote(literal)
		if lit, ok := e.(*ast.BasicLit); err != nil || !ok || lit.Kind != token.STRING {
			return nil, fmt.Errorf("expected a string literal")
		}
		return []byte(s), nil
	case agent.KindBool:
		if literal != "true" && literal != "false" {
			return nil, fmt.Errorf("expected true or false")
		}
		return []byte{byte(len(literal)&1 ^ 1)}, nil
	case agent.KindFloat32, agent.KindFloat64:
		if strings.HasPrefix(name, "math.") {
			return number(strconv.ParseUint(literal, 0, bits))
		}
		v, err := strconv.ParseFloat(literal, bits)
		if k == agent.KindFloat32 {
			return number(uint64(math.Float32bits(float32(v))), err)
		}
		return number(math.Float64bits(v), err)
	}
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.CHAR {
		r, _, _, err := strconv.UnquoteChar(literal[1:len(literal)-1], '\'')
		if k == agent.KindUint8 && r > 255 {
			return nil, fmt.Errorf("expected one byte")
		}
		return number(uint64(r), err)
	}
	if k >= agent.KindUint8 && k <= agent.KindUint {
		return number(strconv.ParseUint(literal, 0, bits))
	}
	n, err := strconv.ParseInt(literal, 0, bits)
	return number(uint64(n), err)
}
