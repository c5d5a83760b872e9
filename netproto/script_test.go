package netproto

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// The program shows the bug without teasel, and nothing on the clean twin.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	in := dialogue.Raw(request(1, "it's \"me\"\\\n"), request(7, "!!"))
	for name, dies := range map[string]bool{"bad": true, "clean": false} {
		var flags []string
		if !dies {
			flags = []string{"-DCLEAN"}
		}
		target := plantedTarget(t, planted(t, "clang", flags...))
		target.Model = nil
		text, err := target.Script(in, "a \"crash\" of the server", 1)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "repro.py")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", file).CombinedOutput()
		if (err != nil) != dies || strings.Contains(string(out), "the server has died: status -4") != dies {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
