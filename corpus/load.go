package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// load reads campaign.json, the journals and the findings. Problems that leave the rest usable go to d.problems; an error means
// that not even the kind of the target is known.
func (d *Dir) load() error {
	// A running campaign may replace the files between our reads.
	for range 3 {
		d.meta, d.state, d.problems = Meta{}, newState(), nil
		epoch, problems := readCampaign(filepath.Join(d.path, campaignName), &d.meta, &d.state)
		d.epoch, d.problems = epoch, problems
		previous := d.replay(previousName, true)
		last := d.replay(journalName, previous > 0)
		whole := last <= epoch || previous >= epoch && last <= previous+1
		if whole || !d.readOnly || len(problems) > 0 {
			break
		}
	}
	if d.meta.Kind == "" {
		for _, p := range d.problems {
			return fmt.Errorf("opening a campaign: %w", p)
		}
		return fmt.Errorf("opening a campaign: %w",
			&Problem{File: filepath.Join(d.path, campaignName), Line: 1, Text: `"kind" is missing`})
	}
	for _, p := range d.problems {
		if errors.Is(p, ErrVersion) {
			return fmt.Errorf("opening a campaign: %w", p)
		}
	}
	if err := d.meta.check(); err != nil {
		d.note(&Problem{File: filepath.Join(d.path, campaignName), Text: err.Error(), Err: err})
		d.meta.Extension = ""
	}
	d.state.workers = byNumber(d.state.workers)
	d.loadFindings()
	return nil
}

// byNumber returns the states of workers as the engine takes them, worker n at n: one that is missing begins anew, and of two with
// the same number the one that has drawn more counts.
func byNumber(workers []teasel.WorkerState) (ws []teasel.WorkerState) {
	for _, w := range workers {
		for len(ws) <= w.Number {
			ws = append(ws, teasel.WorkerState{Number: len(ws)})
		}
		if w.Draws >= ws[w.Number].Draws {
			ws[w.Number] = w
		}
	}
	return ws
}

// replay applies a journal, unless campaign.json is later. It returns the journal's epoch; 0: there is none.
func (d *Dir) replay(name string, optional bool) int {
	path := filepath.Join(d.path, name)
	data, err := readRegular(path, math.MaxInt64)
	if errors.Is(err, fs.ErrNotExist) && optional {
		return 0
	}
	if err != nil {
		d.note(&Problem{File: path, Text: "expected a journal: " + err.Error(), Err: err})
		return 0
	}
	var o opening
	first := true
	good, wrong := frames(data, func(text []byte, offset int64) {
		if first {
			first = false
			if json.Unmarshal(text, &o) != nil || o.Version != journalVersion {
				o = opening{}
				d.note(&Problem{File: path, Line: 1, Text: `expected the opening of a journal: {"teasel-journal":1,...}`})
				return
			}
			if d.meta.Kind == "" && o.Meta != nil {
				d.meta = *o.Meta
			}
			return
		}
		if o.Version == 0 || o.Epoch < d.epoch {
			return
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			d.note(&Problem{File: path, Line: line(data, offset), Offset: offset, Text: "expected a record: " + err.Error()})
			return
		}
		if r.Added == nil || plainKey(r.Added.Key) {
			r.Workers = slices.DeleteFunc(r.Workers, func(w worker) bool {
				if !w.numbered() {
					d.note(&Problem{File: path, Line: line(data, offset), Offset: offset, Text: fmt.Sprintf("worker %d: %s", w.Number, numberWanted)})
				}
				return !w.numbered()
			})
			d.state.apply(&r)
		}
	})
	if wrong != "" && !(d.readOnly && d.live()) { // a live one may be writing just now
		d.note(&Problem{File: path, Line: line(data, good), Offset: good,
			Text: fmt.Sprintf("%s; the %d bytes before it are used, the %d from there on are not", wrong, good, int64(len(data))-good)})
	}
	d.epoch = max(d.epoch, o.Epoch)
	return o.Epoch
}

func (d *Dir) note(p *Problem) { d.problems = append(d.problems, p) }

// live reports whether the process that last locked the directory may still run.
func (d *Dir) live() bool {
	f, err := os.Open(filepath.Join(d.path, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	pid := holder(f)
	return pid > 0 && alive(pid)
}

// readFindings reads the files of findings in a folder. broken has the names of those that cannot be read, without extension.
func (d *Dir) readFindings(folder string) (read []teasel.Finding, broken map[string]bool) {
	dir := filepath.Join(d.path, folder)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.note(&Problem{File: dir, Text: "expected a directory of findings: " + err.Error(), Err: err})
	}
	broken = map[string]bool{}
	for _, file := range files {
		name := file.Name()
		if strings.HasPrefix(name, ".") || filepath.Ext(name) != ".json" {
			continue
		}
		path := filepath.Join(dir, name)
		if file.IsDir() {
			broken[strings.TrimSuffix(name, ".json")] = true
			d.note(&Problem{File: path, Text: "is a directory: expected a finding"})
			continue
		}
		f, err := ReadFinding(path)
		if err != nil {
			broken[strings.TrimSuffix(name, ".json")] = true
			p, ok := errors.AsType[*Problem](err)
			if !ok {
				p = &Problem{File: path, Text: err.Error(), Err: err}
			}
			d.note(p)
			continue
		}
		read = append(read, f.Finding)
	}
	return read, broken
}

// loadFindings reads the findings. A file counts even where campaign.json and the journals do not mention it.
func (d *Dir) loadFindings() {
	confirmed, broken := d.readFindings(Findings)
	for _, f := range confirmed {
		id := f.ID()
		d.state.counts[id] = max(d.state.counts[id], f.Occurrences)
		f.Occurrences = d.state.counts[id]
		d.state.findings[id] = &f
	}
	for _, id := range d.state.ids() {
		if d.state.findings[id] == nil {
			if !broken[id] {
				p := d.FindingPath(id)
				d.note(&Problem{File: p, Text: "is missing: expected a finding", Err: fs.ErrNotExist})
			}
			delete(d.state.counts, id)
		}
	}
	unconfirmed, _ := d.readFindings(Unconfirmed)
	d.notConfirmed = map[string]teasel.Finding{}
	for _, f := range unconfirmed {
		if id := f.ID(); d.state.findings[id] == nil {
			d.notConfirmed[id] = f
		}
	}
}

// backupBroken copies broken files that are about to be replaced, so that a person can look at them. The broken file itself stays
// until it is replaced: nothing else has its content.
func (d *Dir) backupBroken() error {
	for _, name := range []string{campaignName, previousName, journalName} {
		path := filepath.Join(d.path, name)
		if !slices.ContainsFunc(d.problems, func(p *Problem) bool { return p.File == path }) {
			continue
		}
		data, err := readRegular(path, math.MaxInt64)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = replace(path+".broken", data, true)
		}
		if err != nil {
			return fmt.Errorf("copying a broken file: %w", err)
		}
	}
	return nil
}

// Snapshot returns what a campaign needs to carry on, and the problems of the directory. Broken files are left out. Unknown
// files in interesting/, which a user has put there, are seeds if check returns nil for them, and problems otherwise; a nil
// check takes all of them.
func (d *Dir) Snapshot(check func(data []byte) error) (teasel.Snapshot, []*Problem, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := &d.state
	s := teasel.Snapshot{Elapsed: st.stats.Elapsed, Executions: st.stats.Executions, Messages: st.stats.Messages, Workers: slices.Clone(st.workers),
		Waiting: st.stats.Waiting, Evicted: st.stats.Evicted, Findings: d.findings(), Untried: d.untried(), Stages: slices.Clone(st.stats.Stages),
		LastKept: st.stats.LastKept, LastFound: st.stats.LastFound, Unstable: slices.Sorted(slices.Values(st.unstable))}
	problems := slices.Clone(d.problems)
	seen := map[string]bool{}
	for e := range st.kept() {
		path := d.entryPath(e.Key)
		seen[filepath.Base(path)] = true
		data, err := readTestcase(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && d.readOnly && d.live(): // evicted meanwhile
		case err != nil:
			problems = append(problems, &Problem{File: path, Text: "expected a testcase: " + err.Error(), Err: err})
		case teasel.Key(data) != e.Key:
			problems = append(problems, misnamed(path, data))
		default:
			entry := *e
			entry.Data = data
			s.Entries = append(s.Entries, entry)
		}
	}
	more, bad, err := d.unknownFiles(seen, s.Entries, check)
	s.Entries = append(s.Entries, more...)
	return s, append(problems, bad...), err
}

func misnamed(path string, data []byte) *Problem {
	return &Problem{File: path, Text: fmt.Sprintf("does not match its name: expected the content %s, found that of %s (%d bytes)",
		strings.SplitN(filepath.Base(path), ".", 2)[0], teasel.Key(data), len(data))}
}

// unknownFiles returns the files in interesting/ that are not among those seen.
func (d *Dir) unknownFiles(seen map[string]bool, known []teasel.Entry, check func([]byte) error) (es []teasel.Entry, bad []*Problem, err error) {
	dir := filepath.Join(d.path, Interesting)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("loading the corpus: %w", err)
	}
	keys := map[string]bool{}
	for i := range known {
		keys[known[i].Key] = true
	}
	for _, f := range files {
		if seen[f.Name()] || strings.HasPrefix(f.Name(), ".") || !f.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, f.Name())
		stem := strings.TrimSuffix(f.Name(), d.meta.Extension)
		read := readInput
		if ValidID(stem) { // a testcase that campaign.json no longer mentions, since it is damaged
			read = readTestcase
		}
		data, err := read(path)
		if err != nil {
			bad = append(bad, &Problem{File: path, Text: "expected a testcase: " + err.Error(), Err: err})
			continue
		}
		key := teasel.Key(data)
		if stem != key && len(stem) == len(key) && plainKey(stem) {
			bad = append(bad, misnamed(path, data))
			continue
		}
		if check != nil {
			if err := check(data); err != nil {
				bad = append(bad, &Problem{File: path, Text: "is no input: " + err.Error(), Err: err})
				continue
			}
		}
		if !keys[key] {
			keys[key] = true
			es = append(es, teasel.Entry{Key: key, Data: data})
		}
	}
	return es, bad, nil
}

// findings returns the findings, worst first.
func (d *Dir) findings() []teasel.Finding {
	var fs []teasel.Finding
	for id, f := range d.state.findings {
		c := *f
		c.Occurrences = max(c.Occurrences, d.state.counts[id])
		fs = append(fs, c)
	}
	slices.SortFunc(fs, func(a, b teasel.Finding) int { return a.Compare(&b) })
	return fs
}

// unconfirmedFindings returns the findings that are unconfirmed, worst first.
func (d *Dir) unconfirmedFindings() []teasel.Finding {
	return slices.SortedFunc(maps.Values(d.notConfirmed), func(a, b teasel.Finding) int { return a.Compare(&b) })
}

// untried returns those of them that no run has had the time to reproduce.
func (d *Dir) untried() []teasel.Finding {
	return slices.DeleteFunc(d.unconfirmedFindings(), func(f teasel.Finding) bool { return f.Tries > 0 })
}

// Untested says why what the campaign was for was not tested when it ended; "": it was, or the campaign goes on.
func (d *Dir) Untested() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.untested
}

// Summary returns the outcome of the campaign so far, as recorded in the directory. Unconfirmed has the findings that no run has had
// the time to reproduce, and those that were not reproduced.
func (d *Dir) Summary() teasel.Summary {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := teasel.Summary{Stats: d.state.stats, Findings: d.findings(), Unconfirmed: d.unconfirmedFindings(), Stopped: d.state.stopped}
	s.Corpus, s.Stats.Findings = len(d.state.at), len(s.Findings)
	s.Stages = slices.Clone(s.Stages)
	return s
}
