package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// campaign writes a campaign with a few of everything and returns where; when open, the journal has it all.
func campaign(t *testing.T, closed bool) (dir string, keys []string) {
	t.Helper()
	d := create(t)
	for i := range 4 {
		e := added(fmt.Sprintf(`{"n":%d}`, i), teasel.Feature(i+1))
		keys = append(keys, e.Entry.Key)
		report(t, d, e)
	}
	p := progress(time.Second, 99)
	p.Workers = []teasel.WorkerState{{Number: 0, Draws: 5}}
	report(t, d, found("mcp/server-crash", "a", "{}"), found("mcp/hang", "b", "[]"), p)
	dir = filepath.Join(t.TempDir(), "copy")
	if closed {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(d.Path())); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, lockName)) // or a copy of a running one would pass for running
	return dir, keys
}

// known returns the keys that came back with features, and how many came back without.
func known(s teasel.Snapshot) (keys []string, bare int) {
	for _, e := range s.Entries {
		if e.Features.Len() > 0 {
			keys = append(keys, e.Key)
		} else {
			bare++
		}
	}
	return keys, bare
}

// Wherever a journal is cut off, what is before it is used, no file is lost, and the damage is reported.
func TestJournalCutOff(t *testing.T) {
	dir, keys := campaign(t, false)
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[int]bool{0: true}
	frames(whole, func(text []byte, offset int64) { ends[int(offset)+frameHeaderSize+len(text)+1] = true })
	most := 0
	for cut := range len(whole) {
		os.WriteFile(path, whole[:cut], 0o644)
		d, err := OpenReadOnly(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		s, problems := snapshot(t, d)
		got, bare := known(s)
		if !slices.Equal(got, keys[:len(got)]) || len(got)+bare != len(keys) || len(got) < most {
			t.Fatalf("cut at %d: %q and %d bare", cut, got, bare)
		}
		most = len(got)
		if len(s.Findings) != 2 {
			t.Fatalf("cut at %d: %d findings", cut, len(s.Findings))
		}
		if (len(problems) == 0) != ends[cut] {
			t.Fatalf("cut at %d, a border: %v: problems %v", cut, ends[cut], problems)
		}
		if len(problems) > 0 && (problems[0].File != path || !strings.Contains(problems[0].Error(), "cut off")) {
			t.Fatalf("cut at %d: %v", cut, problems[0])
		}
	}
	if most != len(keys) {
		t.Errorf("the longest journal gave %d entries", most)
	}
}

func TestJournalGarbled(t *testing.T) {
	dir, keys := campaign(t, false)
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 3 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x15
		os.WriteFile(path, bad, 0o644)
		d, err := OpenReadOnly(dir)
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		s, problems := snapshot(t, d)
		got, bare := known(s)
		if !slices.Equal(got, keys[:len(got)]) || len(got)+bare != len(keys) || len(s.Findings) != 2 {
			t.Fatalf("byte %d: %q and %d bare, %d findings", at, got, bare, len(s.Findings))
		}
		if len(problems) != 1 || problems[0].Line == 0 || problems[0].File != path {
			t.Fatalf("byte %d: problems %v", at, problems)
		}
	}
}

// Wherever campaign.json is cut off or garbled, the rest of the directory and the part before it are used.
func TestCampaignBroken(t *testing.T) {
	dir, keys := campaign(t, true)
	path := filepath.Join(dir, campaignName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := OpenReadOnly(dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err) // the journal knows what it is about
		}
		s, problems := snapshot(t, d)
		got, bare := known(s)
		if len(got)+bare != len(keys) || len(s.Findings) != 2 {
			t.Fatalf("%s: %d known, %d bare, %d findings", name, len(got), bare, len(s.Findings))
		}
		if len(problems) == 0 && bare > 0 {
			t.Fatalf("%s: nothing was reported", name)
		}
		for _, p := range problems {
			if !strings.HasPrefix(p.Error(), dir+"/") {
				t.Fatalf("%s: %v", name, p)
			}
		}
	}
	for cut := range len(whole) - 2 {
		check(fmt.Sprintf("cut at %d", cut), whole[:cut])
	}
	for at := 0; at < len(whole)-1; at += 3 {
		bad := bytes.Clone(whole)
		bad[at] = '}'
		check(fmt.Sprintf("byte %d", at), bad)
	}
}

// A problem has the file, the line and what was expected, and the next start repairs the file.
func TestProblems(t *testing.T) {
	edit := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				panic("no " + old + " in " + s)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	for _, c := range []struct {
		name, file string
		change     func(string) string // nil: removed
		want       string              // of the problem, after the directory
		bare       int                 // entries that are left without features
		gone       int                 // entries that are left out
	}{
		{"cut off", "campaign.json", func(s string) string { return s[:len(s)-20] }, "campaign.json:34: the file is cut off: expected a testcase", 1, 0},
		{"empty", "campaign.json", func(string) string { return "" }, "campaign.json:1: the file is empty: expected a campaign", 4, 0},
		{"a list", "campaign.json", func(string) string { return "[1]" }, "campaign.json:1: expected a campaign", 4, 0},
		{"wrong type", "campaign.json", edit(`"seed": 9223372036854775809`, `"seed": "x"`), `campaign.json:9: expected "seed" to be a whole number, found string`, 0, 0},
		{"entry", "campaign.json", edit(`{"key":`, `{"key":5,"x":`), `campaign.json:31: expected a testcase: {"key",...}, found number in "key"`, 1, 0},
		{"odd key", "campaign.json", edit(`{"key":"`, `{"key":"../`), `campaign.json:31: expected the "key" of a testcase, not "../`, 1, 0},
		{"feature", "campaign.json", edit(`"features":"1"`, `"features":"1 z"`), `campaign.json:31: expected a testcase: {"key",...}: feature "z": expected a hexadecimal number`, 1, 0},
		{"no comma", "campaign.json", edit(`"mcp",`, `"mcp"`), `campaign.json:6: invalid character '"' after object key:value pair: expected `, 4, 0},
		{"removed", "campaign.json", nil, "campaign.json: expected a campaign: open ", 4, 0},
		{"no journal", "journal", nil, "journal: expected a journal: open ", 0, 0},
		{"no frames", "journal", func(string) string { return "hello, world. this is no journal" }, "journal:1: expected the length and checksum of a record", 0, 0},
		{"testcase changed", "interesting/KEY.json", edit("0", "7"), "interesting/KEY.json: does not match its name: expected the content KEY, found that of ", 0, 1},
		{"testcase gone", "interesting/KEY.json", nil, "interesting/KEY.json: expected a testcase: open ", 0, 1},
		{"finding", "findings/ID.json", edit(`"high"`, `"grave"`), `findings/ID.json:9: expected "severity" to be info, low, medium, high or critical`, 0, 0},
		{"finding gone", "findings/ID.json", nil, `findings/ID.json: is missing: expected a finding`, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, keys := campaign(t, true)
			crash := found("mcp/server-crash", "a", "")
			name := strings.NewReplacer("KEY", keys[0], "ID", crash.Finding.ID())
			path := filepath.Join(dir, name.Replace(c.file))
			if c.change == nil {
				os.Remove(path)
			} else {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				os.WriteFile(path, []byte(c.change(string(text))), 0o644)
			}
			d, err := OpenReadOnly(dir)
			if err != nil {
				t.Fatal(err)
			}
			s, problems := snapshot(t, d)
			want := filepath.Join(dir, name.Replace(c.want))
			if len(problems) == 0 || !strings.HasPrefix(problems[0].Error(), want) {
				t.Errorf("problems\n got %v\nwant %s", problems, want)
			}
			got, bare := known(s)
			if bare != c.bare || len(got) != len(keys)-c.bare-c.gone {
				t.Errorf("%d known and %d bare, want %d bare and %d gone", len(got), bare, c.bare, c.gone)
			}
			d, err = Open(dir)
			if err == nil {
				err = d.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if d, err = OpenReadOnly(dir); err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(c.file) == "." && len(d.problems) > 0 {
				t.Errorf("after a start: %v", d.problems)
			}
		})
	}
}

func TestNotACampaign(t *testing.T) {
	dir, _ := campaign(t, true)
	os.Remove(filepath.Join(dir, journalName))
	path := filepath.Join(dir, campaignName)
	os.WriteFile(path, []byte("{\n  \"teasel-campaign\": 1,\n  \"kind\": 5}"), 0o644)
	_, err := Open(dir)
	if p, ok := errors.AsType[*Problem](err); !ok || p.File != path || p.Line != 3 {
		t.Errorf("no kind: %v", err)
	}
	os.WriteFile(path, []byte("{\n  \"teasel-campaign\": 2, \"kind\": {}}"), 0o644)
	if _, err = Open(dir); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "campaign.json:2: version 2 of the format: expected 1") {
		t.Errorf("a later version: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte(`"kind": {}`)) {
		t.Errorf("the file of a later version was touched: %s, %v", text, err)
	}
}

// A file that a user puts into interesting/ is a seed, once.
func TestUnknownFiles(t *testing.T) {
	dir, keys := campaign(t, true)
	for name, data := range map[string]string{"mine.json": `{"mine":1}`, "again.json": `{"mine":1}`, "known.txt": `{"n":0}`, ".hidden": "x"} {
		os.WriteFile(filepath.Join(dir, Interesting, name), []byte(data), 0o644)
	}
	d, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, problems := snapshot(t, d)
	if got, bare := known(s); len(got) != len(keys) || bare != 1 || len(problems) > 0 {
		t.Errorf("%d known, %d bare, %v", len(got), bare, problems)
	}
	if last := s.Entries[len(s.Entries)-1]; string(last.Data) != `{"mine":1}` || last.Key != teasel.Key(last.Data) {
		t.Errorf("%+v", last)
	}
}

// Files that are no inputs are problems, with their names.
func TestUnknownFilesAreChecked(t *testing.T) {
	dir, keys := campaign(t, true)
	path := filepath.Join(dir, Interesting, "notes.txt")
	if err := os.WriteFile(path, []byte("to do"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, problems, err := d.Snapshot(func(data []byte) error {
		if !json.Valid(data) {
			return errors.New("expected JSON")
		}
		return nil
	})
	if err != nil || len(s.Entries) != len(keys) || len(problems) != 1 || problems[0].File != path ||
		!strings.Contains(problems[0].Error(), "is no input: expected JSON") {
		t.Errorf("%d entries, %v, %v", len(s.Entries), problems, err)
	}
}

// A broken journal stays until another one is there: the disk may be full.
func TestBrokenJournalStays(t *testing.T) {
	dir, keys := campaign(t, false)
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	obstacle := temporary(filepath.Join(dir, campaignName))
	if err := os.Mkdir(obstacle, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Fatal("campaign.json was written over a directory")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, _ := snapshot(t, d)
	if got, bare := known(s); len(got) != len(keys) || bare != 0 {
		t.Errorf("%d known, %d bare", len(got), bare)
	}
	if _, err := os.Stat(path + ".broken"); err != nil {
		t.Error(err)
	}
}

// A journal that campaign.json has overtaken, because a kill came in between, is not played again.
func TestStaleJournal(t *testing.T) {
	d := create(t)
	report(t, d, added("a", 1))
	old, err := os.ReadFile(filepath.Join(d.Path(), journalName))
	if err != nil {
		t.Fatal(err)
	}
	report(t, d, teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: teasel.Key([]byte("a"))}})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(d.Path(), journalName), old, 0o644)
	if d, err = Open(d.Path()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if s, problems := snapshot(t, d); len(s.Entries) != 0 || len(problems) != 0 {
		t.Errorf("%d entries, %v", len(s.Entries), problems)
	}
}

// A pipe or a device in the place of a file is not read, which might never end.
func TestPipes(t *testing.T) {
	for _, name := range []string{campaignName, journalName, "findings", "interesting"} {
		dir, keys := campaign(t, true)
		path := filepath.Join(dir, name)
		switch name {
		case "findings":
			path = filepath.Join(dir, Findings, "0123456789abcdef.json")
		case "interesting":
			path = filepath.Join(dir, Interesting, keys[0]+".json")
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := OpenReadOnly(dir)
		if err != nil {
			if !strings.Contains(err.Error(), "not a p") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if _, problems := snapshot(t, d); len(problems) == 0 {
			t.Errorf("%s: nothing is said of the pipe", name)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFinding(pipe); err == nil {
		t.Error("a pipe was read as a finding")
	}
	if _, err := ReadKnown(pipe, "mcp"); err == nil {
		t.Error("a pipe was read as a baseline")
	}
}
