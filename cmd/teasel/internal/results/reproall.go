package results

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/noun"
)

// reproAll runs the inputs of all findings of the campaigns in a directory, or of the findings' files in it.
func reproAll(cmd *cobra.Command, dir string, tries int) error {
	files := findingFiles(dir)
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(glob.Escape(dir), "*.json")) // the pattern is valid
	}
	seen := map[string]bool{}
	var all []*corpus.FindingFile
	for _, path := range files {
		f, err := readFinding(path)
		if err != nil {
			return err
		}
		if id := f.Finding.ID(); !seen[id] {
			seen[id] = true
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return exit.Usage("the findings of a campaign are in its directory under findings/", "there are no findings in %s", dir)
	}
	w, shown := cmd.OutOrStdout(), 0
	line := progress.New(cmd.ErrOrStderr(), "findings", len(all))
	defer line.Clear()
	for i, f := range all {
		err := withReplayer(cmd.Context(), cmd.ErrOrStderr(), f, func(b campaign.Replayer) error {
			line.Clear()
			return b.Repro(cmd.Context(), w, f, tries)
		})
		var e *exit.Error
		switch {
		case errors.As(err, &e) && e.Status == exit.StatusFindings:
			shown++
		case err != nil:
			return err
		}
		fmt.Fprintln(w)
		line.Show(i+1, "")
	}
	line.Clear()
	fmt.Fprintf(w, "%s: %d reproduced, %d not\n", noun.Count(len(all), "finding", "findings"), shown, len(all)-shown)
	if shown > 0 {
		return &exit.Error{Status: exit.StatusFindings}
	}
	return nil
}
