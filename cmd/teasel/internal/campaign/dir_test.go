package campaign

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
)

// A folder in place of one of the campaign's files is named.
func TestOpenErrorNamesFolder(t *testing.T) {
	for _, name := range []string{"journal", "stats.csv"} {
		path := filepath.Join(t.TempDir(), "campaign")
		d, err := corpus.Create(path, corpus.Meta{Kind: "net"})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(path, name)
		if err := errors.Join(d.Close(), os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
		_, err = corpus.Open(path)
		var e *exit.Error
		if !errors.As(OpenError(err), &e) || !strings.Contains(e.Hint, file+" has to be a file") {
			t.Errorf("%s: %v, hint %q", name, err, e.Hint)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if d, err = corpus.Open(path); err != nil {
			t.Fatalf("%s was moved away: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
