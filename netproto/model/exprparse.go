package model

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// enumLookup returns the value of a name of an enum.
type enumLookup func(enum, name string) (int64, bool)

var exprWords = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|\b[A-Za-z_][A-Za-z_0-9]*\b|::`)

// keywordSuffix marks names that are keywords of Go, such as type.
const keywordSuffix = "__"

// enumMark stands between the name of an enum and that of its value.
const enumMark = "ː"

// parseExpr reads an expression. Go's own parser does it, once Kaitai's words have become Go's.
func parseExpr(source string, enums enumLookup) (*Expr, error) {
	text := exprWords.ReplaceAllStringFunc(source, func(w string) string {
		switch {
		case w[0] == '\'':
			return strconv.Quote(w[1 : len(w)-1])
		case w == "and":
			return "&&"
		case w == "or":
			return "||"
		case w == "not":
			return "!"
		case w == "true":
			return "1"
		case w == "false":
			return "0"
		case w == "::":
			return ".enum" + enumMark + "."
		case token.IsKeyword(w):
			return w + keywordSuffix
		}
		return w
	})
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not an expression", source)
	}
	node, err := compile(tree, enums)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", source, err)
	}
	return &Expr{Source: source, node: node}, nil
}

var exprOperators = map[token.Token]bool{token.ADD: true, token.SUB: true, token.MUL: true, token.QUO: true, token.REM: true, token.SHL: true,
	token.SHR: true, token.AND: true, token.OR: true, token.XOR: true, token.LAND: true, token.LOR: true, token.EQL: true, token.NEQ: true,
	token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true}

func compile(e ast.Expr, enums enumLookup) (exprNode, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return compile(e.X, enums)
	case *ast.BasicLit:
		return compileLiteral(e)
	case *ast.UnaryExpr:
		if e.Op != token.SUB && e.Op != token.NOT && e.Op != token.XOR {
			return nil, fmt.Errorf("there is no operator %s", e.Op)
		}
		x, err := compile(e.X, enums)
		return unary{e.Op, x}, err
	case *ast.BinaryExpr:
		if !exprOperators[e.Op] {
			return nil, fmt.Errorf("there is no operator %s", e.Op)
		}
		x, err := compile(e.X, enums)
		if err != nil {
			return nil, err
		}
		y, err := compile(e.Y, enums)
		return binary{e.Op, x, y}, err
	case *ast.Ident, *ast.SelectorExpr:
		return compileName(e, enums)
	}
	return nil, errors.New("calls, indices and conditional expressions are not supported")
}

func compileLiteral(e *ast.BasicLit) (exprNode, error) {
	switch e.Kind {
	case token.INT:
		n, err := strconv.ParseUint(e.Value, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is not a number of 64 bits", e.Value)
		}
		return literal{value{number: int64(n)}}, nil
	case token.STRING:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			return nil, fmt.Errorf("%s is not a text", e.Value)
		}
		return literal{value{bytes: []byte(s), text: true}}, nil
	}
	return nil, fmt.Errorf("%s is neither an integer nor a text", e.Value)
}

func compileName(e ast.Expr, enums enumLookup) (exprNode, error) {
	names, err := selectors(e)
	if err != nil {
		return nil, err
	}
	if len(names) >= 3 && names[len(names)-2] == "enum"+enumMark {
		enum, name := names[len(names)-3], names[len(names)-1]
		n, ok := enums(enum, name)
		if !ok {
			return nil, fmt.Errorf("enum %s has no value %s", enum, name)
		}
		return literal{value{number: n}}, nil
	}
	if len(names) == 2 && names[0] == "_io" && names[1] == "eof" {
		return eof{}, nil
	}
	r := &reference{}
	for i, name := range names {
		switch {
		case name == "_root" && i == 0:
			r.root = true
		case name == "_" && i == 0:
			r.item = true
		case name == "_parent" && len(r.path) == 0:
			r.up++
		case strings.HasPrefix(name, "_"):
			return nil, fmt.Errorf("%s is not supported", name)
		default:
			r.path = append(r.path, name)
		}
	}
	return r, nil
}

func selectors(e ast.Expr) ([]string, error) {
	switch e := e.(type) {
	case *ast.Ident:
		return []string{strings.TrimSuffix(e.Name, keywordSuffix)}, nil
	case *ast.SelectorExpr:
		names, err := selectors(e.X)
		return append(names, strings.TrimSuffix(e.Sel.Name, keywordSuffix)), err
	}
	return nil, errors.New("only a name can stand before a dot")
}
