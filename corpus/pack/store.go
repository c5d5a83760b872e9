package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Store is where packs are kept. What has another name than a pack is passed over. Its methods may be called at once, from any number
// of machines.
type Store interface {
	// List returns the names of the packs, sorted. A store that does not exist yet is empty.
	List(ctx context.Context) ([]string, error)
	// Get returns the bytes of a pack.
	Get(ctx context.Context, name string) ([]byte, error)
	// Put stores a pack. When it returns, the pack is durable and is listed.
	Put(ctx context.Context, name string, data []byte) error
}

// Folder is a [Store] in the file system.
type Folder string

var _ Store = Folder("")

// List returns the names of the packs in the folder.
func (f Folder) List(context.Context) (names []string, err error) {
	files, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing packs: %w", err)
	}
	for _, file := range files {
		if validName.MatchString(file.Name()) && file.Type().IsRegular() {
			names = append(names, file.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Get reads a pack.
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(filepath.Join(string(f), name))
	if err != nil {
		return nil, fmt.Errorf("reading a pack: %w", err)
	}
	defer file.Close()
	return readLimited(file)
}

// Put writes a pack. A reader sees it whole or not at all.
func (f Folder) Put(_ context.Context, name string, data []byte) error {
	if err := writeFile(filepath.Join(string(f), name), data, true); err != nil {
		return fmt.Errorf("writing a pack: %w", err)
	}
	return nil
}

var errTooLong = fmt.Errorf("expected at most %d MB", maxSize>>20)

// readLimited reads a pack that may be longer than any is.
func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = errTooLong
	}
	if err != nil {
		return nil, fmt.Errorf("reading a pack: %w", err)
	}
	return data, nil
}

// writeFile writes a file, and the directories that lead to it, so that a reader sees it whole or not at all. When durable, it is on disk on
// return.
func writeFile(path string, data []byte, durable bool) error {
	dir := filepath.Dir(path)
	there := dir // the first directory above the file that exists
	for ; ; there = filepath.Dir(there) {
		if _, err := os.Stat(there); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".*.tmp") // another process may write the same file
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	for d := dir; durable && err == nil; d = filepath.Dir(d) {
		if err = syncDir(d); d == there {
			break
		}
	}
	return err
}

// syncDir has the names in a directory on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
