package campaign

import (
	"errors"
	"testing"

	"github.com/teaselfuzz/teasel/report"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// The error of a report that cannot be written says once what was being done.
func TestWriteReportError(t *testing.T) {
	for _, format := range report.Formats() {
		err := WriteReport(fullDisk{}, format, &report.Run{})
		if err == nil || err.Error() != "writing the report: no space left" {
			t.Errorf("%s: %v", format, err)
		}
	}
}
