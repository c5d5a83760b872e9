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

const (
	sourcesName    = "sources.json"
	sourcesVersion = 1
)

// Sources are the source files of a target's code, with slashes and relative to the root of the repository that they are in.
type Sources struct {
	Reached []string `json:"reached"` // files with code that a testcase reaches
	Missed  []string `json:"missed"`  // files with code, of which no testcase reaches any
}

type sourcesFile struct {
	Version int `json:"teasel-sources"`
	Sources
}

// WriteSources stores which source files the testcases reach.
func (d *Dir) WriteSources(s Sources) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(sourcesFile{sourcesVersion, s})
	if err == nil {
		err = replace(filepath.Join(d.path, sourcesName), b.Bytes(), true)
	}
	if err != nil {
		return fmt.Errorf("writing which source files are reached: %w", err)
	}
	return nil
}

// ReadSources returns what [Dir.WriteSources] has stored in the directory of a campaign; nil: nothing. An error about the content is a
// [Problem].
func ReadSources(dir string) (*Sources, error) {
	path := filepath.Join(dir, sourcesName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which source files are reached: %w", err)
	}
	var f sourcesFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, &Problem{File: path, Text: "expected the source files that are reached: " + err.Error(), Err: err}
	}
	if f.Version != sourcesVersion {
		return nil, &Problem{File: path, Text: fmt.Sprintf(`"teasel-sources" is %d, expected %d`, f.Version, sourcesVersion), Err: ErrVersion}
	}
	return &f.Sources, nil
}
