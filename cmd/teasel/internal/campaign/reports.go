package campaign

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/report"
)

// WriteReport writes a report to w.
func WriteReport(w io.Writer, format string, r *report.Run) error {
	if err := report.Write(w, format, r); err != nil {
		return exit.Failure(err)
	}
	return nil
}

// WriteReports writes the report to w in the format of --format, and to each file of --report. All are written even if one cannot be.
func WriteReports(w io.Writer, o *flags.Options, r *report.Run) error {
	err := WriteReport(w, o.Format, r)
	for _, f := range o.Reports {
		if e := WriteReportFile(f, r); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// WarnMemory says that a run has ended early for want of memory, and how to give it more.
func WarnMemory(w io.Writer, o *flags.Options, r *report.Run) {
	if r.Summary.Stopped == "memory" {
		fmt.Fprintf(w, "teasel: note: the run ended early: teasel held more memory than --max-memory %v allows\n", o.Memory)
		fmt.Fprintf(w, "hint: --max-memory %v allows twice as much; inputs of many kilobytes and many workers take most\n", 2*o.Memory)
	}
}

// WriteReportFile writes a report to a file.
func WriteReportFile(file flags.ReportFile, r *report.Run) error {
	if err := os.MkdirAll(filepath.Dir(file.Path), 0o755); err != nil {
		return exit.Usage("name a file that can be written", "writing the report: %w", err)
	}
	f, err := os.Create(file.Path)
	if err != nil {
		return exit.Usage("name a file that can be written", "writing the report: %w", err)
	}
	if err := WriteReport(f, file.Format, r); err != nil {
		_ = f.Close()
		return err
	}
	return exit.Failure(f.Close())
}
