package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/corpus"
)

// addJoin gives a command the flag --join.
func addJoin(f *pflag.FlagSet, into *string) {
	f.StringVar(into, "join", "", "SYNCDIR[:NAME]: fuzz as one more instance of the AFL++ campaign whose afl-fuzz has -o SYNCDIR; NAME is ours (default teasel), and SYNCDIR/NAME takes the place of --out")
}

// joined is an AFL++ campaign of which we are one more instance. Its directory of ours is a campaign's directory, which
// has all that the other instances look for.
type joined struct{ sync, name string }

// parseJoin reads the value of --join.
func parseJoin(text string) (joined, error) {
	j := joined{text, "teasel"}
	if dir, name, ok := cutLast(text, ":"); ok {
		j = joined{dir, name}
	}
	const hint = "for example: --join afl-out, or --join afl-out:teasel2, where afl-fuzz was started with -o afl-out and -M or -S"
	if j.name == "" || strings.Trim(j.name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") != "" || j.name[0] == '.' {
		return j, usage(hint, "--join %s: our name %q: expected letters, digits, dots, _ and -", text, j.name)
	}
	if info, err := os.Stat(j.sync); err != nil || !info.IsDir() {
		return j, usage(hint, "--join %s: %s is no directory: expected the output directory of afl-fuzz", text, j.sync)
	}
	if _, err := os.Stat(filepath.Join(j.sync, corpus.Queue)); err == nil {
		return j, usage(fmt.Sprintf("the directory above is what is wanted: --join %s", filepath.Dir(filepath.Clean(j.sync))),
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

// out is the directory of our campaign.
func (j joined) out() string { return filepath.Join(j.sync, j.name) }

// apply makes a plan one of an instance: what it keeps goes where the others look, and theirs comes to it.
func (j joined) apply(p *plan[[]byte]) {
	p.options.Out = j.out()
	p.meta.AFL = true
	p.campaign.Source = corpus.NewInstances(j.sync, j.name)
}

// rejoin returns what --join has to say for the campaign in dir to go on: it may have been moved aside since.
func rejoin(dir string) string {
	if full, err := filepath.Abs(dir); err == nil { // "." has no name
		dir = full
	}
	return filepath.Dir(dir) + ":" + filepath.Base(dir)
}
