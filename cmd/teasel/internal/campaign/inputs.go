package campaign

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mutate"
)

// moveEarlier gives another name to the directory of an earlier campaign that is at out.
func moveEarlier(out string) (moved string, err error) {
	if !corpus.IsCampaign(out) {
		return "", nil
	}
	d, err := corpus.Open(out)
	if errors.Is(err, corpus.ErrLocked) {
		return "", exit.Usage("choose another directory with --out, or wait for it to end", "%w", err)
	}
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		return "", exit.Usage("choose another directory with --out", "%w", err)
	}
	for n := 1; ; n++ {
		old := fmt.Sprintf("%s.%d", filepath.Clean(out), n)
		if _, err := os.Lstat(old); err == nil {
			continue
		}
		if err := os.Rename(out, old); err != nil {
			return "", exit.Usage("choose another directory with --out", "moving an earlier campaign aside: %w", err)
		}
		return old, nil
	}
}

// earlierInputs returns what an earlier campaign on the same target has learnt, as seeds: its testcases and the inputs of its findings, but
// for those of untried, which it had no time to reproduce. Of a campaign on another target there are none.
func (p *Plan[T]) earlierInputs(earlier string, stderr io.Writer) (seeds []Seed[T], untried []teasel.Finding, findings int, err error) {
	dir, err := corpus.OpenReadOnly(earlier)
	if err != nil {
		return nil, nil, 0, OpenError(err)
	}
	if m := dir.Meta(); m.Kind != p.Meta.Kind || m.Name != p.Meta.Name {
		return nil, nil, 0, nil
	}
	s, problems, err := dir.Snapshot(nil)
	if err != nil {
		return nil, nil, 0, exit.Failure(err)
	}
	Warn(stderr, problems)
	add := func(name string, data []byte) {
		if in, err := p.Campaign.Codec.Decode(data); err == nil { // of an older version there may be inputs that mean nothing any more
			seeds = append(seeds, Seed[T]{Name: name, Input: in})
		}
	}
	for i := range s.Entries {
		add(s.Entries[i].Key, s.Entries[i].Data)
	}
	sum := dir.Summary()
	for _, fs := range [...][]teasel.Finding{sum.Findings, sum.Unconfirmed} {
		for i := range fs {
			if fs[i].Tries == 0 {
				untried = append(untried, fs[i])
			} else {
				add(fs[i].ID(), fs[i].Input)
			}
		}
	}
	return seeds, untried, len(sum.Findings) + len(sum.Unconfirmed), nil
}

// Warn reports broken files that were left out.
func Warn(w io.Writer, problems []*corpus.Problem) {
	const most = 10
	for i, p := range problems {
		if i == most {
			fmt.Fprintf(w, "teasel: warning: and %d more\n", len(problems)-most)
			return
		}
		fmt.Fprintf(w, "teasel: warning: %s\n", plain.Line(p.Error()))
	}
}

// CorpusError returns the error for a directory of --corpus that cannot be read.
func CorpusError(err error) error {
	return exit.Usage("--corpus takes a directory of inputs, or a campaign's directory", "reading corpus: %w", err)
}

// loadCorpus reads the directories of --corpus. Broken files are reported and left out.
func loadCorpus[T any](dirs []string, codec teasel.Codec[T], stderr io.Writer) (out []Seed[T], err error) {
	for _, dir := range dirs {
		seeds, problems, err := corpus.Load(dir, func(data []byte) error {
			_, err := codec.Decode(data)
			return err
		})
		if err != nil {
			return nil, CorpusError(err)
		}
		Warn(stderr, problems)
		if len(seeds) == 0 {
			fmt.Fprintf(stderr, "teasel: warning: there are no inputs in %s\n", dir)
		}
		for _, s := range seeds {
			in, err := codec.Decode(s.Data)
			if err != nil {
				return nil, exit.Failure(err)
			}
			out = append(out, Seed[T]{Name: s.Name, Input: in})
		}
	}
	return out, nil
}

// LoadDictionaries adds the dictionaries of --dict to d. Broken lines are reported and left out.
func LoadDictionaries(d *mutate.Dictionary, paths []string, stderr io.Writer) error {
	for _, p := range paths {
		before := d.Len()
		err := d.LoadFile(p)
		if err == nil {
			continue
		}
		if d.Len() == before {
			return exit.Usage("a dictionary has lines such as name=\"value\", with \\xNN for odd bytes", "%w", err)
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(stderr, "teasel: warning: %s\n", line)
		}
	}
	return nil
}
