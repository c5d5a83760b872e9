package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel"
)

const campaignVersion = 1

// sighted is how campaign.json names a finding.
type sighted struct {
	ID          string `json:"id"`
	Occurrences uint64 `json:"occurrences"`
}

// compact writes all that is known to campaign.json and starts a new journal. A kill in between leaves a journal of
// an earlier epoch, which is not read again. It must be called with the lock held.
func (d *Dir) compact() error {
	text, err := d.campaignText(d.epoch + 1)
	if err != nil {
		return fmt.Errorf("writing %s: %w", campaignName, err)
	}
	if err := replace(filepath.Join(d.path, campaignName), text, true); err != nil {
		return fmt.Errorf("writing %s: %w", campaignName, err)
	}
	d.epoch++
	j, err := startJournal(d.path, opening{Version: journalVersion, Epoch: d.epoch, Meta: &d.meta})
	if err != nil {
		return err
	}
	if d.journal != nil {
		d.journal.file.Close() // its records are in campaign.json
	}
	j.limit = 1<<20 + 2*int64(len(text))
	d.journal = j
	return nil
}

// campaignText lays campaign.json out with what must not be lost first and the testcases last, one a line.
func (d *Dir) campaignText(epoch int) ([]byte, error) {
	var b bytes.Buffer
	var failed error
	put := func(v any) {
		text, err := marshal(v)
		if err != nil && failed == nil {
			failed = err
		}
		b.Write(text)
	}
	fmt.Fprintf(&b, "{\n  \"teasel-campaign\": %d,\n  \"epoch\": %d", campaignVersion, epoch)
	field := func(name string, v any) {
		fmt.Fprintf(&b, ",\n  %q: ", name)
		put(v)
	}
	for _, f := range metaFields(&d.meta) {
		field(f.name, f.value)
	}
	if d.state.stopped != "" {
		field("stopped", d.state.stopped)
	}
	field("stats", newFigures(&d.state.stats))
	if len(d.state.unstable) > 0 {
		field("unstable", features{teasel.NewFeatureSet(d.state.unstable...)})
	}
	rows := func(name string, n int, row func(i int) any) {
		fmt.Fprintf(&b, ",\n  %q: [", name)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n    ")
			put(row(i))
		}
		b.WriteString("\n  ]")
	}
	workers, ids, kept := d.state.workers, d.state.ids(), d.state.kept()
	rows("workers", len(workers), func(i int) any { return worker(workers[i]) })
	rows("findings", len(ids), func(i int) any { return sighted{ids[i], d.state.counts[ids[i]]} })
	rows("entries", len(kept), func(i int) any { return newTestcase(kept[i]) })
	b.WriteString("\n}\n")
	return b.Bytes(), failed
}

// metaField is a field of campaign.json: its value to write, which is a pointer to read into.
type metaField struct {
	name  string
	value any
	want  string
}

func metaFields(m *Meta) []metaField {
	return []metaField{
		{"version", &m.Version, "a string"},
		{"kind", &m.Kind, "a kind of target, such as mcp"},
		{"name", &m.Name, "a string"},
		{"target", &m.Target, "the target"},
		{"options", &m.Options, "the options"},
		{"seed", &m.Seed, "a whole number"},
		{"extension", &m.Extension, "a string"},
		{"crashes", &m.Crashes, "a list of rules"},
		{"hangs", &m.Hangs, "a list of rules"},
		{"subjects", &m.Subjects, "a list of strings"},
		{"skipped", &m.Skipped, `a list of {"subject","reason"}`},
		{"blocked", &m.Blocked, "a list of strings"},
		{"afl", &m.AFL, "true or false"},
		{"build", &m.Build, "a string"},
		{"edges", &m.Edges, "a whole number"},
	}
}

// readCampaign reads campaign.json, as far as that goes.
func readCampaign(path string, m *Meta, s *state) (epoch int, problems []*Problem) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, []*Problem{{File: path, Text: "expected a campaign: " + err.Error(), Err: err}}
	}
	r := newReader(path, data)
	r.dec.DisallowUnknownFields() // in a testcase, one would be damage
	version, seen := 0, map[string]bool{}
	fields := metaFields(m)
	var stopped string
	whole := r.object("a campaign", func(name string) bool {
		seen[name] = true
		for _, f := range fields {
			if f.name == name {
				return r.value(f.value, fmt.Sprintf("%q to be %s", name, f.want))
			}
		}
		switch name {
		case "teasel-campaign":
			at := r.at()
			ok := r.value(&version, "the version of the format, 1")
			if ok && version != campaignVersion {
				r.problem(at, "version %d of the format: expected %d", version, campaignVersion).Err = ErrVersion
				return false
			}
			return ok
		case "epoch":
			return r.value(&epoch, `"epoch" to be a whole number`)
		case "stopped":
			return r.value(&stopped, `"stopped" to be a string`)
		}
		return r.state(name, s)
	})
	s.stopped = stopped
	if whole {
		r.end()
		for _, name := range []string{"teasel-campaign", "epoch", "kind", "stats", "workers", "findings", "entries"} {
			if !seen[name] {
				r.problem(0, "%q is missing", name)
			}
		}
	}
	return epoch, r.problems
}

// state reads a field of campaign.json that belongs to the state.
func (r *reader) state(name string, s *state) bool {
	switch name {
	case "stats":
		var f figures
		ok := r.value(&f, `"stats" to be the figures of a campaign`)
		s.stats = f.stats()
		return ok
	case "unstable":
		var fs features
		ok := r.value(&fs, `"unstable" to be features`)
		s.unstable = fs.Append(nil)
		return ok
	case "workers":
		return r.array("a list of workers", func() bool {
			var w worker
			ok := r.value(&w, `a worker: {"number","draws","executions"}`)
			s.workers = append(s.workers, teasel.WorkerState(w))
			return ok
		})
	case "findings":
		return r.array("a list of findings", func() bool {
			var f sighted
			ok := r.value(&f, `a finding: {"id","occurrences"}`)
			if f.ID != "" {
				s.counts[f.ID] = f.Occurrences
			}
			return ok
		})
	case "entries":
		return r.array("a list of testcases", func() bool { return r.testcase(s) })
	}
	return r.skip() // of a later version
}

func (r *reader) testcase(s *state) bool {
	at, before := r.at(), len(r.problems)
	var t testcase
	if !r.value(&t, `a testcase: {"key",...}`) {
		return false
	}
	switch {
	case len(r.problems) > before: // a half-read testcase is none; its file is still a seed
	case !plainKey(t.Key):
		r.problem(at, `expected the "key" of a testcase, not %.40q`, t.Key)
	default:
		s.add(t.entry())
	}
	return true
}
