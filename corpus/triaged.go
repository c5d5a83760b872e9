package corpus

import "path/filepath"

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
	return d.writeJSON(triagedName, "writing what the inputs came to", triagedFile{triagedVersion, ts})
}

// Triaged returns what [Dir.WriteTriaged] has stored; nil: the campaign has triaged nothing. An error about the content is a [Problem].
func (d *Dir) Triaged() ([]Triaged, error) {
	path := filepath.Join(d.path, triagedName)
	var f triagedFile
	found, err := readJSON(path, "reading what inputs came to", "what inputs came to", &f)
	if found {
		err = checkVersion(path, "teasel-triage", f.Version, triagedVersion)
	}
	if !found || err != nil {
		return nil, err
	}
	return f.Inputs, nil
}
