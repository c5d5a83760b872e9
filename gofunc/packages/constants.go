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

// constants collects the texts and numbers of a file.
func constants(f *ast.File, found map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			literal(n, found)
		}
		return true
	})
}

func literal(lit *ast.BasicLit, found map[string]bool) {
	switch lit.Kind {
	case token.STRING:
		if s, err := strconv.Unquote(lit.Value); err == nil && len(s) > 1 && len(s) <= longestText {
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
