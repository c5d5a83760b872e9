package gotest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// leaveOutUnreached leaves out the fuzz tests that nothing reaches which has changed since --changed-since: no file that they are built from or,
// where it is known which files their testcases reach, none of those.
func (s *testRun) leaveOutUnreached(ctx context.Context, w io.Writer) error {
	c, err := campaign.ChangedSince(ctx, s.options.ChangedSince)
	if err != nil {
		return err
	}
	out := s.options.Out
	if out == "" {
		if out, err = defaultOut(); err != nil {
			return err
		}
	}
	var paths []string
	for i := range s.packages {
		paths = append(paths, s.packages[i].Path)
	}
	built, err := packages.BuiltFrom(ctx, s.builder.Toolchain, s.dir, s.options.flags(), paths)
	if err != nil {
		return commandError(ctx, err)
	}
	for i := range s.packages {
		p := &s.packages[i]
		from, known := built[p.Path]
		if !known { // the build says what is wrong
			continue
		}
		files := newFootprint(c.Root, p.Dir, &from).changed(c.Files)
		p.Tests = slices.DeleteFunc(p.Tests, func(t packages.Test) bool {
			reason := "nothing that has changed since " + c.Base + " is in a package that it is built from"
			if len(files) > 0 {
				sources, where := campaign.Earlier(w, outOf(out, p, t.Name), outOf(s.options.Baseline, p, t.Name))
				if sources == nil {
					return false
				}
				if file, _ := campaign.FirstReached(files, sources); file != "" {
					return false
				}
				reason = "nothing that has changed since " + c.Base + " is reached by the testcases in " + s.relative(where)
			}
			name := p.Path + " " + t.Name
			fmt.Fprintf(w, "teasel: %s is left out: %s\n", name, plain.Line(reason))
			s.skip(name, reason)
			return true
		})
	}
	s.packages = slices.DeleteFunc(s.packages, func(p packages.Package) bool { return len(p.Tests) == 0 })
	return nil
}

// footprint is where what the tests of a package are built from is in a repository. Paths are relative to its root, with slashes.
type footprint struct {
	root     string
	own      string          // folder of the package
	folders  map[string]bool // of all packages that the tests are built from
	embedded map[string]bool // files
}

func newFootprint(root, dir string, b *packages.Built) *footprint {
	f := &footprint{root: unlinked(root), folders: map[string]bool{}, embedded: map[string]bool{}}
	f.own, _ = f.inside(dir)
	for _, d := range b.Dirs {
		if in, ok := f.inside(d); ok {
			f.folders[in] = true
		}
	}
	for _, file := range b.Embedded {
		if in, ok := f.inside(file); ok {
			f.embedded[in] = true
		}
	}
	return f
}

// inside returns a path below the root; false: it is elsewhere.
func (f *footprint) inside(p string) (string, bool) {
	rel, err := filepath.Rel(f.root, unlinked(p))
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// unlinked returns a path without symbolic links, or as it is if it cannot be followed.
func unlinked(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// changed returns those of the files that have changed which the tests may depend on.
func (f *footprint) changed(files []string) (mine []string) {
	for _, file := range files {
		if f.has(file) {
			mine = append(mine, file)
		}
	}
	return mine
}

// has reports whether the tests may depend on a file.
func (f *footprint) has(file string) bool {
	folder, name := path.Dir(file), path.Base(file)
	isData := slices.Contains(strings.Split(folder, "/"), "testdata")
	switch {
	case f.embedded[file]:
		return true
	case strings.HasSuffix(name, "_test.go") && !isData:
		return folder == f.own
	case strings.HasSuffix(name, ".go") && !isData:
		return f.folders[folder]
	case campaign.IsDocumentation(name) && !isData:
		return false
	case slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, name):
		return f.below(folder)
	}
	return f.below(file) || f.owns(folder) // a submodule is a file to git
}

// below reports whether a package that the tests are built from is in or below a folder.
func (f *footprint) below(folder string) bool {
	for in := range f.folders {
		if folder == "." || strings.HasPrefix(in+"/", folder+"/") {
			return true
		}
	}
	return false
}

// owns reports whether data, or code in another language, in a folder is of a package that the tests are built from: that in the nearest folder
// above it that has Go source. What is of no package may be read by any test.
func (f *footprint) owns(folder string) bool {
	for strings.Contains("/"+folder+"/", "/testdata/") || !hasGo(filepath.Join(f.root, filepath.FromSlash(folder))) {
		if folder == "." {
			return true
		}
		folder = path.Dir(folder)
	}
	return f.folders[folder]
}

// hasGo reports whether a folder has Go source.
func hasGo(dir string) bool {
	entries, _ := os.ReadDir(dir) // what was removed has none
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
}

// outOf returns the directory of a fuzz test's campaign below that of a run; "": there is no run.
func outOf(out string, p *packages.Package, test string) string {
	if out == "" {
		return ""
	}
	return filepath.Join(out, filepath.FromSlash(p.Path), test)
}

// defaultOut returns where campaigns are kept if the user names no directory.
func defaultOut() (string, error) {
	cache, err := cacheDir()
	return filepath.Join(cache, "corpus"), err
}

// keepSources notes which source files the testcases of each fuzz test reach.
func (s *testRun) keepSources(w io.Writer) {
	for _, t := range s.tests {
		if t.dir == nil || t.target.Counters == 0 || t.err != nil {
			continue
		}
		err := campaign.KeepSources(t.dir, func(entries []teasel.Entry) (reached, missed []string) { return s.code.filesOf(t, entries) })
		if err != nil {
			fmt.Fprintf(w, "teasel: warning: %s: %v\n", t, err)
		}
	}
}
