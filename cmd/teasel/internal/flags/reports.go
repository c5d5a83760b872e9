package flags

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/report"
)

// ReportFile is a file that gets the report in a format when the campaign has ended.
type ReportFile struct{ Format, Path string }

// AddReports gives a command the flags that say how it reports at its end.
func AddReports(cmd *cobra.Command, o *Options) {
	cmd.Flags().Var(Choice(&o.Format, report.Formats()), "format", "what is written to standard output at the end")
	cmd.Flags().Var((*reportFiles)(&o.Reports), "report", "also write the report to a file, in a format of --format: sarif=teasel.sarif, or the ending alone says which: teasel.sarif; may be given several times")
	SetGroup(cmd.Flags(), resultsGroup, "format", "report")
}

// checkReports refuses files of --report that cannot be written: the report is written when the campaign has ended, which may be hours later.
func (o *Options) checkReports() error {
	seen := map[string]bool{}
	for _, r := range o.Reports {
		const hint = "name a file that can be written"
		path := filepath.Clean(r.Path)
		if seen[path] {
			return exit.Usage("name a file for each format", "--report %s: two reports would be written to this file", r.Path)
		}
		seen[path] = true
		at := path
		info, err := os.Stat(at)
		if err == nil && info.IsDir() {
			return exit.Usage(hint, "--report %s: it is a directory", r.Path)
		}
		for (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && at != filepath.Dir(at) { // folders that are missing are made
			at = filepath.Dir(at)
			if info, err = os.Stat(at); err == nil && !info.IsDir() {
				return exit.Usage(hint, "--report %s: %s is no directory", r.Path, at)
			}
		}
		if err == nil {
			err = unix.Access(at, unix.W_OK)
		}
		if err != nil {
			return exit.Usage(hint, "--report %s: writing to %s: %w", r.Path, at, err)
		}
	}
	return nil
}

// reportFiles is the value of --report. Each use adds a file.
type reportFiles []ReportFile

var _ pflag.SliceValue = (*reportFiles)(nil)

func (v *reportFiles) String() string { return strings.Join(v.GetSlice(), ",") }
func (v *reportFiles) Type() string   { return reportType }

// reportType is the type of --report.
const reportType = "FORMAT=FILE"

func (v *reportFiles) Set(text string) error { return v.Append(text) }

// Append adds a file.
func (v *reportFiles) Append(text string) error {
	format, path, ok := strings.Cut(text, "=")
	if !ok {
		format, path = report.FormatOf(text), text
	}
	if path == "" || !slices.Contains(report.Formats(), format) {
		return fmt.Errorf("expected FORMAT=FILE with a format of %s, or a FILE whose ending says which: teasel.sarif", strings.Join(report.Formats(), ", "))
	}
	*v = append(*v, ReportFile{format, path})
	return nil
}

// Replace sets all files.
func (v *reportFiles) Replace(texts []string) error {
	*v = nil
	for _, text := range texts {
		if err := v.Append(text); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice returns the files as they were given.
func (v *reportFiles) GetSlice() (texts []string) {
	for _, f := range *v {
		texts = append(texts, f.Format+"="+f.Path)
	}
	return texts
}
