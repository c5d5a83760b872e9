package packages

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// addTested adds to packages that have nothing but tests the constants of the packages that these import: what they test.
func addTested(ctx context.Context, tc *overlay.Toolchain, dir string, flags overlay.Flags, ps []Package) error {
	var paths []string
	for i := range ps {
		paths = append(paths, ps[i].tested...)
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	ls, err := list(ctx, tc, dir, flags, slices.Compact(paths))
	if err != nil {
		return err
	}
	for i := range ps {
		p := &ps[i]
		found := map[string]bool{}
		for k := range ls {
			if l := &ls[k]; !l.Standard && slices.Contains(p.tested, l.ImportPath) {
				_ = l.constants(found) // of what cannot be parsed, the compiler has more to say
			}
		}
		p.Constants = slices.Sorted(maps.Keys(found))
	}
	return nil
}

// constants collects what the code of a package may compare with.
func (l *listed) constants(found map[string]bool) error {
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		constants(f, found)
	}
	return nil
}

// Limits of what is taken for a token.
const (
	longestText    = 64
	smallestNumber = 256
)

// constants collects the texts and numbers of a file that its code may compare something with: no messages, and no numbers of
// tables, of which there may be thousands.
func constants(f *ast.File, found map[string]bool) {
	skipped := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.CallExpr:
			if speaks(n.Fun) {
				for _, arg := range n.Args {
					skipped[arg] = true
				}
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Value
				}
				if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
					skipped[e] = true
				}
			}
		case *ast.BasicLit:
			if !skipped[n] {
				literal(n, found)
			}
		}
		return true
	})
}

// speaks reports whether what a function takes is for people to read.
func speaks(function ast.Expr) bool {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		if pkg, ok := f.X.(*ast.Ident); ok && (pkg.Name == "errors" || pkg.Name == "log") {
			return true
		}
		return strings.HasSuffix(f.Sel.Name, "rrorf") || strings.HasSuffix(f.Sel.Name, "rintf") || f.Sel.Name == "Fatalf" || f.Sel.Name == "Panicf"
	}
	return false
}

// words is how many words a text has at most that is no sentence.
const words = 2

func literal(lit *ast.BasicLit, found map[string]bool) {
	switch lit.Kind {
	case token.STRING:
		if s, err := strconv.Unquote(lit.Value); err == nil && len(s) > 1 && len(s) <= longestText && len(strings.Fields(s)) <= words {
			found[s] = true
		}
	case token.INT:
		v, err := strconv.ParseUint(strings.ReplaceAll(lit.Value, "_", ""), 0, 64)
		if err != nil || v < smallestNumber {
			return
		}
		size := 8
		for size > 2 && v < 1<<(4*size) {
			size /= 2
		}
		big, little := make([]byte, size), make([]byte, size)
		for i := range size {
			little[i], big[size-1-i] = byte(v>>(8*i)), byte(v>>(8*i))
		}
		found[string(big)], found[string(little)] = true, true
	}
}
