package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func Example() {
	p, err := Start(Command{Args: []string{"sh", "-c", "read line; echo you said $line; exit 3"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Stdin.WriteString("hello\n")
	answer, _ := io.ReadAll(p.Stdout)
	fmt.Print(string(answer))
	<-p.Ended()
	p.Close()
	fmt.Println("status", p.State().Code)
	// Output:
	// you said hello
	// status 3
}

// start runs a shell script and checks, when the test is over, that no process and no goroutine is left.
func start(t *testing.T, script string) *Process {
	t.Helper()
	before := runtime.NumGoroutine()
	p, err := Start(Command{Args: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if left := processesWithMarker(p.marker); len(left) > 0 {
			t.Errorf("processes %v are still alive", left)
		}
		eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	})
	return p
}

// processesWithMarker finds living processes by their environment, independently of the package's code.
func processesWithMarker(marker string) (pids []string) {
	out, _ := exec.Command("sh", "-c", "grep -la "+marker+" /proc/[0-9]*/environ 2>/dev/null").Output()
	for _, name := range strings.Fields(string(out)) {
		pids = append(pids, strings.Split(name, "/")[2])
	}
	return pids
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out before %s", what)
		}
	}
}

func alive(pid int) bool {
	var buf [1024]byte
	r, ok := readStat(pid, buf[:])
	return ok && !r.dead()
}

// number reads a line with a process number.
func number(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestState(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   State
		stderr string
	}{
		{"exit 0", State{}, ""},
		{"echo oops >&2; exit 7", State{Code: 7}, "oops\n"},
		{"kill -SEGV $$", State{Code: -1, Signal: syscall.SIGSEGV}, ""},
	} {
		p := start(t, tt.script)
		<-p.Ended()
		p.Close()
		got := p.State()
		if got.MaxRSS == 0 {
			t.Errorf("%q: MaxRSS is 0", tt.script)
		}
		got.CPU, got.MaxRSS = 0, 0
		if got != tt.want {
			t.Errorf("%q ended as %+v, want %+v", tt.script, got, tt.want)
		}
		if b, _ := p.Stderr(0); string(b) != tt.stderr {
			t.Errorf("%q wrote %q, want %q", tt.script, b, tt.stderr)
		}
	}
}

func TestAborted(t *testing.T) {
	p := start(t, "sleep 1000")
	p.Close()
	if s := p.State(); !s.Aborted || s.Signal != syscall.SIGKILL {
		t.Errorf("state is %+v, want Aborted and SIGKILL", s)
	}
}

func TestStartFails(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		c    Command
		want error
	}{
		{Command{Args: []string{"teasel-no-such-program"}}, exec.ErrNotFound},
		{Command{Args: []string{file}}, os.ErrPermission},
		{Command{Args: []string{"sh"}, Dir: "/no/such/directory"}, os.ErrNotExist},
	} {
		before := runtime.NumGoroutine()
		if _, err := Start(tt.c); !errors.Is(err, tt.want) {
			t.Errorf("%+v: error is %v, want %v", tt.c, err, tt.want)
		}
		eventually(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	}
	if _, err := Start(Command{}); err == nil {
		t.Error("an empty command was started")
	}
}

func TestEnvironmentAndDirectory(t *testing.T) {
	dir := t.TempDir()
	p, err := Start(Command{
		Args: []string{"sh", "-c", "echo $TEASEL_TEST; pwd"}, Env: []string{"TEASEL_TEST=set"}, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := io.ReadAll(p.Stdout)
	if want := "set\n" + dir + "\n"; string(out) != want || err != nil {
		t.Errorf("read %q, %v, want %q", out, err, want)
	}
}

func TestFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(Command{Args: []string{"sh", "-c", "echo hello >&3"}, Files: []*os.File{w}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestCloseKillsEverything starts processes that survive a simple kill. Each script prints the number of the process that must
// be killed.
func TestCloseKillsEverything(t *testing.T) {
	for name, script := range map[string]string{
		"ignores everything":    `trap "" TERM INT HUP; echo $$; while :; do sleep 1000; done`,
		"child":                 `sleep 1000 & echo $!; wait`,
		"child of a dead shell": `sleep 1000 & echo $!; exit 0`,
		"own session":           `setsid sh -c 'echo $$; exec sleep 1000' & wait`,
		"daemon":                `(setsid sh -c 'echo $$; exec sleep 1000' &); exit 0`,
		"without environment":   `setsid env -i sh -c 'echo $$; exec sleep 1000' & wait`,
		"holds standard error":  `(setsid sh -c 'echo $$; exec sleep 1000' >/dev/null &) ; echo $$; exit 0`,
		"child of an orphan":    `(sh -c 'setsid env -i sh -c "echo \$\$; exec sleep 1000" & wait' &); sleep 1000`,
		"many":                  `for i in 1 2 3 4 5 6 7 8; do setsid sleep 1000 & done; echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, script)
			pid := number(t, bufio.NewReader(p.Stdout))
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Errorf("process %d is still alive", pid)
			}
		})
	}
}

func TestStop(t *testing.T) {
	p := start(t, "cat; exit 5")
	p.Stop(10 * time.Second)
	p.Close()
	if s := p.State(); s.Aborted || s.Code != 5 {
		t.Errorf("state is %+v, want an exit with 5", s)
	}
	p = start(t, "sleep 1000")
	p.Stop(time.Millisecond)
	if !p.Running() {
		t.Error("the program has ended, though it does not read its input")
	}
}

// TestThreadEnds: the kernel sends the parent-death signal when the thread that started the program ends, which therefore must
// not be the caller's thread.
func TestThreadEnds(t *testing.T) {
	var p *Process
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		p = start(t, "echo up; cat")
	}()
	<-done
	r := bufio.NewReader(p.Stdout)
	for _, want := range []string{"up\n", "ping\n"} {
		if line, err := r.ReadString('\n'); line != want {
			t.Fatalf("read %q, %v, want %q", line, err, want)
		}
		p.Stdin.WriteString("ping\n")
	}
}

// TestParentKilled kills a process that has started others and checks that those end too.
func TestParentKilled(t *testing.T) {
	const role = "TEASEL_TEST_PARENT"
	if os.Getenv(role) != "" {
		p, err := Start(Command{Args: []string{"sh", "-c", `trap "" TERM HUP; sh -c 'echo $$; cat; :'; sleep 1000`}})
		if err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
		fmt.Fprintf(os.Stderr, "%d\n%s", p.PID(), line)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), role+"=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(stderr)
	child, grandchild := number(t, r), number(t, r)
	if !alive(child) {
		t.Fatal("the child is not running")
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "the child was killed", func() bool { return !alive(child) })
	eventually(t, "the grandchild has read the end of its input", func() bool { return !alive(grandchild) })
}

func TestStderrTail(t *testing.T) {
	p := start(t, `i=0; while [ $i -lt 3000 ]; do echo "line $i of what is written to standard error" >&2; i=$((i+1)); done; echo done; cat`)
	if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	b, mark := p.Stderr(0)
	if len(b) != TailSize || !bytes.HasSuffix(b, []byte("line 2999 of what is written to standard error\n")) {
		t.Errorf("the tail has %d bytes and ends in %q", len(b), b[max(0, len(b)-60):])
	}
	if mark != p.Written() || mark <= TailSize {
		t.Errorf("Stderr counts %d bytes, Written %d", mark, p.Written())
	}
	if b, _ := p.Stderr(mark - 5); string(b) != "rror\n" {
		t.Errorf("the last five bytes are %q", b)
	}
	if b, _ := p.Stderr(mark); b != nil {
		t.Errorf("after the last byte: %q", b)
	}
}

// TestStderrFlood: a program that never stops writing to standard error neither blocks nor blocks us.
func TestStderrFlood(t *testing.T) {
	p := start(t, "yes >&2")
	eventually(t, "a megabyte was read", func() bool { return p.Written() > 1<<20 })
	if b, _ := p.Stderr(0); len(b) != TailSize {
		t.Errorf("the tail has %d bytes", len(b))
	}
}

func TestUsage(t *testing.T) {
	busy := start(t, "while :; do :; done")
	eventually(t, "processor time was used", func() bool {
		own, _ := ProcessorTime(busy.pid)
		return busy.Clock().Read() > 20*time.Millisecond && own > 20*time.Millisecond
	})
	eventually(t, "one running thread was reported", func() bool { running, all := busy.Threads(); return running == 1 && all == 1 })
	if rss := busy.RSS(); rss < 100<<10 || rss > 1<<30 {
		t.Errorf("the RSS is %d bytes", rss)
	}
	idle := start(t, "sleep 1000 & sleep 1000 & echo up; wait")
	if _, err := bufio.NewReader(idle.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three sleeping threads were reported", func() bool { running, all := idle.Threads(); return running == 0 && all == 3 })
	one := start(t, "exec sleep 1000")
	if idle.RSS() <= one.RSS() {
		t.Errorf("the RSS of three processes is %d bytes, that of one %d", idle.RSS(), one.RSS())
	}
}

// TestDeadlines: a write to a program that does not read ends at the deadline.
func TestDeadlines(t *testing.T) {
	p := start(t, "sleep 1000")
	p.Stdin.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	n, err := p.Stdin.Write(make([]byte, 1<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == 1<<20 {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
}

// TestNice: Command.Nice holds for the program and its children, and for no other program.
func TestNice(t *testing.T) {
	niceness := func(nice int) int {
		t.Helper()
		p, err := Start(Command{Args: []string{"sh", "-c", "read line; nice"}, Nice: nice})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Stdin.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		return number(t, bufio.NewReader(p.Stdout))
	}
	usual := niceness(0)
	for range 20 {
		if got, want := niceness(7), min(usual+7, 19); got != want {
			t.Errorf("with Nice 7 the niceness is %d, want %d", got, want)
		}
		if got := niceness(0); got != usual {
			t.Fatalf("without Nice the niceness is %d, want %d", got, usual)
		}
	}
}

// TestSessionNice: where sessions have a niceness of their own, Command.Nice sets that of the program's session.
func TestSessionNice(t *testing.T) {
	const file = "/proc/%d/autogroup"
	if _, err := os.Stat(fmt.Sprintf(file, os.Getpid())); err != nil {
		t.Skip("skipped: this kernel has no autogroups")
	}
	p, err := Start(Command{Args: []string{"cat"}, Nice: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("nice %d\n", min(20-own+7, 19))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf(file, p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(string(text), want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the session's niceness is %q, want %q", text, want)
		}
	}
}

// TestClock: a Clock counts the descendants that were alive when it was made.
func TestClock(t *testing.T) {
	p := start(t, `sh -c 'echo 1; while :; do :; done' & read line`)
	number(t, bufio.NewReader(p.Stdout))
	c := p.Clock()
	before := c.Read()
	for c.Read() < before+20*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	if own, _ := ProcessorTime(p.pid); own > before+10*time.Millisecond {
		t.Errorf("the shell itself has used %v", own)
	}
}

// TestGuardianRemoves: when the process ends without closing the guardian, everything passed to Remove is removed, and nothing
// else.
func TestGuardianRemoves(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"first", "second one", "third", "kept"} {
		if err := os.Mkdir(path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path("kept"), path("link")); err != nil {
		t.Fatal(err)
	}
	g, err := Guard("teasel-no-such-marker", path("first"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"second one", "third", "link"} {
		if err := g.Remove(path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.life.Close(); err != nil { // as the kernel does when the process dies
		t.Fatal(err)
	}
	if err := g.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "kept" {
		t.Errorf("the folder contains %v, %v", left, err)
	}
}

func TestMerge(t *testing.T) {
	p, err := Start(Command{Args: []string{"sh", "-c", "echo one; echo two >&2; echo three"}, Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if p.Stdout != nil {
		t.Error("there is a pipe for standard output")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if text, _ := p.Stderr(0); string(text) != "one\ntwo\nthree\n" {
		t.Errorf("got %q", text)
	}
}

func TestCredential(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can start a program as another user")
	}
	p, err := Start(Command{Args: []string{"id", "-u"}, Merge: true, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if text, _ := p.Stderr(0); string(text) != "65534\n" {
		t.Errorf("the program runs as user %q", text)
	}
}
