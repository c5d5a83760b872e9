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
	triagedName    = "triage.json"
	triagedVersion = 1
)

// Triaged is one of the files that a campaign was given to triage, and what it came to.
type Triaged struct {
	File    string `json:"file"`              // as it was found: below the directory that was given
	Key     string `json:"key"`               // of its content: files with the same key are copies of each other
	Exit    string `json:"exit,omitempty"`    // how it ended, as [teasel.Exit] says; "": it was not run
	Finding string `json:"finding,omitempty"` // id of the finding that it shows; "": none
	Try     int    `json:"try,omitempty"`     // the execution that showed it, from 1 on: one after the first says that the input is flaky
}

type triagedFile struct {
	Version int       `json:"teasel-triage"`
	Inputs  []Triaged `json:"inputs"`
}

// WriteTriaged stores what the files that were given came to.
func (d *Dir) WriteTriaged(ts []Triaged) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(triagedFile{triagedVersion, ts})
	if err == nil {
		err = replace(filepath.Join(d.path, triagedName), b.Bytes(), true)
	}
	if err != nil {
		return fmt.Errorf("writing what the inputs came to: %w", err)
	}
	return nil
}

// Triaged returns what [Dir.WriteTriaged] has stored; nil: the campaign has triaged nothing. An error about the content is a [Problem].
func (d *Dir) Triaged() ([]Triaged, error) {
	path := filepath.Join(d.path, triagedName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what inputs came to: %w", err)
	}
	var f triagedFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, &Problem{File: path, Text: "expected what inputs came to: " + err.Error(), Err: err}
	}
	if f.Version != triagedVersion {
		return nil, &Problem{File: path, Text: fmt.Sprintf(`"teasel-triage" is %d, expected %d`, f.Version, triagedVersion), Err: ErrVersion}
	}
	return f.Inputs, nil
}
