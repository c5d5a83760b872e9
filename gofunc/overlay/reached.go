package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// frameworks are what runs a test: what is imported by them alone, such as Go's parser by go test -fuzz, is not what is tested.
var frameworks = []string{"testing", "testing/internal/testdeps", "github.com/teaselfuzz/teasel/gofunc"}

// common are packages that many tests import. They are always instrumented, so that most modules need the same build of the
// standard library.
var common = []string{"bufio", "bytes", "context", "encoding/binary", "errors", "fmt", "io", "math", "path/filepath", "sort", "strconv", "strings", "time", "unicode/utf8"}

// Narrow leaves the packages without instrumentation that the tests of those that the patterns name, as the go command takes
// them in dir, cannot reach: their counters would have to be looked at after each execution. Without it all packages are
// instrumented but a few.
//
// The packages of one run are best named together. What one of them imports is then instrumented for all, and built once.
func (b *Builder) Narrow(ctx context.Context, dir string, f Flags, patterns []string) error {
	args := []string{"list", "-e", "-deps", "-test", "-json=ImportPath,Imports,DepOnly,Standard,CgoFiles"}
	if f.Tags != "" {
		args = append(args, "-tags="+f.Tags)
	}
	out, err := b.Toolchain.Run(ctx, dir, append(append(args, "--"), patterns...)...)
	if err != nil {
		return err
	}
	b.unreached, b.Cgo, err = unreached(bytes.NewReader(out))
	return err
}

// unreached reads the imports of packages and returns which of them are imported by frameworks alone, and which of the others
// have C code behind cgo, those of the standard library left out. Both are sorted.
func unreached(list io.Reader) (names, cgo []string, err error) {
	calls := map[string]bool{}
	imports, roots := map[string][]string{}, slices.Clone(common)
	for d := json.NewDecoder(list); ; {
		var p struct {
			ImportPath string
			Imports    []string
			DepOnly    bool
			Standard   bool
			CgoFiles   []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("reading go list: %w", err)
		}
		calls[p.ImportPath] = len(p.CgoFiles) > 0 && !p.Standard
		imports[p.ImportPath] = p.Imports
		if !p.DepOnly {
			roots = append(roots, p.ImportPath)
		}
	}
	reached := map[string]bool{}
	for len(roots) > 0 {
		p := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if !reached[p] && !slices.Contains(frameworks, p) {
			reached[p] = true
			roots = append(roots, imports[p]...)
		}
	}
	for p := range imports {
		if calls[p] && reached[p] {
			name, _, _ := strings.Cut(p, " ")
			cgo = append(cgo, name)
		}
		if !reached[p] && !strings.Contains(p, " ") { // "p [q.test]" is p as the test of q sees it
			names = append(names, p)
		}
	}
	slices.Sort(names)
	slices.Sort(cgo)
	return names, slices.Compact(cgo), nil
}
