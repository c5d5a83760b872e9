package teasel_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/teaselfuzz/teasel"

// layer is a package's height. Imports go down: a package may import only what is lower.
func layer(pkg string) int {
	switch rel := strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"); {
	case strings.HasPrefix(rel, "internal/mcptest"):
		return 20 // what tests share
	case strings.HasPrefix(rel, "internal/plantedtest"):
		return 19 // a test of its own
	case rel == "internal/web", rel == "internal/tui":
		return 4 // shows what view has
	case strings.HasPrefix(rel, "internal/"):
		return 0
	case rel == "":
		return 1
	case rel == "mutate", rel == "sensor", rel == "corpus", rel == "policy", rel == "exchange/pipe", rel == "netproto/model":
		return 2
	case rel == "mutate/schema", rel == "view", rel == "corpus/pack", rel == "mutate/operands", rel == "mutate/typed", rel == "gofunc/link", rel == "netproto/dialogue", rel == "netproto/conn", rel == "netproto/judge":
		return 3
	case rel == "gofunc/agent":
		return 2
	case rel == "gofunc/overlay", rel == "gofunc/judge", rel == "mcp/jsonrpc":
		return 3
	case rel == "mcp/session":
		return 4
	case rel == "mcp/script":
		return 5
	case rel == "mcp/conn", rel == "mcp/observe":
		return 6
	case rel == "mcp/check", rel == "mcp/server":
		return 7
	case rel == "mcp/run", rel == "mcp/gen", rel == "mcp/judge":
		return 9
	case strings.HasPrefix(rel, "gofunc/"):
		return 10
	case rel == "mcp", rel == "netproto", rel == "native", rel == "gofunc", rel == "monitor", rel == "report", rel == "fleet":
		return 10
	case rel == "cmd/teasel/internal/exit", rel == "cmd/teasel/internal/progress":
		return 11
	case rel == "cmd/teasel/internal/flags", rel == "cmd/teasel/internal/replay":
		return 12
	case rel == "cmd/teasel/internal/campaign":
		return 13
	case rel == "cmd/teasel/internal/gotest", rel == "cmd/teasel/internal/mcpserver", rel == "cmd/teasel/internal/netserver", rel == "cmd/teasel/internal/program":
		return 15
	case rel == "cmd/teasel/internal/kinds":
		return 16
	case rel == "cmd/teasel/internal/corpora", rel == "cmd/teasel/internal/project", rel == "cmd/teasel/internal/results":
		return 17
	case strings.HasPrefix(rel, "cmd/teasel/internal/"):
		return 14
	case strings.HasPrefix(rel, "cmd/"), strings.HasPrefix(rel, "examples/"), strings.HasPrefix(rel, "bench/"):
		return 18
	}
	return -1
}

// Imports go down, and a function is as long as one reads at a sitting.
func TestArchitecture(t *testing.T) {
	files := 0
	for name := range sources(t) {
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(violations(path.Join(module, filepath.ToSlash(filepath.Dir(name))), f), long(set, f)...) {
			t.Errorf("%s: %s", name, w)
		}
	}
	if files < 10 {
		t.Fatalf("only %d files were looked at", files)
	}
}

// sources yields the files of Go that are no tests. They are parsed here and not by the go command, whose answer the test cache would keep.
func sources(t *testing.T) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			base := d.Name()
			switch {
			case d.IsDir() && (base == "testdata" || base == "tools" || strings.HasPrefix(base, ".") && base != "."):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !yield(name):
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mostLines is how many lines a function has at most.
const mostLines = 60

// long names the functions that have more.
func long(set *token.FileSet, f *ast.File) (out []string) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; lines > mostLines {
				out = append(out, fmt.Sprintf("%s has %d lines, more than %d", fn.Name.Name, lines, mostLines))
			}
		}
	}
	return out
}

func violations(pkg string, f *ast.File) (out []string) {
	mine := layer(pkg)
	if mine < 0 {
		return []string{fmt.Sprintf("package %s is in no layer: say where it belongs", pkg)}
	}
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return append(out, err.Error())
		}
		switch ours := p == module || strings.HasPrefix(p, module+"/"); {
		case ours && layer(p) >= mine && !(mine == 0 && strings.HasPrefix(p, module+"/internal/")):
			out = append(out, fmt.Sprintf("imports %s, which is not below it", p))
		case !ours && mine == 1 && strings.Contains(strings.SplitN(p, "/", 2)[0], "."):
			out = append(out, fmt.Sprintf("the root package imports %s: it has no dependency", p))
		case p == "C":
			out = append(out, "uses cgo")
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, "has an init function")
		}
	}
	return out
}

func TestArchTestSees(t *testing.T) {
	for _, test := range []struct {
		pkg, src string
		bad      bool
	}{
		{"", `import "fmt"`, false},
		{"", `import "github.com/x/y"`, true},
		{"", `import "github.com/teaselfuzz/teasel/mutate"`, true},
		{"/mutate", `import "github.com/teaselfuzz/teasel"`, false},
		{"/mutate", `import "github.com/teaselfuzz/teasel/corpus"`, true},
		{"/mcp", `import "github.com/teaselfuzz/teasel/internal/proc"`, false},
		{"/mcp", `import "github.com/teaselfuzz/teasel/report"`, true},
		{"/mcp/session", `import "github.com/teaselfuzz/teasel/mcp/jsonrpc"`, false},
		{"/mcp/gen", `import "github.com/teaselfuzz/teasel/mcp/check"`, false},
		{"/mcp/session", `import "github.com/teaselfuzz/teasel/mcp/script"`, true},
		{"/mcp/observe", `import "github.com/teaselfuzz/teasel/mcp/conn"`, true},
		{"/mcp/judge", `import "github.com/teaselfuzz/teasel/mcp/run"`, true},
		{"/mcp/run", `import "github.com/teaselfuzz/teasel/mcp"`, true},
		{"/cmd/teasel", `import "github.com/teaselfuzz/teasel/mcp"`, false},
		{"/cmd/teasel", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"`, false},
		{"/cmd/teasel/internal/gotest", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"`, false},
		{"/cmd/teasel/internal/campaign", `import "github.com/teaselfuzz/teasel/gofunc/session"`, false},
		{"/cmd/teasel/internal/flags", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"`, true},
		{"/cmd/teasel/internal/campaign", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"`, true},
		{"/cmd/teasel/internal/cov", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/libfuzzer"`, true},
		{"/cmd/teasel/internal/program", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"`, true},
		{"/cmd/teasel/internal/program", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"`, true},
		{"/cmd/teasel/internal/results", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"`, false},
		{"/cmd/teasel/internal/gotest", `import "github.com/teaselfuzz/teasel/cmd/teasel"`, true},
		{"/mcp", `import "github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"`, true},
		{"/util", `import "fmt"`, true},
		{"/mcp", `import "C"`, true},
		{"/mcp", `func init() {}`, true},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+test.src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := violations(module+test.pkg, f); (len(got) > 0) != test.bad {
			t.Errorf("%s with %s: %v", test.pkg, test.src, got)
		}
	}
}

func TestLongFunctionIsSeen(t *testing.T) {
	for _, lines := range []int{mostLines, mostLines + 1} {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "x.go", "package x\n\nfunc f() {"+strings.Repeat("\n", lines-1)+"}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := long(set, f); (len(got) > 0) != (lines > mostLines) {
			t.Errorf("%d lines: %v", lines, got)
		}
	}
}

// What the documentation calls a file of the code has to be one.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:[a-z]+/)*[a-z_]+\\.go)`")
	seen := 0
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			seen++
			name := m[1]
			if _, err := os.Stat(name); err != nil {
				below, _ := filepath.Glob("*/" + name)
				deep, _ := filepath.Glob("*/*/" + name)
				if len(below)+len(deep) == 0 && name != "fuzz_test.go" { // which teasel go new writes
					t.Errorf("%s names %s, which does not exist", page, name)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no file is named anywhere")
	}
}

// What ARCHITECTURE.md says stands in a file is declared there.
func TestArchitectureNamesFunctionsThatExist(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	placed := regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`(?: \\(|,\\s)([a-z_/]+\\.go)\\)")
	found := placed.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		declared := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type )` + m[1] + `\b`)
		if !slices.ContainsFunc([]string{"", "mcp", "fleet"}, func(dir string) bool {
			code, err := os.ReadFile(filepath.Join(dir, m[2]))
			return err == nil && declared.Match(code)
		}) {
			t.Errorf("%s is not declared in %s", m[1], m[2])
		}
	}
	if len(found) < 30 {
		t.Errorf("%d functions are named with their files", len(found))
	}
}
