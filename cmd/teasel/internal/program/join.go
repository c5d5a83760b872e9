package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
)

// addJoin gives a command the flag --join.
func addJoin(f *pflag.FlagSet, into *string) {
	f.StringVar(into, "join", "", "SYNCDIR[:NAME]: fuzz as one more instance of the AFL++ campaign whose afl-fuzz has -o SYNCDIR; NAME is ours (default teasel), and SYNCDIR/NAME takes the place of --out")
}

// aflInstance is an instance of an AFL++ campaign: the output directory of afl-fuzz, and the name of ours in it. The directory of
// that name is a campaign's directory, which has all the files that other instances read.
type aflInstance struct{ sync, name string }

// parseJoin reads the value of --join.
func parseJoin(text string) (aflInstance, error) {
	j := aflInstance{text, "teasel"}
	if dir, name, ok := cutLast(text, ":"); ok {
		j = aflInstance{dir, name}
	}
	const hint = "for example: --join afl-out, or --join afl-out:teasel2, where afl-fuzz was started with -o afl-out and -M or -S"
	if j.name == "" || strings.Trim(j.name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") != "" || j.name[0] == '.' {
		return j, exit.Usage(hint, "--join %s: our name %q: expected letters, digits, dots, _ and -", text, j.name)
	}
	if info, err := os.Stat(j.sync); err != nil || !info.IsDir() {
		return j, exit.Usage(hint, "--join %s: %s is no directory: expected the output directory of afl-fuzz", text, j.sync)
	}
	if _, err := os.Stat(filepath.Join(j.sync, corpus.Queue)); err == nil {
		return j, exit.Usage(fmt.Sprintf("the directory above is what is wanted: --join %s", filepath.Dir(filepath.Clean(j.sync))),
			"--join %s: %s is the directory of one instance", text, j.sync)
	}
	return j, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// out returns the directory of our campaign.
func (i aflInstance) out() string { return filepath.Join(i.sync, i.name) }

// apply has a plan write its testcases where the other instances read them, and read theirs.
func (i aflInstance) apply(p *campaign.Plan[[]byte]) {
	p.Options.Out = i.out()
	p.Meta.AFL = true
	p.Campaign.Source = corpus.NewInstances(i.sync, i.name)
}

// joinValue returns the value of --join for the campaign in dir, which may have been renamed.
func joinValue(dir string) string {
	if full, err := filepath.Abs(dir); err == nil { // "." has no name
		dir = full
	}
	return filepath.Dir(dir) + ":" + filepath.Base(dir)
}
