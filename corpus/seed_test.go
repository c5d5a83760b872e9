package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

func names(seeds []Seed) (out []string) {
	for _, s := range seeds {
		out = append(out, s.Name+"="+string(s.Data))
	}
	return out
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"b": "two", "a/x": "one", "a/y": "two", "bad": "bad", ".git/z": "no", ".z": "no", "empty": ""} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644)
	}
	os.Symlink("b", filepath.Join(dir, "link"))
	os.Symlink("nowhere", filepath.Join(dir, "dangling"))
	check := func(data []byte) error {
		if string(data) == "bad" {
			return errors.New("expected something better")
		}
		return nil
	}
	linked := filepath.Join(t.TempDir(), "corpus")
	os.Symlink(dir, linked)
	for _, path := range []string{dir, linked} {
		seeds, problems, err := Load(path, check)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := names(seeds), []string{"a/x=one", "a/y=two", "empty="}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if len(problems) != 2 || problems[0].File != filepath.Join(dir, "bad") ||
			!strings.Contains(problems[0].Error(), "/bad: is no input: expected something better") || problems[1].File != filepath.Join(dir, "dangling") {
			t.Errorf("%s: problems %v", path, problems)
		}
	}
	if seeds, _, err := Load(filepath.Join(dir, "a", "x"), nil); err != nil || !slices.Equal(names(seeds), []string{"x=one"}) {
		t.Errorf("a single file: %q, %v", names(seeds), err)
	}
	if _, _, err := Load(filepath.Join(dir, "none"), nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("no directory: %v", err)
	}
}

func TestLoadCampaign(t *testing.T) {
	d := create(t)
	report(t, d, added("kept", 1), found("x/crash", "s", "crashing"))
	if err := d.WriteSeed(Valid, "given", []byte("given")); err != nil {
		t.Fatal(err)
	}
	seeds, problems, err := Load(d.Path(), nil)
	want := []string{"seeds/valid/given.json=given", "interesting/" + teasel.Key([]byte("kept")) + ".json=kept"}
	if err != nil || len(problems) > 0 || !slices.Equal(names(seeds), want) {
		t.Errorf("%q, %v, %v", names(seeds), problems, err)
	}
}

func TestMerge(t *testing.T) {
	bare := func(s string) teasel.Entry { return entry(s) }
	a2 := entry("a", 1, 2)
	a2.Step, a2.Picked = 5, 1
	a3 := entry("a", 9)
	a3.Step, a3.Picked = 2, 7
	want := a2
	want.Picked = 7
	got := Merge([]teasel.Entry{bare("a"), entry("b", 3)}, []teasel.Entry{a2, bare("c")}, []teasel.Entry{a3, bare("b")})
	if w := []teasel.Entry{want, entry("b", 3), bare("c")}; !reflect.DeepEqual(got, w) {
		t.Errorf("\n got %+v\nwant %+v", got, w)
	}
}

func TestMinimal(t *testing.T) {
	simple := func(s string, fs ...teasel.Feature) teasel.Entry { return entry(s, fs...) }
	for _, c := range []struct {
		name string
		in   []teasel.Entry
		want string
	}{
		{"nothing", nil, ""},
		{"the simplest of the same", []teasel.Entry{simple("aaa", 1), simple("b", 1), simple("cc", 1)}, "b"},
		{"the order stays", []teasel.Entry{simple("zz", 2), simple("a", 1)}, "zz a"},
		{"one for many", []teasel.Entry{simple("a", 1), simple("bb", 2), simple("ccc", 1, 2, 3)}, "ccc"},
		{"never run", []teasel.Entry{simple("a", 1), simple("bb")}, "a bb"},
		{"twice", []teasel.Entry{simple("a", 1), simple("a", 1), simple("bb"), simple("bb")}, "a bb"},
		{"needless after all", []teasel.Entry{simple("a", 1, 9), simple("bb", 1, 2, 8), simple("ccc", 2, 7)}, "a bb ccc"},
	} {
		var got []string
		for _, e := range Minimal(c.in) {
			got = append(got, string(e.Data))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// However features lie, none is lost, nothing chosen is needless, and the order of entries does not matter.
func TestMinimalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 300 {
		in := make([]teasel.Entry, 1+r.IntN(30))
		for i := range in {
			fs := make([]teasel.Feature, 1+r.IntN(8))
			for k := range fs {
				fs[k] = teasel.Feature(1 + r.IntN(25))
			}
			in[i] = entry(fmt.Sprint(round, " ", i), fs...)
			in[i].Complexity = float64(r.IntN(5))
		}
		reach := func(es []teasel.Entry, without int) map[teasel.Feature]bool {
			m := map[teasel.Feature]bool{}
			for i, e := range es {
				for f := range e.Features.All() {
					m[f] = m[f] || i != without
				}
			}
			return m
		}
		out := Minimal(in)
		if !reflect.DeepEqual(reach(out, -1), reach(in, -1)) {
			t.Fatalf("round %d: features were lost", round)
		}
		for i := range out {
			lost := false
			for _, ok := range reach(out, i) {
				lost = lost || !ok
			}
			if !lost {
				t.Fatalf("round %d: %s is needless", round, out[i].Data)
			}
		}
		mixed := slices.Clone(in)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		again := Minimal(mixed)
		byKey := func(a, b teasel.Entry) int { return strings.Compare(a.Key, b.Key) }
		slices.SortFunc(out, byKey)
		slices.SortFunc(again, byKey)
		if !reflect.DeepEqual(out, again) {
			t.Fatalf("round %d: the order of entries mattered", round)
		}
	}
}
