package campaign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
)

// PreviousSuffix is the end of the name of the directory to which teasel go renames that of the last campaign.
const PreviousSuffix = ".previous"

// Find returns the directories of the campaigns in a directory: itself, or all those below it, as teasel go has one for each
// fuzz test. Those that end with [PreviousSuffix] are left out. It returns at least one.
func Find(path string) (dirs []string, err error) {
	if corpus.IsCampaign(path) {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil // the error of the directory itself is the one of opening it
		case corpus.IsCampaign(at) && strings.HasSuffix(at, PreviousSuffix):
			return fs.SkipDir
		case corpus.IsCampaign(at):
			dirs = append(dirs, at)
			return fs.SkipDir
		case strings.Count(strings.TrimPrefix(at, path), string(filepath.Separator)) > maxDepth:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, exit.Failure(err)
	}
	if len(dirs) == 0 {
		dirs = []string{path}
	}
	return dirs, nil
}

// RequireOne refuses a directory that has campaigns below it and is none itself, for the verbs that take a single one.
func RequireOne(path string) error {
	dirs, err := Find(path)
	if err != nil || len(dirs) == 1 && dirs[0] == path {
		return nil // opening it says what is wrong
	}
	const most = 5
	list := strings.Join(dirs[:min(len(dirs), most)], "\n  ")
	if len(dirs) > most {
		list += fmt.Sprintf("\n  and %d more", len(dirs)-most)
	}
	return exit.Usage("name one of them:\n  "+list, "%s is no campaign, and has %s below it", path, noun.Count(len(dirs), "campaign", "campaigns"))
}

// maxDepth is how far below a directory campaigns are looked for: the path of a package may have several elements.
const maxDepth = 12

// openReadOnly opens a campaign's directory to look at it.
func openReadOnly(path string) (*corpus.Dir, error) {
	dir, err := corpus.OpenReadOnly(path)
	if err != nil {
		return nil, OpenError(err)
	}
	return dir, nil
}

// Any reports whether a directory is a campaign's, or has some below it.
func Any(path string) bool {
	dirs, err := Find(path)
	return err == nil && corpus.IsCampaign(dirs[0])
}

// Saved is a campaign's directory that is looked at, with what it has kept.
type Saved struct {
	*corpus.Dir
	Kept teasel.Snapshot
}

// Open opens the directory of one campaign to look at it. Broken files are reported.
func Open(path string, stderr io.Writer) (s Saved, err error) {
	if err = RequireOne(path); err != nil {
		return s, err
	}
	if s.Dir, err = openReadOnly(path); err != nil {
		return s, err
	}
	var problems []*corpus.Problem
	if s.Kept, problems, err = s.Snapshot(nil); err != nil {
		return s, exit.Failure(err)
	}
	Warn(stderr, problems)
	return s, nil
}

// OpenEach looks at the campaign in a directory, or at all those below it.
func OpenEach(path string, stderr io.Writer, look func(s Saved) error) error {
	dirs, err := Find(path)
	for i := 0; i < len(dirs) && err == nil; i++ {
		var s Saved
		if s, err = Open(dirs[i], stderr); err == nil {
			err = look(s)
		}
	}
	return err
}

// Here returns some of the campaigns in this folder.
func Here() (dirs []string) {
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		if len(dirs) < 5 && corpus.IsCampaign(e.Name()) {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs
}

// OpenError returns the error for a campaign's directory that could not be opened, with a hint.
func OpenError(err error) error {
	hint := "name the directory that a campaign wrote, for example teasel-out"
	var at *fs.PathError
	switch {
	case errors.Is(err, syscall.EISDIR) && errors.As(err, &at):
		hint = at.Path + " has to be a file: move that folder away, and the campaign goes on without what was in it"
	case errors.Is(err, corpus.ErrLocked):
		hint = "its campaign is running: wait for it to end, or stop it; 'teasel show' looks at it meanwhile"
	case errors.Is(err, fs.ErrNotExist):
		hint = "there is no campaign in this folder: name the directory of one that is elsewhere, or begin one, as 'teasel demo' does"
		if here := Here(); len(here) > 0 {
			hint = "name the directory of a campaign; there are these here: " + strings.Join(here, ", ")
		}
	case errors.Is(err, corpus.ErrVersion):
		hint = "it was written by a newer teasel than this one, " + Version
	}
	return exit.Usage(hint, "%w", err)
}
