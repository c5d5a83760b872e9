package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeJSON writes a file of the campaign that is always written whole. doing is for the error.
func (d *Dir) writeJSON(name, doing string, v any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	if err == nil {
		err = replace(filepath.Join(d.path, name), b.Bytes(), true)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// readJSON reads a file that writeJSON has written; not found: there is none. doing and expected are for the errors; one about the content is
// a [Problem].
func readJSON(path, doing, expected string, v any) (found bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, &Problem{File: path, Text: "expected " + expected + ": " + err.Error(), Err: err}
	}
	return true, nil
}

// checkVersion returns a [Problem] if a file has another version than this program reads, under key.
func checkVersion(path, key string, version, known int) error {
	if version == known {
		return nil
	}
	return &Problem{File: path, Text: fmt.Sprintf("%q is %d, expected %d", key, version, known), Err: ErrVersion}
}
