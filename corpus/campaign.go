package corpus

import (
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/teaselfuzz/teasel"
)

const campaignVersion = 1

// findingCount is how campaign.json names a finding.
type findingCount struct {
	ID          string `json:"id"`
	Occurrences uint64 `json:"occurrences"`
}

// campaignText writes campaign.json: first the fields that matter most if it is cut off, the testcases last, one a line.
func campaignText(w io.Writer, m *Meta, s *state, epoch int) error {
	b := &fieldWriter{w: w}
	b.write(fmt.Appendf(nil, "{\n  \"teasel-campaign\": %d,\n  \"epoch\": %d", campaignVersion, epoch), nil)
	for _, f := range metaFields(m) {
		b.field(f.name, f.value)
	}
	if s.stopped != "" {
		b.field("stopped", s.stopped)
	}
	if s.untested != "" {
		b.field("untested", s.untested)
	}
	b.field("stats", newFigures(&s.stats))
	if len(s.last) > 0 {
		b.field("last", s.last)
	}
	if len(s.unstable) > 0 {
		b.field("unstable", features{teasel.NewFeatureSet(s.unstable...)})
	}
	b.rows("workers", func(yield func(any) bool) {
		for _, w := range s.workers {
			if !yield(worker(w)) {
				return
			}
		}
	})
	b.rows("findings", func(yield func(any) bool) {
		for _, id := range s.ids() {
			if !yield(findingCount{id, s.counts[id]}) {
				return
			}
		}
	})
	b.rows("entries", func(yield func(any) bool) {
		for e := range s.kept() {
			if !yield(newTestcase(e)) {
				return
			}
		}
	})
	b.write([]byte("\n}\n"), nil)
	return b.err
}

// fieldWriter writes the fields of an object in JSON, a list a row a line, until something fails.
type fieldWriter struct {
	w   io.Writer
	err error
}

func (b *fieldWriter) write(text []byte, err error) {
	if b.err == nil && err == nil {
		_, err = b.w.Write(text)
	}
	if b.err == nil {
		b.err = err
	}
}

func (b *fieldWriter) field(name string, v any) {
	b.write(fmt.Appendf(nil, ",\n  %q: ", name), nil)
	b.write(marshal(v))
}

func (b *fieldWriter) rows(name string, rows iter.Seq[any]) {
	b.write(fmt.Appendf(nil, ",\n  %q: [", name), nil)
	between := "\n    "
	for row := range rows {
		b.write([]byte(between), nil)
		b.write(marshal(row))
		between = ",\n    "
	}
	b.write([]byte("\n  ]"), nil)
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
		{"directory", &m.Directory, "a string"},
		{"extension", &m.Extension, "a string"},
		{"crashes", &m.Crashes, "a list of rules"},
		{"hangs", &m.Hangs, "a list of rules"},
		{"subjects", &m.Subjects, "a list of strings"},
		{"skipped", &m.Skipped, `a list of {"subject","reason"}`},
		{"blocked", &m.Blocked, "a list of strings"},
		{"library", &m.Library, "a string"},
		{"afl", &m.AFL, "true or false"},
		{"build", &m.Build, "a string"},
		{"edges", &m.Edges, "a whole number"},
	}
}

// readCampaign reads campaign.json as far as it is valid.
func readCampaign(path string, m *Meta, s *state) (epoch int, problems []*Problem) {
	data, err := readRegular(path, math.MaxInt64)
	if err != nil {
		return 0, []*Problem{{File: path, Text: "expected a campaign: " + err.Error(), Err: err}}
	}
	r := newReader(path, data)
	r.dec.DisallowUnknownFields() // in a testcase, one would be damage
	version, seen := 0, map[string]bool{}
	fields := metaFields(m)
	var stopped, untested string
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
		case "untested":
			return r.value(&untested, `"untested" to be a string`)
		}
		return r.state(name, s)
	})
	s.stopped, s.untested = stopped, untested
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
	case "last":
		return r.value(&s.last, `"last" to be times by folder`)
	case "unstable":
		var fs features
		ok := r.value(&fs, `"unstable" to be features`)
		s.unstable = fs.Append(nil)
		return ok
	case "workers":
		return r.array("a list of workers", func() bool {
			at, before := r.at(), len(r.problems)
			var w worker
			ok := r.value(&w, `a worker: {"number","draws","executions"}`)
			switch {
			case len(r.problems) > before:
			case !w.numbered():
				r.problem(at, "worker %d: %s", w.Number, numberWanted)
			default:
				s.workers = append(s.workers, teasel.WorkerState(w))
			}
			return ok
		})
	case "findings":
		return r.array("a list of findings", func() bool {
			var f findingCount
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
