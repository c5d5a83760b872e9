package campaign

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// KeepSources notes in a campaign's directory which source files its testcases reach, for later runs with --changed-since: by then the target may
// have been built anew, and coverage counts what was built. files returns the source files that have code, those that are reached apart. Nothing
// is noted outside of a repository, or where no source file is known.
func KeepSources(dir *corpus.Dir, files func(entries []teasel.Entry) (reached, missed []string)) error {
	root := repository()
	if root == "" {
		return nil
	}
	kept, _, err := dir.Snapshot(nil) // what is wrong with the directory is reported elsewhere
	if err != nil {
		return err
	}
	reached, missed := files(kept.Entries)
	s := corpus.Sources{Reached: within(root, reached), Missed: within(root, missed)}
	if len(s.Reached) == 0 {
		return nil
	}
	return dir.WriteSources(s)
}

// repository returns the root of the git repository that the working directory is in, without symbolic links; "": it is in none.
func repository() string {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for err == nil {
		if _, e := os.Stat(filepath.Join(dir, ".git")); e == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// within returns the files that are below root, with slashes and relative to it, sorted.
func within(root string, files []string) []string {
	in := []string{}
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, file)
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			file = real
		}
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			in = append(in, filepath.ToSlash(rel))
		}
	}
	slices.Sort(in)
	return slices.Compact(in)
}
