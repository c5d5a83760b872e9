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

	"github.com/teaselfuzz/teasel/corpus"
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
	if err := corpus.WriteFile(filepath.Join(string(f), name), data); err != nil {
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
