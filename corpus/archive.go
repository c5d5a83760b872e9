package corpus

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Limits of an archive of inputs: what it holds is in memory, and a small archive may claim to hold any amount.
const (
	maxArchived     = 512 << 20 // bytes of all its files
	maxArchiveFiles = 1 << 18
)

// isArchive reports whether a path names an archive of inputs, as OSS-Fuzz has them, by its extension. Archives in a directory of
// inputs are inputs.
func isArchive(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// readArchiveFile calls take with each input in a zip archive, in the archive's order. It reports files that are left out to wrong.
// Nothing is written. The error says that the file is no archive.
func readArchiveFile(file string, take func(name string, data []byte), wrong func(name string, err error)) error {
	r, err := zip.OpenReader(file)
	if err != nil && !(r != nil && errors.Is(err, zip.ErrInsecurePath)) { // such names are left out below
		return err
	}
	defer r.Close()
	readFiles(&r.Reader, take, wrong)
	return nil
}

// ReadArchive calls take with each input in a zip archive that is in memory, in the archive's order, and reports files that are left
// out to wrong: those whose names lead out of the archive, that are no regular files, or that are too big, by themselves or together,
// when they are decompressed. Files whose names begin with a dot are passed over. The error says that the bytes are no archive.
func ReadArchive(data []byte, take func(name string, data []byte), wrong func(name string, err error)) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !(r != nil && errors.Is(err, zip.ErrInsecurePath)) {
		return err
	}
	readFiles(r, take, wrong)
	return nil
}

func readFiles(r *zip.Reader, take func(name string, data []byte), wrong func(name string, err error)) {
	total := 0
	for i, f := range r.File {
		if hidden := strings.HasPrefix(path.Base(f.Name), "."); strings.HasSuffix(f.Name, "/") || hidden && fs.ValidPath(f.Name) {
			continue
		}
		if i >= maxArchiveFiles {
			wrong(f.Name, fmt.Errorf("the archive has %d files: expected at most %d", len(r.File), maxArchiveFiles))
			return
		}
		data, err := readArchived(f, maxArchived-total)
		if errors.Is(err, errArchiveTooBig) {
			wrong(f.Name, err)
			return
		}
		if err != nil {
			wrong(f.Name, err)
			continue
		}
		total += len(data)
		take(f.Name, data)
	}
}

var errArchiveTooBig = fmt.Errorf("the archive holds more than %d MB: this file and those behind it are left out", maxArchived>>20)

// readArchived reads one file of an archive, of which room bytes may be read.
func readArchived(f *zip.File, room int) ([]byte, error) {
	const encrypted = 1 // of the flags in a file's header
	switch {
	case !fs.ValidPath(f.Name):
		return nil, errors.New("its name leads out of the archive")
	case !f.Mode().IsRegular():
		return nil, fmt.Errorf("expected a file, not a %v", f.Mode().Type())
	case f.Flags&encrypted != 0:
		return nil, errors.New("it is encrypted")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, int64(min(room, MaxInput))+1)) // the size in the header may be any
	switch {
	case len(data) > MaxInput:
		return nil, fmt.Errorf("expected at most %d MB", MaxInput>>20)
	case len(data) > room:
		return nil, errArchiveTooBig
	}
	return data, err
}
