package corpus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/corpus"
)

// A file is written with the directories that lead to it, and replaced, and nothing else is left.
func TestWriteFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	file := filepath.Join(dir, "f")
	for _, want := range []string{"first, and longer", "second"} {
		if err := corpus.WriteFile(file, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v in the directory, want one file", entries, err)
	}
	if err := corpus.WriteFile(filepath.Join(file, "below"), nil); err == nil {
		t.Error("a file below a file was written")
	}
}
