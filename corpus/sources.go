package corpus

import "path/filepath"

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
	return d.writeJSON(sourcesName, "writing which source files are reached", sourcesFile{sourcesVersion, s})
}

// ReadSources returns what [Dir.WriteSources] has stored in the directory of a campaign; nil: nothing. An error about the content is a
// [Problem].
func ReadSources(dir string) (*Sources, error) {
	path := filepath.Join(dir, sourcesName)
	var f sourcesFile
	found, err := readJSON(path, "reading which source files are reached", "the source files that are reached", &f)
	if found {
		err = checkVersion(path, "teasel-sources", f.Version, sourcesVersion)
	}
	if !found || err != nil {
		return nil, err
	}
	return &f.Sources, nil
}
