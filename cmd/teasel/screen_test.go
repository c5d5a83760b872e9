package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/netproto/conn"
)

// window is a terminal of tmux in which a shell runs.
type window struct {
	t      *testing.T
	socket string
}

// newWindow opens a window in a folder with a copy of the program, called teasel.
func newWindow(t *testing.T) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal("tmux is not installed; scripts/setup-test.sh installs it")
		}
		t.Skip("tmux is not installed; scripts/setup-test.sh installs it")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyProgram(t, self, filepath.Join(dir, "teasel"))
	w := &window{t, filepath.Join(dir, "tmux")}
	w.do("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", dir,
		"env -u CI -u NO_COLOR LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=screen PS1='ready> ' bash --norc --noprofile")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	return w
}

func (w *window) do(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", w.socket}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *window) keys(names ...string) {
	w.t.Helper()
	w.do(append([]string{"send-keys"}, names...)...)
}

// await waits until the window shows all of these texts.
func (w *window) await(texts ...string) {
	w.t.Helper()
	picture := ""
	for range 1200 {
		picture = w.do("capture-pane", "-p")
		missing := 0
		for _, text := range texts {
			if !strings.Contains(picture, text) {
				missing++
			}
		}
		if missing == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain for %q; the window shows\n%s", texts, picture)
}

// A campaign in a terminal: every key, sizes, suspend and fg, Ctrl-C and kill. The terminal is usable afterwards.
func TestScreenInTmux(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.keys("./teasel demo --duration 1h", "Enter")
	w.await("mcp: teasel demo-server", "running", "[findings", "mcp/server-crash") // a finding, which Enter opens
	for _, step := range []struct{ key, shows string }{
		{"?", "the next panel"}, {"?", "[findings"}, {"Tab", "[stages]"}, {"Tab", "[workers"}, {"Tab", "[requests]"}, {"Tab", "[log]"}, {"Tab", "[findings"},
		{"Down", "[findings"}, {"Up", "[findings"}, {"Enter", "reproduced"}, {"Escape", "tab panel"}, {"/", "filter the findings"}, {"zzz", "findings 0 of"}, {"Escape", "tab panel"},
		{"p", "paused"}, {"p", "running"},
	} {
		w.keys(step.key)
		w.await(step.shows)
	}
	w.do("resize-window", "-x", "140", "-y", "40")
	w.await("── stages", "── log")
	w.do("resize-window", "-x", "20", "-y", "5")
	w.await("mcp running", "findings")
	w.do("resize-window", "-x", "80", "-y", "24")
	w.await("[findings", "q stop")
	w.keys("C-z")
	w.await("Stopped")
	w.keys("stty -a | grep -c ' icanon.* echo '; clear; fg", "Enter")
	w.await("running", "[findings")
	w.keys("C-c")
	w.await("to carry on: teasel resume")
	w.keys("clear; echo status $?; stty -a | grep -o ' icanon'", "Enter")
	w.await(" icanon")

	w.keys("clear; ./teasel demo --duration 1h --fresh; echo status $?", "Enter")
	w.await("running", "[findings")
	pid := strings.TrimSpace(w.do("display-message", "-p", "#{pane_pid}"))
	child, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil {
		t.Fatal(err)
	}
	teasel, err := strconv.Atoi(strings.TrimSpace(string(child)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(teasel, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.await("status 130")
	w.keys("clear; stty -a | grep -o ' icanon'", "Enter")
	w.await(" icanon")
}

// TestSandboxInTmux: in a sandbox, where another process runs the campaign, the keys and job control of a shell do what they do without one.
func TestSandboxInTmux(t *testing.T) {
	t.Parallel()
	if err := conn.NamespaceAllowed(); err != nil {
		t.Skip("this machine refuses namespaces:", err)
	}
	w := newWindow(t)
	w.keys("./teasel native --sandbox --duration 1h -- cat", "Enter")
	w.await("native: cat", "running", "[findings")
	w.keys("p")
	w.await("paused")
	w.keys("p")
	w.await("running")
	w.keys("C-z")
	w.await("Stopped")
	w.keys("clear; fg", "Enter")
	w.await("running", "[findings")
	w.keys("C-c")
	w.await("to carry on: teasel resume")

	w.keys("clear; ./teasel native --sandbox --fresh --no-ui --duration 1h -- cat | cat", "Enter") // which stops with us
	w.await("profile standard")
	w.keys("C-z")
	w.await("Stopped")
	w.keys("clear; printf 'go%s' ing; fg", "Enter")
	w.await("going", "features") // of a line that is printed every ten seconds
	w.keys("C-c")
	w.await("to carry on: teasel resume")

	w.keys("clear; ./teasel native --sandbox --fresh --duration 1h -- cat &", "Enter")
	w.await("profile standard")
	w.keys(`until [ "$(jobs -s)" ]; do sleep 0.1; done; clear; fg`, "Enter") // it may stop only after that otherwise
	w.await("running", "[findings")
	w.keys("q")
	w.await("to carry on: teasel resume")
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
