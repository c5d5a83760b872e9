package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// orDefault returns the path that the arguments of a verb name: without one, the directory that campaigns write; of two, the second is a
// finding of the campaign in the first.
func orDefault(args []string) string {
	switch len(args) {
	case 0:
		return flags.DefaultOut
	case 1:
		return args[0]
	}
	return filepath.Join(args...)
}

// findingPath returns the file of the finding that the arguments of a verb name: by its file, by the file with its input, by its id
// or the beginning of it, or, if there is only one, by the directory of its campaign. Without an argument the directory is teasel-out.
func findingPath(args []string) (string, error) {
	name := orDefault(args)
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir() && gotest.IsCorpusDir(filepath.Clean(name)):
		return "", exit.Usage("name a file in it", "%s is a directory, expected a finding's file", name)
	case err == nil && info.IsDir():
		return onlyFinding(name)
	case err == nil:
		return corpus.FindingOf(name), nil
	case previousFinding(name) != "":
		return name, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", exit.Usage("name a finding's file, or its id", "reading a finding: %w", err)
	case len(args) == 0:
		return "", exit.Usage("name a finding's file, or the directory of its campaign; a campaign writes to "+flags.DefaultOut+" unless --out says otherwise", "there is no %s here", name)
	}
	dir, id := filepath.Split(strings.TrimSuffix(name, ".json"))
	switch dir = filepath.Clean(dir); {
	case !strings.ContainsRune(name, filepath.Separator):
		dir = flags.DefaultOut
	case filepath.Base(dir) == corpus.Findings || filepath.Base(dir) == corpus.Unconfirmed:
		dir = filepath.Dir(dir)
	}
	return findingByID(name, dir, id)
}

// findingByID returns the file of the finding below a directory whose id begins with the given one. name is how the user called it.
func findingByID(name, dir, id string) (string, error) {
	files := findingFiles(dir)
	var matching []string
	byID := map[string]string{}
	for _, f := range files {
		whole := findingName(f)
		byID[whole] = f
		if whole == id {
			return f, nil
		}
		if id != "" && strings.HasPrefix(whole, id) {
			matching = append(matching, f)
		}
	}
	switch {
	case len(matching) == 1:
		return matching[0], nil
	case len(matching) > 1:
		return "", exit.Usage("name one of them:\n"+listOf(matching), "%s is the beginning of the ids of %d findings", name, len(matching))
	case len(files) == 0 && !exists(dir):
		hint := "name a finding's file, or its campaign's directory and its id: other-out/" + id
		if here := campaign.Here(); len(here) > 0 {
			hint = "name the campaign too, as in " + plain.Quote(filepath.Join(here[0], id)) + "; there are these here: " + strings.Join(here, ", ")
		}
		return "", exit.Usage(hint, "there is no %s, and no folder %s that could have such a finding", name, dir)
	case len(files) == 0:
		hint := "a finding is named by its file, by its id, or by the directory of its campaign"
		if here := slices.DeleteFunc(campaign.Here(), func(c string) bool { return c == dir }); len(here) > 0 {
			hint += "; there are these here beside it: " + strings.Join(here, ", ")
		}
		return "", exit.Usage(hint, "there is no %s, and no finding in %s", name, dir)
	}
	ids := make([]string, 0, len(byID))
	for whole := range byID {
		ids = append(ids, whole)
	}
	slices.Sort(ids)
	if near := flags.Nearest(id, ids); near != "" {
		return "", exit.Usage("did you mean this one?\n"+listOf([]string{byID[near]}), "there is no finding %s in %s", name, dir)
	}
	return "", exit.Usage("there are these:\n"+listOf(files), "there is no finding %s in %s", name, dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// onlyFinding returns the file of the only finding of the campaigns in a directory.
func onlyFinding(dir string) (string, error) {
	files := findingFiles(dir)
	switch {
	case len(files) == 1:
		return files[0], nil
	case len(files) > 1:
		return "", exit.Usage("name one of them:\n"+listOf(files), "%s has %d findings", dir, len(files))
	case corpus.IsCampaign(dir):
		return "", exit.Usage("", "the campaign in %s has found nothing", dir)
	}
	return "", exit.Usage("the findings of a campaign are in its directory under findings/", "%s is a directory, expected a finding's file", dir)
}

// findingFiles returns the files of the findings of the campaigns in a directory; unconfirmed ones are there if no other is.
func findingFiles(dir string) (files []string) {
	dirs, err := campaign.Find(dir)
	if err != nil {
		return nil // who asked finds nothing
	}
	for _, folder := range [...]string{corpus.Findings, corpus.Unconfirmed} {
		for _, d := range dirs {
			more, _ := filepath.Glob(filepath.Join(glob.Escape(d), folder, "*.json")) // the pattern is valid
			files = append(files, more...)
		}
		if len(files) > 0 {
			return files
		}
	}
	return nil
}

func findingName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".json") }

// maxListed is how many findings an error lists.
const maxListed = 8

// listOf returns a line for each of some findings.
func listOf(files []string) string {
	var b strings.Builder
	for i, file := range files {
		if i == maxListed {
			fmt.Fprintf(&b, "\n  and %d more", len(files)-maxListed)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", plain.Quote(findingName(file)), titleOf(file))
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// titleOf returns the severity, rule and subject of the finding in a file.
func titleOf(file string) string {
	f, err := corpus.ReadFinding(file)
	if err != nil {
		return "(cannot be read)"
	}
	x := &f.Finding
	return fmt.Sprintf("%s  %s  %s", x.Severity, plain.Line(x.Rule), plain.Line(x.Subject))
}

// completeFinding has the shell complete the ids of the findings in teasel-out, or in the directory before, and names of files.
func completeFinding(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, file := range findingFiles(orDefault(args)) {
		ids = append(ids, cobra.CompletionWithDesc(findingName(file), titleOf(file)))
	}
	return ids, cobra.ShellCompDirectiveDefault
}

// completeDir has the shell complete the directories of campaigns.
func completeDir(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// findingOf reads the finding that the arguments of a verb name, of which path is the file. ours: it is no mere input of Go's testdata.
func findingOf(cmd *cobra.Command, args []string, g gotest.Target) (f *corpus.FindingFile, path string, ours bool, err error) {
	if path, err = findingPath(args); err != nil {
		return nil, "", false, err
	}
	if f, err = gotest.CorpusFile(path, g); err != nil || f != nil {
		return f, path, false, err
	}
	if f, err = readFinding(path); err == nil {
		err = gotest.RefuseFlags(cmd, path)
	}
	return f, path, true, err
}
