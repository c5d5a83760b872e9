package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// Built is what the tests of a package are built from, the standard library left out. Paths are absolute.
type Built struct {
	Dirs     []string // of the package, and of all packages that it and its tests import, directly or not
	Embedded []string // files that are in the program by //go:embed
}

// BuiltFrom returns what the tests of packages are built from, by import path. A package whose imports cannot all be resolved is left out.
func BuiltFrom(ctx context.Context, tc *overlay.Toolchain, dir string, flags overlay.Flags, paths []string) (map[string]Built, error) {
	args := []string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,Standard,Deps,Incomplete,EmbedFiles,TestEmbedFiles,XTestEmbedFiles"}
	if flags.Tags != "" {
		args = append(args, "-tags="+flags.Tags)
	}
	out, err := tc.Run(ctx, dir, append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, err
	}
	parts, tests := map[string]Built{}, map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir                             string
			Standard, Incomplete                        bool
			Deps                                        []string
			EmbedFiles, TestEmbedFiles, XTestEmbedFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		path, isTest := strings.CutSuffix(p.ImportPath, ".test") // the program that runs the tests of a package
		switch {
		case isTest && !p.Incomplete:
			tests[path] = p.Deps
		case !isTest && !p.Standard && p.Dir != "":
			part := Built{Dirs: []string{p.Dir}}
			for _, file := range slices.Concat(p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles) {
				part.Embedded = append(part.Embedded, filepath.Join(p.Dir, file))
			}
			parts[p.ImportPath] = part
		}
	}
	all := map[string]Built{}
	for path, deps := range tests {
		var whole Built
		for _, dep := range deps {
			whole.Dirs, whole.Embedded = append(whole.Dirs, parts[dep].Dirs...), append(whole.Embedded, parts[dep].Embedded...)
		}
		all[path] = whole
	}
	return all, nil
}
