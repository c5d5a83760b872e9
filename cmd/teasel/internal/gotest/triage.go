package gotest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// testToTriage returns the directory of the package and the fuzz test that the inputs of a directory are for: what stands behind --, or what
// testdata/fuzz/FuzzX says. ok is false if neither names a fuzz test.
func testToTriage(dir string, words []string) (pkg, test string, ok bool) {
	switch {
	case len(words) == 2 && strings.HasPrefix(words[1], "Fuzz"):
		info, err := os.Stat(words[0])
		return words[0], words[1], err == nil && info.IsDir()
	case len(words) == 0:
		if full, err := filepath.Abs(dir); err == nil {
			return testOf(full)
		}
	}
	return "", "", false
}

// Triage runs each input of a directory on a fuzz test, and reports one finding for each fault. taken is false if no fuzz test is named.
// The flags own are not for fuzz tests.
func Triage(cmd *cobra.Command, o *flags.Options, own []string, dir string, words []string) (taken bool, err error) {
	pkg, test, ok := testToTriage(dir, words)
	if !ok {
		return false, nil
	}
	for _, name := range own {
		if flags.IsSet(cmd.Flags(), name) {
			return true, exit.Usage("leave the flag out", "--%s is for programs, and %s is a fuzz test in Go", name, test)
		}
	}
	if err := errors.Join(flags.CheckNumbers(cmd.Flags()), o.Check()); err != nil {
		return true, err
	}
	if err := o.LoadBaseline("go", nil); err != nil {
		return true, err
	}
	return true, triage(cmd, o, dir, pkg, test)
}

// triage runs the inputs of a directory on a fuzz test of the package in another.
func triage(cmd *cobra.Command, o *flags.Options, dir, pkg, test string) error {
	stderr := cmd.ErrOrStderr()
	ins, err := campaign.LoadInputs(dir, stderr)
	if err != nil {
		return err
	}
	pkg, err = filepath.Abs(pkg)
	if err != nil {
		return exit.Failure(err)
	}
	o.SetDefaults(flags.SetIn(cmd.Flags()), "go")
	o.Seed, o.Fresh = 1, true
	if err := flags.CheckOut(o.Out); err != nil {
		return err
	}
	p := campaign.Plan[[]byte]{Options: o, Kind: Kind(), Triage: &campaign.Triage{},
		Meta: corpus.Meta{Version: campaign.Version, Kind: "go", Name: relativePath(pkg) + " " + test, Seed: o.Seed, Crashes: judge.CrashRules(), Hangs: judge.HangRules()}}
	if p.Meta.Target, err = campaign.RawJSON(Target{Dir: pkg, Test: test, Timeout: o.Timeout}); err != nil {
		return err
	}
	if p.Meta.Options, err = campaign.RawJSON(&options{Options: *o, Packages: []string{pkg}, Run: "^" + test + "$"}); err != nil {
		return err
	}
	r, err := openTest(cmd.Context(), p.Meta.Target, stderr)
	if err != nil {
		return err
	}
	target, ok := r.Target.(*fuzztest.Target)
	if r.typed != nil || !ok {
		return exit.Usage("to run one of its files: teasel repro "+plain.Quote(filepath.Join(dir, ins[0].File)), "%s takes values of a type of its own: teasel triage runs fuzz tests of bytes, strings, numbers and booleans", test)
	}
	p.Campaign = fuzztest.Campaign(target, nil)
	if err := campaign.ChooseMutation(&p.Campaign, &o.Mutation); err != nil {
		return err
	}
	codec := fuzztest.Codec{Kinds: target.Kinds}
	for _, in := range ins {
		input, err := readInput(codec, in.Data)
		if err == nil {
			in.Data, err = codec.Encode(input)
		}
		if err != nil {
			fmt.Fprintf(stderr, "teasel: warning: %s is no input of %s: %s\n", plain.Text(in.File), test, plain.Text(err.Error()))
			continue
		}
		p.AddInput(in, input)
	}
	if len(p.Seeds) == 0 {
		return exit.Usage("expected files as go test -fuzz writes them; for a fuzz test of one []byte or string, any files", "none of the files in %s is an input of %s", dir, test)
	}
	return p.Begin(cmd)
}

// readInput packs one of Go's corpus files. A file that is none is the argument itself, if the test has only one that can be any bytes.
func readInput(codec fuzztest.Codec, data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte(fuzztest.Header)) && len(codec.Kinds) == 1 && codec.Kinds[0].Size() == 0 {
		return data, nil
	}
	return codec.Decode(data)
}
