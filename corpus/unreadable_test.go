package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A testcase that teasel has written is read again whatever its size, also where campaign.json has been lost. Of files of others,
// there is a limit.
func TestHugeTestcase(t *testing.T) {
	for _, afl := range []bool{false, true} {
		m := testMeta()
		m.AFL = afl
		d, err := Create(t.TempDir(), m)
		if err != nil {
			t.Fatal(err)
		}
		huge := added(strings.Repeat("a", MaxInput+1), 1)
		report(t, d, huge)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		mine, err := os.Create(filepath.Join(d.Path(), Interesting, "mine.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(mine.Truncate(MaxInput+1), mine.Close()); err != nil {
			t.Fatal(err)
		}
		for _, lost := range []bool{false, true} {
			if lost {
				if err := os.Remove(filepath.Join(d.Path(), campaignName)); err != nil {
					t.Fatal(err)
				}
			}
			if d, err = Open(d.Path()); err != nil {
				t.Fatal(err)
			}
			s, problems := snapshot(t, d)
			if len(s.Entries) != 1 || s.Entries[0].Key != huge.Entry.Key {
				t.Errorf("resumed with %d testcases, want the one", len(s.Entries))
			}
			if len(problems) == 0 || !strings.HasSuffix(problems[len(problems)-1].Error(), "mine.json: expected a testcase: expected at most 64 MB, not 64") {
				t.Errorf("problems %v, want one of mine.json", problems)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What cannot be read among AFL++'s files is a problem, and its number is not used again.
func TestNumberedFileBroken(t *testing.T) {
	for _, folder := range []string{Queue, Crashes, Hangs} {
		m := testMeta()
		m.AFL, m.Crashes, m.Hangs = true, []string{"crash"}, []string{"hang"}
		d, err := Create(t.TempDir(), m)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		obstacle := filepath.Join(d.Path(), folder, "id:000000,time:0")
		if err := os.Mkdir(obstacle, 0o755); err != nil {
			t.Fatal(err)
		}
		if d, err = Open(d.Path()); err != nil {
			t.Fatal(err)
		}
		if _, problems := snapshot(t, d); len(problems) != 1 || problems[0].File != obstacle {
			t.Errorf("problems %v, want one of %s", problems, obstacle)
		}
		report(t, d, added("x", 1), found("crash", "a", "{}"), found("hang", "a", "{}"))
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if got := listing(t, d, folder); len(got) != 2 || !strings.HasPrefix(got[1], "id:000001,") {
			t.Errorf("%s has %q, want the directory and a file with the next number", folder, got)
		}
	}
}
