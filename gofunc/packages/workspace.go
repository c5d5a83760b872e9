package packages

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// Workspace returns the patterns that name all packages of the modules that the go.work file of dir uses, such as ./a/... for
// the module in a. The error is that of the go command.
func Workspace(ctx context.Context, tc *overlay.Toolchain, dir string) (patterns []string, err error) {
	out, err := tc.Run(ctx, dir, "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, fmt.Errorf("listing the modules of the workspace: %w", err)
	}
	for module := range strings.Lines(string(out)) {
		module = strings.TrimSuffix(module, "\n")
		if rel, err := filepath.Rel(dir, module); err == nil {
			module = rel
			if filepath.IsLocal(rel) {
				module = "./" + rel
			}
		}
		patterns = append(patterns, filepath.ToSlash(module)+"/...")
	}
	return patterns, nil
}
