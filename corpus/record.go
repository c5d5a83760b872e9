package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
)

// marshal encodes v as JSON on one line, without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// record is an event in the journal. Only some of its fields are set.
type record struct {
	Added       *testcase         `json:"added,omitempty"`
	Evicted     string            `json:"evicted,omitempty"`
	Found       string            `json:"found,omitempty"`
	Stats       *figures          `json:"stats,omitempty"`
	Workers     []worker          `json:"workers,omitempty"`
	Advances    []advance         `json:"advances,omitempty"`
	Occurrences map[string]uint64 `json:"occurrences,omitempty"` // of findings, by id
	Unstable    features          `json:"unstable,omitzero"`
	Stopped     string            `json:"stopped,omitempty"`
	Untested    string            `json:"untested,omitempty"`
	Folder      string            `json:"folder,omitempty"` // that holds the input of Found, such as crashes
	At          seconds           `json:"at,omitempty"`     // when Found was found
}

// testcase is a [teasel.Entry] without its bytes, which are in a file of their own.
type testcase struct {
	Key        string    `json:"key"`
	Parent     string    `json:"parent,omitempty"`
	Stage      string    `json:"stage,omitempty"`
	Complexity float64   `json:"complexity"`
	Work       uint64    `json:"work,omitempty"`
	Depth      int       `json:"depth,omitempty"`
	First      int       `json:"first,omitempty"`
	Step       uint64    `json:"step,omitempty"`
	Picked     uint64    `json:"picked,omitempty"`
	Execution  uint64    `json:"execution,omitempty"`
	Found      seconds   `json:"found"`
	LastPicked seconds   `json:"last_picked,omitempty"`
	Runs       uint32    `json:"runs,omitempty"`
	Note       []byte    `json:"note,omitempty"` // base64
	Features   features  `json:"features,omitzero"`
	Measures   []measure `json:"measures,omitempty"`
}

type measure struct {
	ID    uint32  `json:"id"`
	Value float64 `json:"value"`
}

func newTestcase(e *teasel.Entry) *testcase {
	t := &testcase{Key: e.Key, Parent: e.Parent, Stage: e.Stage, Complexity: finite(e.Complexity), Work: e.Work,
		Depth: e.Depth, First: e.First, Step: e.Step, Picked: e.Picked, Execution: e.Execution, Found: seconds(e.Found), LastPicked: seconds(e.LastPicked),
		Runs: e.Runs, Note: e.Note, Features: features{e.Features}}
	for _, m := range e.Measures {
		t.Measures = append(t.Measures, measure{m.ID, finite(m.Value)})
	}
	return t
}

func (t *testcase) entry() *teasel.Entry {
	e := &teasel.Entry{Key: t.Key, Parent: t.Parent, Stage: t.Stage, Complexity: t.Complexity, Work: t.Work,
		Depth: t.Depth, First: t.First, Step: t.Step, Picked: t.Picked, Execution: t.Execution, Found: time.Duration(t.Found), LastPicked: time.Duration(t.LastPicked),
		Runs: t.Runs, Note: t.Note, Features: t.Features.FeatureSet}
	for _, m := range t.Measures {
		e.Measures = append(e.Measures, teasel.Measure{ID: m.ID, Value: m.Value})
	}
	return e
}

// finite is v, or the nearest number that JSON can write.
func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, v))
}

type worker struct {
	Number     int    `json:"number"`
	Draws      uint64 `json:"draws"`
	Executions uint64 `json:"executions"`
}

// maxWorkers bounds the numbers of workers: the hub refuses others.
const maxWorkers = 1 << 16

const numberWanted = "expected a number from 0 to 65535"

func (w worker) numbered() bool { return w.Number >= 0 && w.Number < maxWorkers }

type advance struct {
	Key    string  `json:"key"`
	Step   uint64  `json:"step"`
	Picked uint64  `json:"picked"`
	At     seconds `json:"at,omitempty"`
}

// figures is [teasel.Stats] as it is written.
type figures struct {
	Elapsed    seconds             `json:"elapsed"`
	Executions uint64              `json:"executions"`
	Messages   uint64              `json:"messages,omitempty"`
	Corpus     int                 `json:"corpus"`
	Evicted    int                 `json:"evicted"`
	Features   int                 `json:"features"`
	Seeds      int                 `json:"seeds,omitempty"`
	SeedsRun   int                 `json:"seeds_run,omitempty"`
	Waiting    int                 `json:"waiting"`
	Pending    int                 `json:"pending,omitempty"`
	Findings   int                 `json:"findings"`
	Workers    int                 `json:"workers"`
	LastKept   seconds             `json:"last_kept"`
	LastFound  seconds             `json:"last_found"`
	Memory     uint64              `json:"memory"`
	Stability  float64             `json:"stability,omitempty"`
	Stages     []teasel.StageStats `json:"stages,omitempty"`
}

func newFigures(s *teasel.Stats) *figures {
	return &figures{Elapsed: seconds(s.Elapsed), Executions: s.Executions, Messages: s.Messages, Corpus: s.Corpus, Evicted: s.Evicted,
		Features: s.Features, Seeds: s.Seeds, SeedsRun: s.SeedsRun, Waiting: s.Waiting, Pending: s.Pending, Findings: s.Findings, Workers: s.Workers, LastKept: seconds(s.LastKept),
		LastFound: seconds(s.LastFound), Memory: s.Memory, Stability: s.Stability, Stages: s.Stages}
}

func (f *figures) stats() teasel.Stats {
	return teasel.Stats{Elapsed: time.Duration(f.Elapsed), Executions: f.Executions, Messages: f.Messages, Corpus: f.Corpus,
		Evicted: f.Evicted, Features: f.Features, Seeds: f.Seeds, SeedsRun: f.SeedsRun, Waiting: f.Waiting, Pending: f.Pending, Findings: f.Findings, Workers: f.Workers,
		LastKept: time.Duration(f.LastKept), LastFound: time.Duration(f.LastFound), Memory: f.Memory, Stability: f.Stability, Stages: f.Stages}
}

// features is written as one string of hexadecimal numbers: short, and exact for readers whose numbers are doubles.
type features struct{ teasel.FeatureSet }

func (fs features) MarshalText() ([]byte, error) {
	var b []byte
	for f := range fs.All() {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(f), 16)
	}
	return b, nil
}

func (fs *features) UnmarshalText(text []byte) error {
	var list []teasel.Feature
	for w := range strings.FieldsSeq(string(text)) {
		n, err := strconv.ParseUint(w, 16, 64)
		if err != nil {
			return fmt.Errorf("feature %q: expected a hexadecimal number", w)
		}
		list = append(list, teasel.Feature(n))
	}
	fs.FeatureSet = teasel.NewFeatureSet(list...)
	return nil
}

// seconds is a duration, written as a decimal number of seconds that is exact to the nanosecond.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	sign, n := "", uint64(s)
	if s < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%s%d.%09d", sign, n/1e9, n%1e9)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}

func (s *seconds) UnmarshalJSON(text []byte) error {
	d, err := time.ParseDuration(string(text) + "s")
	if err != nil {
		return fmt.Errorf("%.20q: expected a number of seconds", text)
	}
	*s = seconds(d)
	return nil
}
