package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// How many names of files are printed of a finding, and of those that reproduce nothing.
const (
	mostInputs       = 3
	mostUnreproduced = 10
)

// jsonTriaged counts the files that a campaign was given to triage.
type jsonTriaged struct {
	Inputs    int      `json:"inputs"`
	Different int      `json:"different"` // of them, by content
	Shown     int      `json:"shown"`     // that reproduce a finding
	Flaky     int      `json:"flaky"`     // of those, not at the first try
	Hangs     int      `json:"hangs"`
	Silent    []string `json:"silent"`  // that reproduce nothing
	NotRun    int      `json:"not_run"` // for want of time
}

// triaged returns the counts; nil: the campaign has triaged nothing.
func (r *Run) triaged() *jsonTriaged {
	if len(r.Triaged) == 0 {
		return nil
	}
	t, keys := &jsonTriaged{Inputs: len(r.Triaged), Silent: []string{}}, map[string]bool{}
	for _, in := range r.Triaged {
		keys[in.Key] = true
		switch {
		case in.Exit == "":
			t.NotRun++
		case in.Finding == "":
			t.Silent = append(t.Silent, in.File)
		default:
			t.Shown++
		}
		if in.Try > 1 {
			t.Flaky++
		}
		if in.Exit == teasel.ExitHang.String() {
			t.Hangs++
		}
	}
	t.Different = len(keys)
	return t
}

// inputs returns the files that reproduce a finding.
func (r *Run) inputs(f *teasel.Finding) (files []string) {
	id := f.ID()
	for _, in := range r.Triaged {
		if in.Finding == id {
			files = append(files, in.File)
		}
	}
	return files
}

// shownBy says which files reproduce a finding; "": it is of none.
func (r *Run) shownBy(f *teasel.Finding) string {
	files := r.inputs(f)
	if len(files) == 0 {
		return ""
	}
	return fmt.Sprintf("reproduced by %s: %s", noun.Count(len(files), "input", ""), someOf(files, mostInputs))
}

// someOf lists the first few names.
func someOf(names []string, most int) string {
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, plain.Line(name))
	}
	return strings.Join(quoted, ", ") + more
}

// textTriaged says what the files came to; "": there were none.
func (r *Run) textTriaged() string {
	t := r.triaged()
	if t == nil {
		return ""
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s", noun.Count(t.Inputs, "input", ""))
	if t.Different < t.Inputs {
		fmt.Fprintf(&b, " (%d different)", t.Different)
	}
	fmt.Fprintf(&b, ": %s", noun.Count(t.Shown, "reproduces a finding", "reproduce a finding"))
	if t.Flaky > 0 {
		fmt.Fprintf(&b, ", %d of them not at the first try", t.Flaky)
	}
	if t.Hangs > 0 {
		fmt.Fprintf(&b, ", %s", noun.Count(t.Hangs, "of them hangs", "of them hang"))
	}
	if t.NotRun > 0 {
		fmt.Fprintf(&b, "; %s", noun.Count(t.NotRun, "was not run", "were not run"))
	}
	if n := len(t.Silent); n > 0 {
		fmt.Fprintf(&b, "; %s: %s", noun.Count(n, "reproduces nothing", "reproduce nothing"), someOf(t.Silent, mostUnreproduced))
	}
	return b.String()
}
