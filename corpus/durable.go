package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// temporary returns the name under which a file is written before it gets its own. One process writes to a campaign,
// so that the name need not be random, and the file that a killed process leaves is overwritten or removed.
func temporary(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
}

// replace writes a file, of which a reader sees either the old content or the new. When durable, it is on disk on return:
// the file is synced before it gets its name, and the directory after.
func replace(path string, data []byte, durable bool) error {
	return replaceBy(path, durable, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replaceBy is replace for what write writes.
func replaceBy(path string, durable bool, write func(io.Writer) error) (err error) {
	tmp := temporary(path)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp)
		}
	}()
	err = write(f)
	if err == nil && durable {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err == nil && durable {
		err = syncPath(filepath.Dir(path))
	}
	return err
}

// restore is replace for a file that may have been lost or damaged, even if a directory has its name.
func restore(path string, data []byte, durable bool) error {
	if err := clearName(path); err != nil {
		return err
	}
	return replace(path, data, durable)
}

// clearName renames a directory that has the name of a file: to path.broken or, where that is taken, path.broken2 and so on. It is
// not removed, since somebody may need what is in it.
func clearName(path string) error {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil // replace returns the error, if it is one for it too
	}
	to := path + ".broken"
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); err != nil {
			return os.Rename(path, to)
		}
		to = fmt.Sprintf("%s.broken%d", path, n)
	}
}

// intact reports whether a file exists and has exactly these bytes.
func intact(path string, data []byte) bool {
	got, err := readRegular(path, int64(len(data)))
	return err == nil && bytes.Equal(got, data)
}

// WriteFile writes a file, and the directories that lead to it, so that both are on disk on return. A reader sees the file
// whole or not at all.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	var changed []string // directories that get a new one
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		changed = append(changed, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := replace(path, data, true); err != nil {
		return err
	}
	for _, d := range changed {
		if err := syncPath(d); err != nil {
			return err
		}
	}
	return nil
}

// syncPath waits until a file's bytes, or a directory's names, are on disk. A file that was removed needs no sync.
func syncPath(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// halfWritten reports whether the name of a file is one that temporary returns.
func halfWritten(f fs.DirEntry) bool {
	return strings.HasPrefix(f.Name(), ".") && strings.HasSuffix(f.Name(), ".tmp") && f.Type().IsRegular()
}

// sweep removes the temporary files that a killed process has left.
func sweep(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweeping: %w", err)
	}
	for _, f := range files {
		if halfWritten(f) {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return fmt.Errorf("sweeping: %w", err)
			}
		}
	}
	return nil
}
