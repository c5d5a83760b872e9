package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
