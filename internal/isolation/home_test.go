package isolation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMain runs the tests of sandboxes where there may be some.
func TestMain(m *testing.M) {
	if os.Getenv("TEASEL_TEST_ROOM") == "" { // a process of its own, whose output go test can wait for
		os.Exit(m.Run())
	}
	if Entered() {
		os.Exit(m.Run())
	}
	status, err := Enter("")
	if err != nil {
		fmt.Println(err)
		status = refusedStatus
	}
	os.Exit(status)
}

const refusedStatus = 77

// inSandbox runs a test again in the user namespace of Enter, and reports whether this is that run.
func inSandbox(t *testing.T) bool {
	if os.Getenv("TEASEL_TEST_ROOM") != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), "TEASEL_TEST_ROOM=1")
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == refusedStatus {
		t.Skipf("sandboxes cannot be made on this machine: %s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in the sandbox: %v\n%s", err, out)
	}
	return false
}

func start(t *testing.T, r *Home, script string) (output string, status syscall.WaitStatus) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), r.Env()...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := r.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// TestSandbox: a program in a sandbox writes to its own folders only, reaches no listener and no process outside, and sees no home; how it
// ends is seen as ever.
func TestSandbox(t *testing.T) {
	if !inSandbox(t) {
		return
	}
	home := t.TempDir() // below the temporary directory, which is hidden as a home is
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	allowed := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Wait()
	defer victim.Process.Kill()
	f := open(t, t.TempDir())
	r, err := Make(Config{Scratch: f.Path(), Sandbox: NewSandbox(true, []string{allowed}, nil, "")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir, _ := os.Getwd()
	for _, c := range []struct{ what, script, want string }{
		{"its own folders", `echo a >~/f && echo b >$TMPDIR/f && echo c >/tmp/f && echo yes`, "yes"},
		{"an allowed folder", `echo a >` + allowed + `/f && echo yes`, "yes"},
		{"beside its folder", `(echo a >` + dir + `/planted) 2>/dev/null || echo no`, "no"},
		{"the system", `(echo a >/etc/planted) 2>/dev/null || echo no`, "no"},
		{"the user's home", `cat ` + home + `/secret 2>/dev/null || echo no`, "no"},
		{"a file of root's", `cat /etc/shadow 2>/dev/null | wc -c`, "0"},
		{"a connection", `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ` + port + `))' 2>/dev/null || echo no`, "no"},
		{"another process", fmt.Sprintf(`kill -9 %d 2>/dev/null || echo no`, victim.Process.Pid), "no"},
		{"all processes", `(kill -9 -1) 2>/dev/null; echo yes`, ""},
		{"who it is", `test $(id -u) != 0 && ! grep CapEff /proc/self/status | cut -f2 | grep -q '[1-9a-f]' && echo yes`, "yes"},
		{"shared memory", `test -d /dev/shm && echo a >/dev/shm/f && echo yes`, "yes"},
	} {
		out, _ := start(t, r, c.script)
		if strings.TrimSpace(out) != c.want {
			t.Errorf("%s: %q, expected %q", c.what, out, c.want)
		}
	}
	if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process outside: %v", err)
	}
	if _, status := start(t, r, `kill -ABRT $$`); !status.Signaled() || status.Signal() != syscall.SIGABRT {
		t.Errorf("it ended with %v", status)
	}
	if err := r.Empty(); err != nil {
		t.Fatal(err)
	}
	if out, _ := start(t, r, `ls -A ~ $TMPDIR /dev/shm | grep -c f`); strings.TrimSpace(out) != "0" && !strings.HasPrefix(out, "/") {
		t.Errorf("emptied, it has %q files", out)
	}
}

// TestInterpreter: a script runs in a sandbox with its interpreter's installation, wherever that is: by its path or by its name, and over a
// link, as a virtual environment of Python has it.
func TestInterpreter(t *testing.T) {
	if !inSandbox(t) {
		return
	}
	installed, env := t.TempDir(), t.TempDir() // both below the temporary directory, which is hidden as a home is
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{installed + "/bin", installed + "/lib", env + "/bin"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(installed+"/bin/interpret", string(shell))
	write(installed+"/lib/part", "its own library")
	if err := os.Symlink(installed+"/bin/interpret", env+"/bin/linked"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", env+"/bin:"+os.Getenv("PATH"))
	for _, first := range []string{"#!" + env + "/bin/linked", "#! " + env + "/bin/linked -e", "#!/usr/bin/env linked", "#!/usr/bin/env -S A=1 linked -e"} {
		script := filepath.Join(t.TempDir(), "server")
		write(script, first+"\ncat "+installed+"/lib/part\n")
		f := open(t, t.TempDir())
		r, err := Make(Config{Scratch: f.Path(), Sandbox: NewSandbox(true, nil, []string{script}, "")})
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := start(t, r, script); out != "its own library" {
			t.Errorf("%s: %q", first, out)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func open(t *testing.T, parent string) *Folder {
	t.Helper()
	f, err := Open(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestRoom: a program has a home and a temporary directory, which are emptied and removed whatever is in them.
func TestRoom(t *testing.T) {
	f := open(t, t.TempDir())
	r, err := Make(Config{Scratch: f.Path()})
	if err != nil {
		t.Fatal(err)
	}
	const leave = `mkdir -p ~/a/b && echo x >~/a/b/f && echo y >$TMPDIR/f && chmod 500 ~/a ~/a/b`
	if out, status := start(t, r, leave); status != 0 {
		t.Fatalf("status %v: %s", status, out)
	}
	if err := r.Empty(); err != nil {
		t.Fatal(err)
	}
	if out, _ := start(t, r, `ls -A ~ $TMPDIR | grep -v :`); strings.TrimSpace(out) != "" {
		t.Errorf("emptied, it has %q", out)
	}
	if out, status := start(t, r, leave); status != 0 {
		t.Fatalf("status %v: %s", status, out)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Path(), "0*")); len(left) > 0 {
		t.Errorf("closed, it leaves %q", left)
	}
}

// TestLink: a program that puts links to somebody's folder where its own were does not have us remove what is in there.
func TestLink(t *testing.T) {
	mine := t.TempDir()
	for _, name := range []string{"letter", "closed/photo"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(mine, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(mine, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scratch := t.TempDir()
	h, err := Make(Config{Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(h.Dir())
	output, _ := start(t, h, `cd "$HOME/.." && rm -r home tmp && ln -s `+mine+` home && echo x >tmp && mkdir -p run/a/b && ln -s `+mine+` run/c && echo x >run/a/b/f && chmod 0 run/a`)
	if output != "" {
		t.Fatal(output)
	}
	check := func(after string) {
		t.Helper()
		for _, name := range []string{"letter", "closed/photo"} {
			if _, err := os.Stat(filepath.Join(mine, name)); err != nil {
				t.Fatalf("after %s: %v", after, err)
			}
		}
	}
	(&Folder{path: scratch}).bound(0)
	check("bounding the home")
	if err := h.Empty(); err != nil {
		t.Error(err)
	}
	check("emptying the home")
	for _, name := range folderNames {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			t.Errorf("%s is no folder: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*/*")); len(left) > 0 {
		t.Error("left:", left)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	check("removing the home")
}

// TestSweep: what was left by one who was killed is removed by the next, and nothing of those who run.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	running := open(t, parent)
	dead := filepath.Join(parent, folderPrefix+"0000000001-000")
	if err := os.MkdirAll(filepath.Join(dead, "0000", homeName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, parent)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of one who is dead: %v", err)
	}
	if _, err := os.Stat(running.Path()); err != nil {
		t.Errorf("the folder of one who runs: %v", err)
	}
}

// TestBound: the largest home is emptied, and no other one.
func TestBound(t *testing.T) {
	f := open(t, t.TempDir())
	small, err := Make(Config{Scratch: f.Path()})
	if err != nil {
		t.Fatal(err)
	}
	large, err := Make(Config{Scratch: f.Path()})
	if err != nil {
		t.Fatal(err)
	}
	start(t, small, `echo x >~/f`)
	start(t, large, `head -c 2000000 /dev/zero >~/f`)
	if held := f.bound(4 << 20); held != 0 {
		t.Errorf("below the limit: %d", held)
	}
	if held := f.bound(1 << 20); held < 2_000_000 {
		t.Errorf("above the limit: %d", held)
	}
	for r, want := range map[*Home]bool{small: true, large: false} {
		if _, err := os.Stat(filepath.Join(r.Dir(), "f")); (err == nil) != want {
			t.Errorf("%s: %v", r.Dir(), err)
		}
	}
}

// TestCaches: caches are named where they exist or are made, unless the user has named them.
func TestCaches(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HOME": home, "GOPATH": "/elsewhere"}
	env := cacheEnv(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	for want, in := range map[string]bool{"CARGO_HOME=" + home + "/.cargo": true, "npm_config_cache=" + home + "/.npm": true, "RUSTUP_HOME=" + home + "/.rustup": false, "GOPATH=" + home + "/go": false} {
		if slices.Contains(env, want) != in {
			t.Errorf("%s: %v", want, !in)
		}
	}
}

// TestImmutable: what a program has protected from being changed, as root may, is removed all the same.
func TestImmutable(t *testing.T) {
	h, err := Make(Config{Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	output, _ := start(t, h, `mkdir -p "$HOME/a/b" && echo x >"$HOME/a/b/f" && echo x >"$HOME/log" && chattr +i "$HOME/a/b/f" "$HOME/a/b" && chattr +a "$HOME/log" "$TMPDIR"; chmod 0 "$HOME/a"`)
	if output != "" {
		t.Log("attributes of files cannot be set here:", output)
	}
	if err := h.Empty(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(h.Dir()), "*/*")); len(left) > 0 {
		t.Error("left:", left)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// A program that shows a finding without teasel gives the server a home of its own too, and removes it.
func TestScriptHome(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	const use = `
env = own_home()
open(os.path.join(env["HOME"], "file"), "w").close()
open(os.path.join(env["TMPDIR"], "file"), "w").close()
print(env["HOME"], env["CARGO_HOME"])
`
	c := exec.Command(python, "-c", "import atexit, os, shutil, tempfile\n"+ScriptHome()+use)
	c.Env = []string{"HOME=" + home, "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	own, cargo, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if own == home || cargo != filepath.Join(home, ".cargo") {
		t.Errorf("the home is %s, and CARGO_HOME %s", own, cargo)
	}
	if _, err := os.Stat(filepath.Dir(own)); err == nil {
		t.Errorf("%s is left", filepath.Dir(own))
	}
}
