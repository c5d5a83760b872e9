package isolation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Folder is the folder of a campaign, with the homes of its programs. A file in it is locked while we use it.
type Folder struct {
	path     string
	lock     *os.File
	stop     context.CancelFunc // of the watch; nil: there is none
	watching sync.WaitGroup
}

const (
	folderPrefix = "teasel-scratch-"
	lockName     = "lock"
)

// Open makes a folder below parent, and removes those below it whose owners were killed.
func Open(parent string) (*Folder, error) {
	sweep(parent)
	for n := range 1000 {
		path := filepath.Join(parent, fmt.Sprintf("%s%010d-%03d", folderPrefix, os.Getpid(), n))
		err := os.Mkdir(path, 0o711) // a server may run as another user
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("making a folder for the homes of programs: %w", err)
		}
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
		if err == nil {
			if _, err = os.Stat(lock.Name()); err == nil {
				return &Folder{path: path, lock: lock}, nil
			}
		}
		if lock != nil {
			lock.Close()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) { // otherwise another one has swept it away
			return nil, errors.Join(fmt.Errorf("making a folder for the homes of programs: %w", err), os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("making a folder for the homes of programs: %s is full", parent)
}

// sweep removes the folders of those who were killed: the kernel has released their locks.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	for _, path := range left {
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
		if err != nil { // another user's, or one that is being made
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = removeAll(path) // if it fails, the next one tries again
		}
		lock.Close()
	}
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Close ends the watch and removes the folder.
func (f *Folder) Close() error {
	if f.stop != nil {
		f.stop()
		f.watching.Wait()
	}
	err := removeAll(f.path)
	return errors.Join(err, f.lock.Close())
}

// How often the size is looked at: looking takes at most a small share of the time, however much there is.
const (
	lookTime  = time.Second
	lookShare = 50
)

// Watch keeps the homes together below a limit in bytes: the largest are emptied, and note is called with a sentence the first time.
// It may be called once.
func (f *Folder) Watch(limit int64, note func(text string)) {
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	f.watching.Go(func() {
		for noted := false; ; {
			began := time.Now()
			if held := f.bound(limit); held > 0 && !noted {
				noted = true
				note(fmt.Sprintf("the programs under test had written %d MB to their homes and temporary directories, more than the %d MB of --max-scratch: the largest were emptied, here and whenever it happens again", held>>20, limit>>20))
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(lookTime, lookShare*time.Since(began))):
			}
		}
	})
}

// bound empties the largest homes until all together are below the limit. It returns how much they had held; 0: nothing was to be done.
func (f *Folder) bound(limit int64) (held int64) {
	type sized struct {
		path string
		size int64
	}
	var homes []sized
	var total int64
	entries, _ := os.ReadDir(f.path)
	for _, e := range entries {
		if e.IsDir() {
			r := sized{path: filepath.Join(f.path, e.Name())}
			r.size = diskUse(r.path)
			homes, total = append(homes, r), total+r.size
		}
	}
	if total <= limit {
		return 0
	}
	held = total
	slices.SortFunc(homes, func(a, b sized) int { return int(min(max(b.size-a.size, -1), 1)) })
	for _, r := range homes {
		if total <= limit {
			break
		}
		_ = emptyHome(r.path) // its program may be writing
		total -= r.size
	}
	return held
}

// diskUse returns the bytes that the files below a folder take of the disk.
func diskUse(path string) (bytes int64) {
	const block = 512
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += st.Blocks * block
			}
		}
		return nil
	})
	return bytes
}
