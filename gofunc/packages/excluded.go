package packages

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build/constraint"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// Excluded returns the first file with a fuzz test, in the packages that the patterns name in dir, that its build constraint leaves out, and
// that constraint: "linux && fuzz". Both are "" if there is none.
func Excluded(ctx context.Context, tc *overlay.Toolchain, dir string, patterns []string) (file, constraint string, err error) {
	out, err := tc.Run(ctx, dir, append([]string{"list", "-e", "-json=Dir,IgnoredGoFiles", "--"}, patterns...)...)
	if err != nil {
		return "", "", err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l struct {
			Dir            string
			IgnoredGoFiles []string
		}
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return "", "", nil
		} else if err != nil {
			return "", "", fmt.Errorf("reading go list: %w", err)
		}
		for _, name := range l.IgnoredGoFiles {
			if c := constraintOf(filepath.Join(l.Dir, name)); c != "" && strings.HasSuffix(name, "_test.go") {
				return name, c, nil
			}
		}
	}
}

// constraintOf returns the build constraint of a file that has a fuzz test, "" if it lacks one of these.
func constraintOf(path string) (expression string) {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("\nfunc Fuzz")) {
		return ""
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if line := s.Text(); constraint.IsGoBuild(line) {
			return strings.TrimSpace(strings.TrimPrefix(line, "//go:build"))
		}
	}
	return ""
}
