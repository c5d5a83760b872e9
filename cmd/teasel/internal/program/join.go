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

// joinDir returns the directory of our instance that the value of --join names, in the output directory of afl-fuzz. It is a campaign's
// directory, which has all the files that other instances read.
func joinDir(text string) (string, error) {
	sync, name := text, "teasel"
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		sync, name = text[:at], text[at+1:]
	}
	const hint = "for example: --join afl-out, or --join afl-out:teasel2, where afl-fuzz was started with -o afl-out and -M or -S"
	if name == "" || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") != "" || name[0] == '.' {
		return "", exit.Usage(hint, "--join %s: our name %q: expected letters, digits, dots, _ and -", text, name)
	}
	if info, err := os.Stat(sync); err != nil || !info.IsDir() {
		return "", exit.Usage(hint, "--join %s: %s is no directory: expected the output directory of afl-fuzz", text, sync)
	}
	if _, err := os.Stat(filepath.Join(sync, corpus.Queue)); err == nil {
		return "", exit.Usage(fmt.Sprintf("the directory above is what is wanted: --join %s", filepath.Dir(filepath.Clean(sync))),
			"--join %s: %s is the directory of one instance", text, sync)
	}
	return filepath.Join(sync, name), nil
}

// join has a plan write its testcases where the other instances beside its directory read them, and read theirs.
func join(p *campaign.Plan[[]byte]) {
	dir := p.Options.Out
	if full, err := filepath.Abs(dir); err == nil { // "." has no name
		dir = full
	}
	p.Meta.AFL = true
	p.Campaign.Source = corpus.NewInstances(filepath.Dir(dir), filepath.Base(dir))
}
