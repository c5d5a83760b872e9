package pack

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// inputs returns so many inputs, each with a text of its own.
func inputs(who string, n int) (out []Entry) {
	for i := range n {
		out = append(out, Entry{Extension: ".bin", Data: fmt.Appendf(nil, "%s %d", who, i)})
	}
	return out
}

// carrier returns one that notes what is wrong.
func carrier(t *testing.T, s Store) (c *Carrier, wrong *[]string) {
	wrong = new([]string)
	return &Carrier{Store: s, Where: "place", Cache: t.TempDir(), Wrong: func(p *corpus.Problem) { *wrong = append(*wrong, p.Error()) }}, wrong
}

func push(t *testing.T, c *Carrier, kind string, entries []Entry) Pushed {
	t.Helper()
	p, err := c.Push(t.Context(), kind, entries)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pull(t *testing.T, c *Carrier, dir, kind string, have []Entry) Pulled {
	t.Helper()
	p, err := c.Pull(t.Context(), dir, kind, have)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// files returns the names of the files below a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Whatever the store, entries come out as they went in, in packs, and only once.
func testStore(t *testing.T, s Store) {
	c, wrong := carrier(t, s)
	sent := inputs("first", MaxEntries+1)
	sent[7].Place = "example.com/pkg/FuzzX"
	if p := push(t, c, "native", sent); p.Entries != len(sent) || p.Packs != 2 || p.Known != 0 {
		t.Errorf("pushed %+v, want %d in 2 packs", p, len(sent))
	}
	other, wrongToo := carrier(t, s) // another machine, whose cache is empty
	if p := push(t, other, "native", append(sent[:10:10], inputs("second", 2)...)); p.Entries != 2 || p.Packs != 1 || p.Known != 10 {
		t.Errorf("pushed %+v, want 2 and 10 known", p)
	}
	if p := push(t, c, "native", sent); p.Entries != 0 || p.Packs != 0 {
		t.Errorf("pushed %+v again", p)
	}
	dir := t.TempDir()
	if p := pull(t, c, dir, "", nil); p.Entries != len(sent)+2 || p.Packs != 3 {
		t.Errorf("pulled %+v, want %d", p, len(sent)+2)
	}
	for _, e := range sent {
		got, err := os.ReadFile(filepath.Join(dir, e.Place, teasel.Key(e.Data)+".bin"))
		if err != nil || !bytes.Equal(got, e.Data) {
			t.Fatalf("%q came as %q: %v", e.Data, got, err)
		}
	}
	if p := pull(t, c, dir, "", append(sent, inputs("second", 2)...)); p.Entries != 0 || p.Packs != 0 || p.Known != len(sent)+2 {
		t.Errorf("pulled %+v again", p)
	}
	if len(*wrong)+len(*wrongToo) > 0 {
		t.Errorf("reported %q %q", *wrong, *wrongToo)
	}

	// Machines that push at once, partly the same, lose nothing.
	var machines sync.WaitGroup
	for n := range 4 {
		machines.Go(func() {
			c := &Carrier{Store: s}
			if _, err := c.Push(context.Background(), "native", append(inputs("shared", 20), inputs(fmt.Sprint("machine", n), 5)...)); err != nil {
				t.Error(err)
			}
		})
	}
	machines.Wait()
	if p := pull(t, c, t.TempDir(), "", sent); p.Entries != 2+20+4*5 {
		t.Errorf("pulled %+v after four machines had pushed", p)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there")
	testStore(t, Folder(dir))
	if names := files(t, dir); slices.ContainsFunc(names, func(n string) bool { return !validName.MatchString(n) }) {
		t.Errorf("the folder holds other files than packs: %q", names)
	}
}

// A campaign's directory gets inputs that its next run runs.
func TestPullIntoCampaign(t *testing.T) {
	t.Parallel()
	c, wrong := carrier(t, Folder(t.TempDir()))
	push(t, c, "native", inputs("native", 3))
	push(t, c, "mcp", inputs("mcp", 4))
	plain := inputs("plain", 5)
	plain[1].Place = "some/folder" // a campaign has none
	push(t, c, "", plain)
	top := t.TempDir()
	at := filepath.Join(top, "teasel-out")
	d, err := corpus.Create(at, corpus.Meta{Kind: "native", Extension: ".raw"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), at, "native", nil); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("pulled into a campaign that runs: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if p := pull(t, c, at, "native", nil); p.Entries != 8 || p.Other != 1 {
		t.Errorf("pulled %+v, want 8 and a pack of another kind", p)
	}
	if d, err = corpus.OpenReadOnly(at); err != nil {
		t.Fatal(err)
	}
	s, problems, err := d.Snapshot(nil)
	if err != nil || len(problems) > 0 || len(s.Entries) != 8 {
		t.Errorf("the campaign has %d entries, %v, %v", len(s.Entries), problems, err)
	}
	for _, e := range s.Entries {
		if e.Runs != 0 {
			t.Errorf("%s has run already", e.Key)
		}
	}
	if p := pull(t, c, at, "native", nil); p.Entries != 0 || p.Known != 8 {
		t.Errorf("pulled %+v again", p)
	}
	if len(*wrong) > 0 {
		t.Errorf("reported %q", *wrong)
	}
}

// archive returns a zip archive with files, names and contents in turn.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a pack has for a folder of a campaign, such as that of its findings, is an input of the campaign like any other.
func TestPullBesideCampaign(t *testing.T) {
	t.Parallel()
	c, wrong := carrier(t, Folder(t.TempDir()))
	hostile := inputs("planted", 3)
	for i, place := range []string{"FuzzA/findings", "FuzzA/seeds/valid", "FuzzA"} {
		hostile[i].Place, hostile[i].Extension = place, ".json"
	}
	push(t, c, "go", hostile)
	top := t.TempDir()
	at := filepath.Join(top, "FuzzA")
	d, err := corpus.Create(at, corpus.Meta{Kind: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), top, "go", nil); !errors.Is(err, corpus.ErrLocked) {
		t.Errorf("pulled into a campaign that runs: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if p := pull(t, c, top, "go", nil); p.Entries != 3 || len(*wrong) > 0 {
		t.Errorf("pulled %+v, reported %q", p, *wrong)
	}
	planted, err := filepath.Glob(filepath.Join(at, "findings", "*"))
	if err != nil || len(planted) > 0 {
		t.Errorf("it has planted %q, %v", planted, err)
	}
	if d, err = corpus.OpenReadOnly(at); err != nil {
		t.Fatal(err)
	}
	if s, _, err := d.Snapshot(nil); err != nil || len(s.Entries) != 3 {
		t.Errorf("the campaign has %d entries, %v", len(s.Entries), err)
	}
}

func TestPullHostile(t *testing.T) {
	t.Parallel()
	const head = `{"teasel-pack":1}`
	good := teasel.Key([]byte("good"))
	many := []string{headerName, head}
	for i := range MaxEntries + 2 {
		text := fmt.Sprint(i)
		many = append(many, teasel.Key([]byte(text)), text)
	}
	zeros := strings.Repeat("\x00", corpus.MaxInput+1) // a few kilobytes in the archive
	for _, test := range []struct {
		name string
		data []byte
		want string // in the problem
		kept int
	}{
		{"none", archive(t, headerName, head, good, "good"), "", 1},
		{"hash", archive(t, headerName, head, good, "bad"), "does not match its name: expected the content " + good, 0},
		{"traversal", archive(t, headerName, head, "../../"+good, "good"), "leads out of the archive", 0},
		{"absolute", archive(t, headerName, head, "/tmp/"+good, "good"), "leads out of the archive", 0},
		{"backslash", archive(t, headerName, head, `a\`+good, "good"), "does not match its name", 0},
		{"hidden folder", archive(t, headerName, head, ".git/hooks/"+good, "good"), "expected a folder that is not hidden", 0},
		{"deep", archive(t, headerName, head, strings.Repeat("d/", 17)+good, "good"), "at most 16 deep", 0},
		{"long folder", archive(t, headerName, head, strings.Repeat("d", 256)+"/"+good, "good", good, "good"), "expected a folder", 1},
		{"folders too long", archive(t, headerName, head, strings.Repeat(strings.Repeat("d", 250)+"/", 16)+good, "good", good, "good"), "expected a folder", 1},
		{"file as folder", archive(t, headerName, head, good, "good", good+"/"+good, "good"), "not a directory", 1},
		{"escapes", archive(t, headerName, head, "\u202e/"+good, "good"), "expected a folder", 0},
		{"extension", archive(t, headerName, head, good+".a b", "good"), "expected an extension", 0},
		{"bomb", archive(t, headerName, head, teasel.Key([]byte(zeros)), zeros, good, "good"), "expected at most 64 MB", 1},
		{"many", archive(t, many...), "has more than 500 inputs", MaxEntries},
		{"no zip", []byte("good"), "is no pack: zip: not a valid zip file", 0},
		{"no header", archive(t, good, "good"), "is no pack: expected .teasel-pack.json as its first file", 0},
		{"other header", archive(t, headerName, "[]"), "expected an object", 0},
		{"newer", archive(t, headerName, `{"teasel-pack":2}`, good, "good"), "is a pack of version 2, which a newer teasel has written", 0},
	} {
		store := t.TempDir()
		name := packName(time.Unix(0, 0), test.data)
		if err := os.WriteFile(filepath.Join(store, name), test.data, 0o644); err != nil {
			t.Fatal(err)
		}
		c, wrong := carrier(t, Folder(store))
		top := t.TempDir()
		p := pull(t, c, filepath.Join(top, "in"), "", nil)
		problem := strings.Join(*wrong, "\n")
		if p.Entries != test.kept || !strings.Contains(problem, test.want) || (problem == "") != (test.want == "") {
			t.Errorf("%s: pulled %d, want %d; reported %q, want %q", test.name, p.Entries, test.kept, problem, test.want)
		}
		for _, f := range files(t, top) {
			if !strings.HasPrefix(f, "in/") || len(f) != len("in/")+len(good) {
				t.Errorf("%s: wrote %s", test.name, f)
			}
		}
	}
}

// A pack that a tool has synchronised in part is left out, and is read when it is whole.
func TestPullPartial(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	c, wrong := carrier(t, Folder(store))
	push(t, &Carrier{Store: Folder(store)}, "", inputs("x", 3)) // another machine
	path := filepath.Join(store, files(t, store)[0])
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, test := range []struct {
		data []byte
		want int
	}{{nil, 0}, {whole[:len(whole)/2], 0}, {whole, 3}} {
		if err := os.WriteFile(path, test.data, 0o644); err != nil {
			t.Fatal(err)
		}
		if p := pull(t, c, dir, "", nil); p.Entries != test.want {
			t.Errorf("of %d bytes: pulled %d, want %d", len(test.data), p.Entries, test.want)
		}
	}
	if len(*wrong) != 2 || !strings.Contains((*wrong)[1], "place/"+filepath.Base(path)+": is incomplete or damaged") {
		t.Errorf("reported %q", *wrong)
	}
}

// Machines that store the same pack in one folder at once do not get in each other's way.
func TestFolderSamePack(t *testing.T) {
	t.Parallel()
	folder := Folder(filepath.Join(t.TempDir(), "packs"))
	data := bytes.Repeat([]byte{'x'}, 1<<20)
	for round := range 20 {
		name := fmt.Sprintf("20261127T0545%02dZ-%s.zip", round, contentHash(data))
		errs := make(chan error)
		for range 4 {
			go func() {
				err := folder.Put(t.Context(), name, data)
				if got, e := folder.Get(t.Context(), name); err == nil && (e != nil || !bytes.Equal(got, data)) {
					err = fmt.Errorf("%d bytes are there, %w", len(got), e)
				}
				errs <- err
			}()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(string(folder), ".*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}
