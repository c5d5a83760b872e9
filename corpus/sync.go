package corpus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// job lists the files to sync in one round.
type job struct {
	paths   []string // in Interesting, Crashes and Hangs
	journal *os.File // nil: none
}

// syncLoop does the jobs in a goroutine of its own, so that nobody waits for the disk, until there are no more.
func (d *Dir) syncLoop() {
	defer close(d.synced)
	for j := range d.syncing {
		if err := d.syncFiles(j); err != nil {
			d.mu.Lock()
			d.failed = errors.Join(d.failed, err)
			d.mu.Unlock()
		}
	}
}

// syncFiles syncs the files of a job, and their directories.
func (d *Dir) syncFiles(j job) error {
	dirs := map[string]bool{}
	for _, p := range j.paths {
		dirs[filepath.Dir(p)] = true
		if err := syncPath(p); err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	for p := range dirs {
		if err := syncPath(p); err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	if j.journal != nil {
		if err := j.journal.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("syncing the journal: %w", err)
		}
	}
	return nil
}
