package corpus

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Known is a finding of an earlier run, as far as it takes to recognise and to name it.
type Known struct {
	ID       string
	Rule     string
	Severity teasel.Severity
	Subject  string
	Message  string
	Test     string // that it is of, for kinds that have tests; "": it is not known
	Pending  bool   // the earlier run had no time to reproduce it
}

// ValidID reports whether s has the form of a finding's id.
func ValidID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 16 && strings.ToLower(s) == s
}

// ReadKnown reads the findings of an earlier run of a kind of target: from its JSON report, from its directory, or from the
// campaigns that are in a directory at any depth, as teasel go leaves them. A finding may be there more than once. An error
// about the content is a [Problem], with the line and what was expected there.
func ReadKnown(path, kind string) ([]Known, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a baseline: %w", err)
	case !info.IsDir():
		return readReport(path, kind)
	case IsCampaign(path):
		return readKnownDir(path, kind)
	}
	var all []Known
	found := false
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || !IsCampaign(p) {
			return err
		}
		if strings.HasSuffix(p, ".previous") { // the run before that one
			return fs.SkipDir
		}
		found = true
		ks, err := readKnownDir(p, kind)
		if all = append(all, ks...); err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err == nil && !found {
		err = &Problem{File: path, Text: "expected a campaign's directory, or a file that --format json wrote"}
	}
	if err != nil {
		return nil, fmt.Errorf("reading a baseline: %w", err)
	}
	return all, nil
}

// readKnownDir reads the findings in a campaign's directory.
func readKnownDir(path, kind string) (known []Known, err error) {
	d, err := OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	for _, p := range d.problems {
		dir := filepath.Dir(p.File)
		if errors.Is(p, ErrVersion) || dir == filepath.Join(d.path, Findings) || dir == filepath.Join(d.path, Unconfirmed) {
			return nil, p // a finding that is not recognised would be a new one
		}
	}
	if m := d.Meta(); m.Kind != kind {
		return nil, &Problem{File: path, Text: fmt.Sprintf("is a campaign of kind %s: expected one of kind %s", m.Kind, kind)}
	}
	test := ""
	if kind == "go" { // a campaign is one fuzz test's
		test = d.Meta().Name
	}
	add := func(fs []teasel.Finding, unconfirmed bool) {
		for i := range fs {
			f := &fs[i]
			known = append(known, Known{f.ID(), f.Rule, f.Severity, f.Subject, f.Message, test, unconfirmed})
		}
	}
	add(d.findings(), false)
	add(d.untried(), true)
	return known, nil
}

const reportWanted = "a report that --format json wrote"

// readReport reads the findings in a JSON report. What that run knew already is known to this one; what it had accepted is not,
// since whoever accepts it no longer wants to hear of it again.
func readReport(path, kind string) (known []Known, err error) {
	data, err := readRegular(path, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("reading a baseline: %w", err)
	}
	r := newReader(path, data)
	seen := map[string]bool{}
	whole := r.object(reportWanted, func(name string) bool {
		seen[name] = true
		switch name {
		case "kind":
			var k string
			at := r.at()
			ok := r.value(&k, `"kind" to be a kind of target, such as mcp`)
			if ok && k != kind {
				r.problem(at, "a report of kind %q: expected one of kind %q", k, kind)
			}
			return ok
		case "findings", "known":
			return r.array(fmt.Sprintf("a list of findings in %q", name), func() bool { return r.reported(&known, false) })
		case "unconfirmed", "unreproduced":
			return r.array(fmt.Sprintf("a list of findings in %q", name), func() bool { return r.reported(&known, true) })
		}
		return r.skip()
	})
	if whole {
		r.end()
		for _, name := range strings.Fields("teasel kind findings") {
			if !seen[name] {
				r.problem(0, "%q is missing: expected %s", name, reportWanted)
			}
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems[0]
	}
	return known, nil
}

// reported reads a finding of a report.
func (r *reader) reported(known *[]Known, pending bool) bool {
	var f struct {
		ID       string          `json:"id"`
		Rule     string          `json:"rule"`
		Severity teasel.Severity `json:"severity"`
		Subject  string          `json:"subject"`
		Message  string          `json:"message"`
		Reason   string          `json:"reason"`
		Test     string          `json:"test"`
	}
	at, before := r.at(), len(r.problems)
	ok := r.value(&f, `a finding: {"id","rule","severity","subject","message",...}`)
	switch {
	case !ok || len(r.problems) > before:
	case !ValidID(f.ID):
		r.problem(at, `"id": %.40q: expected the id of a finding, 16 hexadecimal digits`, f.ID)
	case f.Reason == "":
		*known = append(*known, Known{f.ID, f.Rule, f.Severity, f.Subject, f.Message, f.Test, pending})
	}
	return ok
}
