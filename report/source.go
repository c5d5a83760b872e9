package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
)

var (
	// position is a place in source as compilers, sanitizers, Node.js and Go write it.
	position = regexp.MustCompile(`([^\s:"'()\[\]]+\.\w+):(\d+)\b`)
	// pythonPosition is the same as Python writes it, the innermost call last.
	pythonPosition = regexp.MustCompile(`File "([^"\n]+)", line (\d+)`)
)

// installed are directories in a repository whose code is not the repository's own.
var installed = []string{"node_modules", "site-packages", "vendor", "third_party", ".venv", "venv"}

// sourceLine returns the innermost call in a finding's detail that is in a file of the repository, line 0 if there is none.
func (r *Run) sourceLine(f *teasel.Finding) (file string, line int) {
	calls := position.FindAllStringSubmatch(f.Detail, -1)
	python := pythonPosition.FindAllStringSubmatch(f.Detail, -1)
	slices.Reverse(python)
	for _, call := range slices.Concat(python, calls) {
		if line, err := strconv.Atoi(call[2]); err == nil && line > 0 && r.owns(call[1]) {
			return call[1], line
		}
	}
	return "", 0
}

// owns reports whether a file is part of the repository, and not of what is installed in it.
func (r *Run) owns(file string) bool {
	root, err := filepath.Abs(r.Root)
	if err != nil {
		return false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	rel, err := filepath.Rel(resolve(root), resolve(file))
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for dir := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(rel)), "/") {
		if slices.Contains(installed, dir) {
			return false
		}
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
