// Package packages reads the source of Go packages: which fuzz tests they have, and which constants.
package packages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// Package is one package with fuzz tests.
type Package struct {
	Path      string   // its import path
	Dir       string   // absolute
	Module    string   // the path of its module; "": none
	Root      string   // the directory of its module; "": none
	Tests     []Test   // by name
	Constants []string // what its code may compare with: texts, and numbers in both byte orders

	tested []string // the packages that its tests import, if it has nothing but tests
}

// Test is a fuzz test.
type Test struct {
	Name string // such as FuzzParse
	File string
	Line int
}

// Problem is a package that cannot be used, and why.
type Problem struct {
	Path string
	Err  error
}

// listed is what go list says of a package.
type listed struct {
	ImportPath   string
	Dir          string
	Standard     bool
	Module       *struct{ Path, Dir string }
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	TestImports  []string
	XTestImports []string
	Error        *struct{ Err string }
}

// Find returns the packages that the patterns name, as the go command takes them in dir, which have fuzz tests that run
// matches; a nil run matches all. A package that cannot be read is a problem; the others are still returned. The error
// is that of the go command, such as one about a missing go.mod.
func Find(ctx context.Context, tc *overlay.Toolchain, dir string, flags overlay.Flags, run *regexp.Regexp, patterns []string) (ps []Package, bad []Problem, err error) {
	ls, err := list(ctx, tc, dir, flags, patterns)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range ls {
		p, err := l.read(run)
		switch {
		case err != nil:
			bad = append(bad, Problem{l.ImportPath, err})
		case l.Error != nil && len(l.TestGoFiles)+len(l.XTestGoFiles) == 0:
			bad = append(bad, Problem{l.ImportPath, errors.New(l.Error.Err)})
		case len(p.Tests) > 0:
			ps = append(ps, p)
		}
	}
	slices.SortFunc(ps, func(a, b Package) int { return cmp.Compare(a.Path, b.Path) })
	return ps, bad, addTested(ctx, tc, dir, flags, ps)
}

// list returns what the go command says of packages.
func list(ctx context.Context, tc *overlay.Toolchain, dir string, flags overlay.Flags, patterns []string) (ls []listed, err error) {
	args := []string{"list", "-e", "-json=ImportPath,Dir,Standard,Module,GoFiles,TestGoFiles,XTestGoFiles,TestImports,XTestImports,Error"}
	if flags.Tags != "" {
		args = append(args, "-tags="+flags.Tags)
	}
	out, err := tc.Run(ctx, dir, append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return ls, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		ls = append(ls, l)
	}
}

// read parses the files of a package.
func (l *listed) read(run *regexp.Regexp) (Package, error) {
	p := Package{Path: l.ImportPath, Dir: l.Dir}
	if l.Module != nil {
		p.Module, p.Root = l.Module.Path, l.Module.Dir
	}
	fset := token.NewFileSet()
	for _, name := range slices.Concat(l.TestGoFiles, l.XTestGoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return p, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isFuzzTest(fn) && (run == nil || run.MatchString(fn.Name.Name)) {
				p.Tests = append(p.Tests, Test{fn.Name.Name, name, fset.Position(fn.Pos()).Line})
			}
		}
	}
	slices.SortFunc(p.Tests, func(a, b Test) int { return cmp.Compare(a.Name, b.Name) })
	if len(p.Tests) == 0 {
		return p, nil
	}
	if len(l.GoFiles) == 0 {
		p.tested = slices.Concat(l.TestImports, l.XTestImports)
	}
	found := map[string]bool{}
	err := l.constants(found)
	p.Constants = slices.Sorted(maps.Keys(found))
	return p, err
}

// isFuzzTest reports whether a function is one that go test takes for a fuzz test.
func isFuzzTest(fn *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, "Fuzz")
	if first, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && unicode.IsLower(first) {
		return false
	}
	if fn.Recv != nil || fn.Type.TypeParams != nil || fn.Type.Results != nil || len(fn.Type.Params.List) != 1 || len(fn.Type.Params.List[0].Names) > 1 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := star.X.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name == "F"
	case *ast.Ident: // with a dot import
		return t.Name == "F"
	}
	return false
}
