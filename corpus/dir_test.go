package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// What one process wrote, the next one has in all its fields.
func TestResumeHasEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := create(t)
	want := teasel.Snapshot{Workers: filled[[]teasel.WorkerState](r)}
	want.Workers[0].Number, want.Workers[1].Number = 0, 1
	for range 3 {
		e := filled[teasel.Entry](r)
		e.Key = teasel.Key(e.Data)
		want.Entries = append(want.Entries, e)
		report(t, d, teasel.Event{Kind: teasel.EventAdded, Entry: e})
	}
	f := filled[teasel.Finding](r)
	f.Severity, f.Complexity = teasel.Critical, 0 // which is not written
	want.Findings = []teasel.Finding{f}
	report(t, d, teasel.Event{Kind: teasel.EventFound, Finding: f})
	stats := filled[teasel.Stats](r)
	stats.Corpus, stats.Findings = 3, 1
	want.Elapsed, want.Executions, want.Messages, want.Evicted, want.Stages = stats.Elapsed, stats.Executions, stats.Messages, stats.Evicted, stats.Stages
	want.Waiting, want.LastKept, want.LastFound = stats.Waiting, stats.LastKept, stats.LastFound
	want.Entries[1].Step, want.Entries[1].Picked, want.Entries[1].LastPicked = 77, 88, 99
	want.Unstable = []teasel.Feature{3, 1 << 63}
	report(t, d, teasel.Event{Kind: teasel.EventProgress, Stats: stats, Workers: want.Workers, Unstable: []teasel.Feature{1 << 63, 3},
		Advances: []teasel.Advance{{Key: want.Entries[1].Key, Step: 77, Picked: 88, At: 99}}})
	meta, path := d.Meta(), d.Path()

	check := func(name string, d *Dir) {
		t.Helper()
		got, problems := snapshot(t, d)
		for _, p := range problems {
			t.Errorf("%s: problem: %v", name, p)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		if !reflect.DeepEqual(d.Meta(), meta) {
			t.Errorf("%s: meta\n got %+v\nwant %+v", name, d.Meta(), meta)
		}
		if got := d.Summary().Stats; !reflect.DeepEqual(got, stats) {
			t.Errorf("%s: stats\n got %+v\nwant %+v", name, got, stats)
		}
	}
	view, err := OpenReadOnly(path) // campaign.json is empty as yet, the journal has it all
	if err != nil {
		t.Fatal(err)
	}
	check("from the journal", view)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(path); err != nil {
		t.Fatal(err)
	}
	check("from campaign.json", d)
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestMetaHasEveryField(t *testing.T) {
	want := filled[Meta](rand.New(rand.NewPCG(3, 4)))
	want.Extension = ".x"
	want.Target, want.Options = []byte(`{"a":"<b>"}`), []byte(`[1]`)
	d := create(t)
	if err := d.change(want, func() {}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	for _, lost := range []string{"", journalName, campaignName} {
		whole := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(whole, os.DirFS(d.Path())); err != nil {
			t.Fatal(err)
		}
		if lost != "" {
			os.Remove(filepath.Join(whole, lost))
		}
		view, err := OpenReadOnly(whole)
		if err != nil {
			t.Fatalf("without %q: %v", lost, err)
		}
		if got := view.Meta(); !reflect.DeepEqual(got, want) {
			t.Errorf("without %q:\n got %+v\nwant %+v", lost, got, want)
		}
	}
}

// Of another target nothing is known but the testcases themselves, and those that it takes are known again.
func TestRenew(t *testing.T) {
	d := create(t)
	a, b := added("a", 1), added("b", 2)
	report(t, d, a, b)
	m := d.Meta()
	m.Build = "another"
	if err := d.Renew(m); err != nil {
		t.Fatal(err)
	}
	report(t, d, b)
	path := d.Path()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	view, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	s, problems, err := view.Snapshot(nil)
	if err != nil || len(problems) > 0 || len(s.Entries) != 2 {
		t.Fatalf("%d entries, %v, %v", len(s.Entries), problems, err)
	}
	if first, second := s.Entries[0].Features.Len(), s.Entries[1].Features.Len(); first != 0 || second == 0 {
		t.Errorf("%d and %d features, want none and some", first, second)
	}
	if got := view.Meta().Build; got != "another" {
		t.Errorf("build %q", got)
	}
}

func TestLayout(t *testing.T) {
	d := create(t)
	if err := d.WriteSeed(Valid, "tools/call echo", []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.WriteSeed(EdgeCases, "../../etc", []byte(`1`)), d.WriteSeed(EdgeCases, "../../etc", []byte(`2`))); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteSeed("elsewhere", "x", nil); err == nil {
		t.Error("a seed went elsewhere")
	}
	a, b := added("a", 1), added("b", 2)
	crash, hang, other := found("mcp/server-crash", "x", "{}"), found("mcp/hang", "y", "[]"), found("mcp/leak", "z", "[1]")
	report(t, d, a, b, teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: a.Entry.Key}}, crash, hang, other,
		progress(time.Second, 10), teasel.Event{Kind: teasel.EventNote, Text: "hello"})
	if err := d.Report(teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: "../x"}}); err == nil {
		t.Error("a key that leads out of the directory was taken")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	filepath.WalkDir(d.Path(), func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(d.Path(), p)
			got = append(got, rel)
		}
		return err
	})
	want := []string{"campaign.json", "crashes/" + crash.Finding.ID() + ".json", "findings/" + crash.Finding.ID() + ".json",
		"findings/" + hang.Finding.ID() + ".json", "findings/" + other.Finding.ID() + ".json", "fuzzer_stats",
		"hangs/" + hang.Finding.ID() + ".json", "interesting/" + b.Entry.Key + ".json", "journal", "lock", "plot_data",
		"seeds/edge_cases/etc-" + teasel.Key([]byte("2")) + ".json", "seeds/edge_cases/etc.json",
		"seeds/valid/tools-call-echo.json", "stats.csv"}
	seen := map[string]bool{}
	for _, g := range got {
		seen[g] = true
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no %s", w)
		}
		delete(seen, w)
	}
	for g := range seen {
		t.Errorf("unexpected %s", g)
	}
	if in, _ := os.ReadFile(filepath.Join(d.Path(), Crashes, crash.Finding.ID()+".json")); string(in) != "{}" {
		t.Errorf("crash input %q", in)
	}
}

// A finding is whole on disk when Report returns, and better confirmation and later counts find their way there.
func TestFindingIsUpdated(t *testing.T) {
	d := create(t)
	e := found("r", "s", "{}")
	report(t, d, e)
	if f, err := ReadFinding(d.FindingPath(e.Finding.ID())); err != nil || !reflect.DeepEqual(f.Finding, e.Finding) {
		t.Fatalf("%+v, %v", f, err)
	}
	e.Finding.Stable, e.Finding.Tries = 5, 5
	report(t, d, e)
	counted := e.Finding
	counted.Occurrences = 1234
	report(t, d, teasel.Event{Kind: teasel.EventProgress, Sightings: []teasel.Sighting{{ID: counted.ID(), Times: 1234}}})
	if view, err := OpenReadOnly(d.Path()); err != nil || view.Summary().Findings[0].Occurrences != 1234 {
		t.Errorf("while it runs: %+v, %v", view.Summary().Findings, err)
	}
	if err := d.Finish(teasel.Summary{Stopped: "runs", Findings: []teasel.Finding{counted}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err := ReadFinding(d.FindingPath(e.Finding.ID())); err != nil || !reflect.DeepEqual(f.Finding, counted) {
		t.Errorf("%+v, %v", f, err)
	}
	view, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s := view.Summary(); s.Stopped != "runs" || len(s.Findings) != 1 || s.Findings[0].Occurrences != 1234 {
		t.Errorf("summary %+v", s)
	}
	if err := view.Report(e); err == nil {
		t.Error("a read-only directory was written to")
	}
	if err := d.Report(e); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("writing after Close: %v", err)
	}
}

// When the journal has grown, campaign.json is written anew, and nothing changes for a reader.
func TestCompaction(t *testing.T) {
	d := create(t)
	many := make([]teasel.Feature, 1000)
	for i := range many {
		many[i] = teasel.Feature(i+1) << 40
	}
	const n = 200
	for i := range n {
		report(t, d, added(strconv.Itoa(i), many...))
	}
	if d.epoch < 2 {
		t.Errorf("epoch %d after %d entries", d.epoch, n)
	}
	view, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	s, problems := snapshot(t, view)
	if len(s.Entries) != n || len(problems) > 0 {
		t.Errorf("%d entries, problems %v", len(s.Entries), problems)
	}
	for i, e := range s.Entries {
		if string(e.Data) != strconv.Itoa(i) || e.Features.Len() != len(many) {
			t.Fatalf("entry %d: %q with %d features", i, e.Data, e.Features.Len())
		}
	}
}

// A directory that somebody else made cannot send files elsewhere.
func TestExtensionStays(t *testing.T) {
	for _, ext := range []string{"json", "./../x", "/../x", "."} {
		m := testMeta()
		m.Extension = ext
		if _, err := Create(t.TempDir(), m); err == nil {
			t.Errorf("%q was taken", ext)
		}
	}
	d := create(t)
	d.Close()
	path := filepath.Join(d.Path(), campaignName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, []byte(strings.Replace(string(text), `".json"`, `"/../../x"`, 1)), 0o644)
	d, err = Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	report(t, d, added("a", 1))
	if _, problems := snapshot(t, d); len(problems) != 1 || !strings.Contains(problems[0].Error(), "campaign.json: extension \"/../../x\": expected a dot") {
		t.Errorf("problems %v", problems)
	}
	if _, err := os.Stat(filepath.Join(d.Path(), Interesting, teasel.Key([]byte("a")))); err != nil {
		t.Error(err)
	}
}

func TestCreateTwice(t *testing.T) {
	d := create(t)
	if _, err := Create(d.Path(), testMeta()); !errors.Is(err, ErrLocked) {
		t.Errorf("while it runs: %v", err)
	}
	d.Close()
	if _, err := Create(d.Path(), testMeta()); !errors.Is(err, ErrExists) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := OpenReadOnly(filepath.Join(d.Path(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// A campaign is not created in a directory with other files: later it may be renamed or deleted as a whole.
func TestCreateAmongOtherFiles(t *testing.T) {
	for _, name := range []string{"letter.txt", "corpus/x", "findings.txt"} {
		path := t.TempDir()
		file := filepath.Join(path, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadDir(path)
		_, err := Create(path, testMeta())
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), before[0].Name()) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadDir(path); len(after) != 1 {
			t.Errorf("%s: there are %d files afterwards", name, len(after))
		}
	}
	path := t.TempDir()
	if err := os.MkdirAll(filepath.Join(path, Valid), 0o755); err != nil {
		t.Fatal(err)
	}
	half := temporary(filepath.Join(path, campaignName)) // of a kill while it was made
	if err := os.WriteFile(half, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Create(path, testMeta())
	if err != nil {
		t.Fatalf("with seeds of its own: %v", err)
	}
	d.Close()
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was half written is still there: %v", err)
	}
}

// A disk that takes no more is an error of ours, not a finding lost silently.
func TestReportFails(t *testing.T) {
	d := create(t)
	for _, f := range []string{Findings, Interesting} {
		if err := os.Remove(filepath.Join(d.Path(), f)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path(), f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Report(found("r", "s", "{}")); err == nil {
		t.Error("a finding that could not be written was announced")
	}
	if err := d.Report(added("a", 1)); err == nil {
		t.Error("a testcase that could not be written was taken")
	}
}

func child(t *testing.T, role, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CORPUS_TEST_CHILD="+role, "CORPUS_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func holderChild(dir string) {
	if _, err := Create(dir, testMeta()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("locked")
	time.Sleep(time.Minute)
}

// A live process keeps others out and is named; a dead one does not.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	cmd, out := child(t, "holder", dir)
	if !out.Scan() {
		t.Fatal("the other process did not lock")
	}
	_, err := Open(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", cmd.Process.Pid)) {
		t.Errorf("while pid %d runs: %v", cmd.Process.Pid, err)
	}
	if view, err := OpenReadOnly(dir); err != nil || !view.live() {
		t.Errorf("looking on: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	d, err := Open(dir)
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	d.Close()
}

// What a removal has left that was killed before its end is removed by the next one.
func TestRemove(t *testing.T) {
	for name, left := range map[string][]string{"all": nil, "half": {"journal", "queue"}, "what says that it is a campaign": {"journal", "queue", "findings"}} {
		path := filepath.Join(t.TempDir(), "out")
		d, err := Create(path, Meta{Kind: "go"})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Finish(teasel.Summary{}); err != nil {
			t.Fatal(err)
		}
		for _, gone := range left {
			if err := os.RemoveAll(filepath.Join(path, gone)); err != nil {
				t.Fatal(err)
			}
		}
		if !IsCampaign(path) {
			t.Errorf("%s: what is left is no campaign", name)
		}
		if err := Remove(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it is still there: %v", name, err)
		}
	}
}
