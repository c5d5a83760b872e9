package corpus

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archiveOf writes an archive with a file for each name and content.
func archiveOf(t *testing.T, name string, entries ...[2]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, e := range entries {
		part, err := w.Create(e[0])
		if err == nil {
			_, err = io.WriteString(part, e[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLoadArchive: a zip archive is read as a directory is, and what leads out of it is left out.
func TestLoadArchive(t *testing.T) {
	file := archiveOf(t, "seeds.ZIP", [2]string{"a", "one"}, [2]string{"deep/", ""}, [2]string{"deep/b", "two"}, [2]string{"same", "one"},
		[2]string{".hidden", "three"}, [2]string{"../outside", "four"}, [2]string{"/absolute", "five"}, [2]string{"empty", ""})
	seeds, problems, err := Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range seeds {
		got = append(got, s.Name+"="+string(s.Data))
	}
	if want := []string{"a=one", "deep/b=two", "empty="}; !slices.Equal(got, want) {
		t.Errorf("inputs %q, want %q", got, want)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Error(), "outside") || !strings.Contains(problems[1].Error(), "absolute") {
		t.Errorf("problems: %v", problems)
	}
	inside := filepath.Join(t.TempDir(), "inputs")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, filepath.Join(inside, "seeds.zip")); err != nil {
		t.Fatal(err)
	}
	if seeds, _, err = Load(inside, nil); err != nil || len(seeds) != 1 || !strings.HasPrefix(string(seeds[0].Data), "PK") {
		t.Errorf("an archive in a directory of inputs is an input: %d inputs, %v", len(seeds), err)
	}
	broken := filepath.Join(inside, "broken.zip")
	if err := os.WriteFile(broken, []byte("PK no archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	if seeds, _, err = Load(broken, nil); err != nil || len(seeds) != 1 || string(seeds[0].Data) != "PK no archive" {
		t.Errorf("a file that is no archive is an input: %d inputs, %v", len(seeds), err)
	}
}

// TestArchiveBomb: a file that grows beyond what an input may have is left out, and the others are read.
func TestArchiveBomb(t *testing.T) {
	file := archiveOf(t, "bomb.zip", [2]string{"bomb", strings.Repeat("\x00", MaxInput+1)}, [2]string{"good", "x"})
	if info, err := os.Stat(file); err != nil || info.Size() > 1<<20 {
		t.Fatalf("the archive is not small: %v", err)
	}
	seeds, problems, err := Load(file, nil)
	if err != nil || len(seeds) != 1 || seeds[0].Name != "good" || len(problems) != 1 {
		t.Errorf("%d inputs, problems %v, %v", len(seeds), problems, err)
	}
}
