package results

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// showTestcase prints why a testcase of a campaign was kept, and its input; with raw, the input alone.
func showTestcase(w io.Writer, path string, raw bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return exit.Usage("name a file of interesting/ or queue/ in a campaign's directory", "%w", err)
	}
	if raw {
		_, err := w.Write(data)
		return exit.Failure(err)
	}
	s, err := campaign.Open(filepath.Dir(filepath.Dir(path)), io.Discard)
	if err != nil {
		return err
	}
	key := teasel.Key(data) // the files of queue/ have AFL++'s names
	i := slices.IndexFunc(s.Kept.Entries, func(e teasel.Entry) bool { return e.Key == key && e.Runs > 0 })
	if i < 0 {
		fmt.Fprintf(w, "%s is not among the testcases that the campaign keeps\n", plain.Line(key))
	} else {
		t := view.NewTestcase(&s.Kept.Entries[i])
		fmt.Fprintf(w, "testcase %s: %s\n%s\npicked %s to be mutated\n", t.Key, t.Origin, t.Why, noun.Count(int(t.Picked), "time", "times"))
	}
	fmt.Fprintf(w, "\ninput (%d bytes):\n%s\n", len(data), strings.TrimRight(readable(data), "\n"))
	return nil
}
