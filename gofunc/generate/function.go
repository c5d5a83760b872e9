// Package generate writes fuzz tests for functions that have none.
package generate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Function is an exported function that can be fuzzed.
type Function struct {
	Package string // its package's name
	Name    string
	Args    []string // types of the arguments, io.Reader among them
	Results []string // types of the results
	Inverse string   // function that should give the argument back; "": none is known

	inverseFails bool // the inverse can return an error
}

// argumentTypes are those that a fuzz test can make: what package testing supports, and readers over bytes.
var argumentTypes = []string{"[]byte", "string", "bool", "byte", "rune", "int", "int8", "int16", "int32", "int64",
	"uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "io.Reader"}

// anything is the type of an argument into which functions such as json.Unmarshal decode: a fuzz test passes the address of a
// variable of that type.
const anything = "any"

// Functions returns the functions in these files of a directory that can be fuzzed, by name: exported, without type
// parameters, with at least one argument that holds text or bytes, and none that a fuzz test cannot make. Those whose names
// begin with Must are left out, since they panic by design. A variadic argument is not passed.
func Functions(dir string, files []string) (all []Function, err error) {
	fset := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Type.TypeParams != nil || !fn.Name.IsExported() {
				continue
			}
			x := Function{Package: f.Name.Name, Name: fn.Name.Name, Args: types(fn.Type.Params), Results: types(fn.Type.Results)}
			if n := len(x.Args); n > 0 && x.Args[n-1] == variadic {
				x.Args = x.Args[:n-1]
			}
			if x.fuzzable() {
				all = append(all, x)
			}
		}
	}
	slices.SortFunc(all, func(a, b Function) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		if g := inverse(all[i], all); g != nil {
			all[i].Inverse, all[i].inverseFails = g.Name, len(g.Results) == 2
		}
	}
	return all, nil
}

// Tests returns where the functions of these test files of a directory are declared, by name: a fuzz test is not to have the
// name of one that is there.
func Tests(dir string, files []string) (map[string]token.Position, error) {
	fset := token.NewFileSet()
	all := map[string]token.Position{}
	for _, name := range files {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				all[fn.Name.Name] = fset.Position(fn.Name.Pos())
			}
		}
	}
	return all, nil
}

// TestName is the name of the fuzz test that [Test] writes for the function.
func (f Function) TestName() string { return "Fuzz" + f.Name }

func (f Function) fuzzable() bool {
	if strings.HasPrefix(f.Name, "Must") {
		return false
	}
	texts := 0
	for _, a := range f.Args {
		if a == anything {
			continue
		}
		if !slices.Contains(argumentTypes, a) {
			return false
		}
		if a == "[]byte" || a == "string" || a == "io.Reader" {
			texts++
		}
	}
	return texts > 0
}

// String is the function's signature.
func (f Function) String() string {
	text := fmt.Sprintf("%s(%s)", f.Name, strings.Join(f.Args, ", "))
	switch len(f.Results) {
	case 0:
	case 1:
		text += " " + f.Results[0]
	default:
		text += " (" + strings.Join(f.Results, ", ") + ")"
	}
	return text
}

// types returns the types of parameters or results, one for each name.
func types(fields *ast.FieldList) (out []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(len(f.Names), 1) {
			out = append(out, typeText(f.Type))
		}
	}
	return out
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + typeText(e.Elt)
		}
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.Ellipsis:
		return variadic
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return anything
		}
	}
	return "other"
}

// variadic is the type of a variadic argument.
const variadic = "..."

// opposites are words whose functions undo each other.
var opposites = [][2]string{{"Encode", "Decode"}, {"Marshal", "Unmarshal"}, {"Compress", "Decompress"}, {"Escape", "Unescape"},
	{"Quote", "Unquote"}, {"Pack", "Unpack"}, {"Format", "Parse"}, {"Encrypt", "Decrypt"}, {"Serialize", "Deserialize"}}

// inverse returns the function that should undo f, nil if there is none: of the opposite name, taking what f returns and returning what f takes.
func inverse(f Function, all []Function) *Function {
	if len(f.Args) != 1 || f.Args[0] == "io.Reader" || !valueAndError(f.Results) {
		return nil
	}
	for _, pair := range opposites {
		if !strings.Contains(f.Name, pair[0]) || strings.Contains(f.Name, pair[1]) {
			continue
		}
		name := strings.Replace(f.Name, pair[0], pair[1], 1)
		for i := range all {
			if g := &all[i]; g.Name == name && len(g.Args) == 1 && g.Args[0] == f.Results[0] && valueAndError(g.Results) && g.Results[0] == f.Args[0] {
				return g
			}
		}
	}
	return nil
}

// valueAndError reports whether results are a value, and perhaps an error.
func valueAndError(results []string) bool {
	return len(results) == 1 && results[0] != "error" || len(results) == 2 && results[1] == "error"
}
