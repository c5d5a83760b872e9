package campaign

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Triage is what a campaign knows of the files that it triages.
type Triage struct {
	Files []corpus.Triaged
	ends  map[string]teasel.SeedEnd // by key
}

var _ teasel.Reporter = (*Triage)(nil)

// Report implements [teasel.Reporter]: it notes how the inputs have ended.
func (t *Triage) Report(e teasel.Event) error {
	if t.ends == nil {
		t.ends = map[string]teasel.SeedEnd{}
	}
	for _, s := range e.Seeds {
		if before := t.ends[s.Key]; before.Try == 0 { // an input that has shown something once may have run again with another worker
			t.ends[s.Key] = s
		}
	}
	return nil
}

func (t *Triage) announce(w io.Writer, o *flags.Options) {
	until := ""
	if o.Duration > 0 {
		until = " for " + o.Duration.String() + " at most"
	}
	fmt.Fprintf(w, "teasel: running %s%s, into %s; Ctrl-C stops and saves\n", noun.Count(len(t.Files), "input", "inputs"), until, o.Out)
}

// ended returns what the files came to, given what the campaign has found.
func (t *Triage) ended(sum *teasel.Summary) []corpus.Triaged {
	for i := range t.Files {
		f := &t.Files[i]
		end, ok := t.ends[f.Key]
		if !ok {
			continue
		}
		f.Exit, f.Try = end.Exit.String(), end.Try
		for k := range end.Findings {
			if id := recorded(&end.Findings[k], sum); id != "" {
				f.Finding = id
				break
			}
		}
		if f.Finding == "" { // what it showed is switched off
			f.Try = 0
		}
	}
	return t.Files
}

// recorded returns the id of the finding that was recorded for one that an input has shown: itself or, where that is uncertain, one that
// it matches, or the fault at the same place; "": there is none.
func recorded(f *teasel.Finding, sum *teasel.Summary) string {
	same := []func(g *teasel.Finding) bool{
		func(g *teasel.Finding) bool { return g.ID() == f.ID() },
		func(g *teasel.Finding) bool { return f.Place != "" && g.Place == f.Place },
		f.Matches,
	}
	for _, is := range same {
		for _, fs := range [...][]teasel.Finding{sum.Findings, sum.Unconfirmed} {
			if i := slices.IndexFunc(fs, func(g teasel.Finding) bool { return is(&g) }); i >= 0 {
				return fs[i].ID()
			}
		}
	}
	return ""
}

// Input is a file to triage.
type Input struct {
	File string
	Data []byte
}

// AddInput adds a file to triage, whose input is run once however many files have it.
func (p *Plan[T]) AddInput(in Input, input T) {
	key := teasel.Key(in.Data)
	if !slices.ContainsFunc(p.Triage.Files, func(f corpus.Triaged) bool { return f.Key == key }) {
		p.Seeds = append(p.Seeds, Seed[T]{Folder: corpus.Valid, Name: filepath.Base(in.File), Input: input})
	}
	p.Triage.Files = append(p.Triage.Files, corpus.Triaged{File: in.File, Key: key})
}

// artifact matches the names that libFuzzer gives to inputs that it reports.
var artifact = regexp.MustCompile(`^(crash|leak|oom|timeout|slow-unit)-[0-9a-f]{40}$`)

// aflFolder matches the folders in which AFL++, and a campaign of teasel, keep what they have found; AFL++ renames that of an earlier run.
var aflFolder = regexp.MustCompile(`^(crashes|hangs)(\..*)?$`)

// aflNote is what AFL++ writes into such a folder beside the inputs. It has the command that was fuzzed.
const aflNote = "README.txt"

// LoadInputs reads the files to triage in a directory, smaller ones first: those in the folders crashes and hangs of the directory, as AFL++'s
// output and a campaign of teasel have them, or of folders in it; those with names that libFuzzer gives, if there are any; or all. A single file is fine too.
func LoadInputs(path string, w io.Writer) ([]Input, error) {
	if kind := conversations(path); kind != "" {
		return nil, exit.Usage("each of them is one fault already; to run them all again: teasel repro --all "+plain.Quote(path), "%s has findings of teasel %s, whose inputs are not files but conversations", path, kind)
	}
	roots := []string{path}
	for _, pattern := range []string{"*", "*/*"} {
		in, _ := filepath.Glob(filepath.Join(glob.Escape(path), pattern)) // the pattern is well formed
		if in = slices.DeleteFunc(in, func(p string) bool { return !aflFolder.MatchString(filepath.Base(p)) }); len(in) > 0 {
			roots = in
			break
		}
	}
	var ins []Input
	for _, root := range roots {
		all, problems, err := corpus.LoadFiles(root)
		if err != nil {
			return nil, exit.Usage("name a directory of inputs that crash, such as AFL++'s out/default/crashes", "%w", err)
		}
		Warn(w, problems)
		named := slices.ContainsFunc(all, func(s corpus.Seed) bool { return artifact.MatchString(filepath.Base(s.Name)) })
		for _, s := range all {
			base := filepath.Base(s.Name)
			if base == aflNote || named && !artifact.MatchString(base) {
				continue
			}
			if rel, err := filepath.Rel(path, filepath.Join(root, s.Name)); err == nil && rel != "." && len(all) > 1 {
				s.Name = rel
			}
			ins = append(ins, Input{s.Name, s.Data})
		}
	}
	slices.SortStableFunc(ins, func(a, b Input) int { return len(a.Data) - len(b.Data) })
	if len(ins) == 0 {
		return nil, exit.Usage("name a directory of inputs that crash, such as AFL++'s out/default/crashes", "there are no inputs in %s", path)
	}
	return ins, nil
}

// conversations returns the kind of the findings in a directory, or below it, if it is one whose inputs are conversations; "": it is not.
func conversations(path string) string {
	for _, pattern := range []string{"*.json", corpus.Findings + "/*.json", "*/" + corpus.Findings + "/*.json"} {
		files, _ := filepath.Glob(filepath.Join(glob.Escape(path), pattern)) // the pattern is well formed
		for _, file := range files {
			if f, err := corpus.ReadFinding(file); err == nil && (f.Kind == "mcp" || f.Kind == "net") {
				return f.Kind
			}
		}
	}
	return ""
}

// aflCommand is the line of AFL++'s note that has the command.
var aflCommand = regexp.MustCompile(`(?m)^\S*afl-fuzz .* -- (.+)$`)

// FuzzedCommand returns the command that AFL++ fuzzed when it wrote a directory, as its note has it; "": that is not known.
func FuzzedCommand(path string) string {
	for _, pattern := range []string{aflNote, "crashes/" + aflNote, "*/crashes/" + aflNote} {
		notes, _ := filepath.Glob(filepath.Join(glob.Escape(path), pattern))
		for _, note := range notes {
			text, _ := os.ReadFile(note)
			if m := aflCommand.FindSubmatch(text); m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}
