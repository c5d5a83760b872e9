package proc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// What is wrong with a program that the system does not start is said in words.
func TestStartFailure(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, what, hint string }{
		{filepath.Join(dir, "missing"), "no such file or directory", "check the path"},
		{"there-is-no-such-command", "command not found", "spelling"},
		{dir, "is a directory", "in it"},
		{file("text", "hello", 0o644), "not executable", "chmod +x"},
		{file("script", "#!/no/such/interpreter\n", 0o755), "interpreter in the first line", "interpreter"},
		{file("plain", "\x00hello", 0o755), "not a program for this machine", "name the interpreter"},
		{file("elf", "\x7fELF\x02\x01\x01", 0o755), "not a program for this machine", "build it for this one"},
	} {
		_, err := proc.Start(proc.Command{Args: []string{c.name}})
		if err == nil {
			t.Errorf("%s was started", c.name)
			continue
		}
		if what, hint := proc.StartFailure(c.name, err); !strings.Contains(what, c.what) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %v: %q with hint %q, want %q and %q", c.name, err, what, hint, c.what, c.hint)
		}
	}
}
