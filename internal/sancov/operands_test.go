package sancov

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOperandTable: threads that compare concurrently get a record each, and no record lies beyond the end of the table.
func TestOperandTable(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatalf("%v: scripts/setup-test.sh installs it", err)
		}
		t.Skipf("%v: scripts/setup-test.sh installs it", err)
	}
	bin := filepath.Join(t.TempDir(), "operands")
	wrapped := strings.Split("memcmp bcmp strcmp strcasecmp strncmp strncasecmp memmem strstr", " ")
	if out, err := exec.Command(cc, "-O1", "-pthread", "-Iruntime", "-Wl,--wrap="+strings.Join(wrapped, ",--wrap="), filepath.Join("testdata", "operands.c"), "-o", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(bin).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
