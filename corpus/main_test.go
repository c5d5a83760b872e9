package corpus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// TestMain runs the test binary as another process that writes to a campaign, when it is asked to be one.
func TestMain(m *testing.M) {
	switch os.Getenv("CORPUS_TEST_CHILD") {
	case "writer":
		writerChild(os.Getenv("CORPUS_TEST_DIR"))
	case "holder":
		holderChild(os.Getenv("CORPUS_TEST_DIR"))
	default:
		os.Exit(m.Run())
	}
}

func testMeta() Meta {
	return Meta{Version: "1.2.3", Kind: "mcp", Name: "node server.js", Target: []byte(`{"command":["node","server.js"]}`),
		Options: []byte(`{"profile":"ci"}`), Seed: 1<<63 + 1, Extension: ".json", Directory: "/src/project",
		Subjects: []string{"tools/call echo"}, Skipped: []Skip{{"tools/call <odd>", "schema cannot be met"}},
		Blocked: []string{"delete_all"}}
}

func create(t *testing.T) *Dir {
	t.Helper()
	d, err := Create(t.TempDir(), testMeta())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func report(t *testing.T, d *Dir, events ...teasel.Event) {
	t.Helper()
	for _, e := range events {
		if err := d.Report(e); err != nil {
			t.Fatalf("%v: %v", e.Kind, err)
		}
	}
}

func snapshot(t *testing.T, d *Dir) (teasel.Snapshot, []*Problem) {
	t.Helper()
	s, problems, err := d.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, problems
}

func entry(data string, features ...teasel.Feature) teasel.Entry {
	return teasel.Entry{Key: teasel.Key([]byte(data)), Data: []byte(data), Features: teasel.NewFeatureSet(features...), Complexity: float64(len(data)),
		Runs: min(uint32(len(features)), 1)}
}

func added(data string, features ...teasel.Feature) teasel.Event {
	return teasel.Event{Kind: teasel.EventAdded, Entry: entry(data, features...)}
}

func found(rule, subject, input string) teasel.Event {
	return teasel.Event{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: rule, Severity: teasel.High, Subject: subject,
		Message: "it <broke> & stopped", Input: []byte(input), Stable: 3, Tries: 3, Occurrences: 1}}
}

func progress(elapsed time.Duration, executions uint64) teasel.Event {
	return teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: elapsed, Executions: executions}}
}

// fill sets every field of a value to something that is not zero, so that a field that is forgotten when it is
// written or read shows.
func fill(r *rand.Rand, v reflect.Value) {
	if v.Type() == reflect.TypeFor[teasel.FeatureSet]() {
		v.Set(reflect.ValueOf(teasel.NewFeatureSet(teasel.Feature(r.Uint64()), teasel.Feature(r.Uint64()))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1 + r.Int64N(1<<40))
	case reflect.Uint8:
		v.SetUint(1 + r.Uint64N(200))
	case reflect.Uint, reflect.Uint16, reflect.Uint32:
		v.SetUint(1 + r.Uint64N(1<<15))
	case reflect.Uint64:
		v.SetUint(r.Uint64() | 1<<63)
	case reflect.Float64:
		v.SetFloat(1 + r.Float64())
	case reflect.String:
		v.SetString(fmt.Sprintf("<%x>", r.Uint32()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Unsaved" { // never stored
				fill(r, v.Field(i))
			}
		}
	case reflect.Func: // never stored
	default:
		panic("cannot fill " + v.Type().String())
	}
}

func filled[T any](r *rand.Rand) (v T) {
	fill(r, reflect.ValueOf(&v).Elem())
	return v
}
