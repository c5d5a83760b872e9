package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// killed is a campaign of one kind on some machines, each a process of teasel with a directory of its own, and their hub.
type killed struct {
	t        *testing.T
	dir      string // with the target
	program  string // teasel
	flags    []string
	target   []string
	soon     bool   // it finds a bug at once
	inside   string // where a machine's directory has the campaign's
	port     int
	mark     string // in the environment of all that machines start
	hub      *exec.Cmd
	machines []*exec.Cmd
	entries  map[string]bool // that the hub has acknowledged
	findings map[string]bool
}

// start starts a machine, or carries its campaign on. teasel go begins anew, with what was kept as seeds.
func (k *killed) start(i int) {
	k.t.Helper()
	out := k.out(i)
	args := slices.Concat(k.flags[:1], []string{"--out", out}, k.flags[1:])
	target := k.target
	if k.flags[0] != "go" && corpus.IsCampaign(out) {
		args, target = []string{"resume", out}, nil
	}
	args = slices.Concat(args, []string{"--no-ui", "--hub", k.url(), "--hub-name", "kills", "--hub-machine", fmt.Sprint("m", i), "--hub-hold", "100ms", "--hub-every", "300ms"}, target)
	c := exec.Command(k.program, args...)
	c.Dir, c.Env = k.dir, append(os.Environ(), k.mark)
	log, err := os.OpenFile(out+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		k.t.Fatal(err)
	}
	defer log.Close()
	c.Stderr = log
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.machines[i] = c
}

func (k *killed) out(i int) string { return filepath.Join(k.dir, fmt.Sprint("out", i)) }

func (k *killed) url() string { return "nats://127.0.0.1:" + strconv.Itoa(k.port) }

func (k *killed) startHub() {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	k.hub = exec.Command(self, "--dir", filepath.Join(k.dir, "hub"), "--listen", "127.0.0.1:"+strconv.Itoa(k.port))
	k.hub.Env = append(os.Environ(), "TEASEL_HUB_TEST=1")
	log, err := os.OpenFile(k.hubLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		k.t.Fatal(err)
	}
	defer log.Close()
	k.hub.Stderr = log
	if err := k.hub.Start(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killed) hubLog() string { return filepath.Join(k.dir, "hub.log") }

// firstHub starts a hub at a port that is free, where it is started again later.
func (k *killed) firstHub() {
	k.t.Helper()
	k.startHub()
	k.until("the hub listens", func() bool {
		text, _ := os.ReadFile(k.hubLog()) // it is there when the hub writes to it
		m := regexp.MustCompile(`listening at 127\.0\.0\.1:([0-9]+)`).FindSubmatch(text)
		if m == nil {
			return false
		}
		port, err := strconv.Atoi(string(m[1]))
		k.port = port
		return err == nil
	})
}

// kill kills a process that must still run.
func (k *killed) kill(c *exec.Cmd, what string) {
	k.t.Helper()
	_ = c.Process.Kill()
	if _ = c.Wait(); c.ProcessState.ExitCode() != -1 {
		k.t.Errorf("%s has ended by itself, with status %d", what, c.ProcessState.ExitCode())
	}
}

// note remembers what a machine knows the hub to have.
func (k *killed) note(i int) {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.out(i), k.inside, "fleet-sent"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "finding" {
			k.findings[w[1]] = true
		} else if len(w) == 3 && w[2] == "sent" {
			k.entries[w[1]] = true
		}
	}
}

// left returns the processes that machines have started and that still live.
func (k *killed) left() (pids []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(k.mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// until waits for something that comes to be, however long a busy machine takes.
func (k *killed) until(what string, ok func() bool) {
	k.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			for i := range k.machines {
				text, _ := os.ReadFile(k.out(i) + ".log")
				k.t.Logf("machine %d:\n%s", i, text[max(0, len(text)-4000):])
			}
			text, _ := os.ReadFile(k.hubLog())
			k.t.Logf("%d testcases and %d findings are acknowledged; hub:\n%s", len(k.entries), len(k.findings), text)
			k.t.Fatalf("it never came to be that %s", what)
		}
	}
}

// heard reports whether the hub has heard each of the machines that run now.
func (k *killed) heard(watch *fleet.Link) bool {
	ms, err := watch.Machines(k.t.Context(), "")
	for _, c := range k.machines {
		if !slices.ContainsFunc(ms, func(m fleet.Machine) bool { return strings.Contains(m.Instance, fmt.Sprintf(" %d ", c.Process.Pid)) }) {
			return false
		}
	}
	return err == nil
}

// Campaigns of all kinds, whose machines and hub are killed at random moments: the hub has every testcase and every finding that it has
// acknowledged, once, and no process is left. FLEET_KILLS is how often; scripts/fleet-kills.sh does it many times.
func testKills(t *testing.T, program string) {
	kills, machines := number(t, "FLEET_KILLS", 2), number(t, "FLEET_MACHINES", 2)
	for _, kind := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		flags   []string
		target  []string // behind the flags
		inside  string
	}{
		{"mcp", nil, nil, []string{"--", program, "demo-server"}, ""},
		{"native", func(t *testing.T, dir string) {
			copyFiles(t, dir, "examples/native/record.c", "examples/native/record.h", "examples/native/harness.c")
			command(t, dir, program, "cc", "-g", "-O1", "-fsanitize=fuzzer,address", "record.c", "harness.c", "-o", "harness")
		}, nil, []string{"--", "./harness"}, ""},
		{"net", func(t *testing.T, dir string) {
			copyFiles(t, dir, "netproto/testdata/planted/server.c", "netproto/testdata/planted/planted.yaml")
			command(t, dir, "clang", "-g", "-O1", "server.c", "-o", "planted")
		}, []string{"--user", strconv.Itoa(os.Getuid()), "--model", "planted.yaml", "--connect", "127.0.0.1:{port}"}, []string{"--", "./planted", "{port}"}, ""},
		{"go", func(t *testing.T, dir string) {
			copyFiles(t, dir, "examples/gofunc/clock.go", "examples/gofunc/clock_test.go")
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/clock\n\ngo 1.24\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, nil, nil, "example.com/clock/FuzzMinutes"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("clang"); err != nil && (kind.name == "native" || kind.name == "net") {
				t.Skip("clang is not installed")
			}
			dir := t.TempDir()
			if kind.prepare != nil {
				kind.prepare(t, dir)
			}
			k := &killed{t: t, dir: dir, program: program, flags: append([]string{kind.name}, kind.flags...), target: kind.target, inside: kind.inside, soon: kind.name != "net", machines: make([]*exec.Cmd, machines),
				mark: fmt.Sprintf("TEASEL_KILLS_TEST=%d.%s", os.Getpid(), kind.name), entries: map[string]bool{}, findings: map[string]bool{}}
			k.run(kills)
		})
	}
}

func (k *killed) run(kills int) {
	t := k.t
	defer func() {
		for _, c := range append(k.machines, k.hub) {
			if c != nil && c.ProcessState == nil {
				_ = c.Process.Kill()
				_ = c.Wait()
			}
		}
	}()
	k.firstHub()
	for i := range k.machines {
		k.start(i)
	}
	watch, err := fleet.Dial(fleet.Config{URL: k.url(), Campaign: "kills", Machine: "watch"})
	if watch == nil {
		t.Fatal(err)
	}
	defer watch.Close()
	k.until("all machines run", func() bool { return k.heard(watch) })
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	hubs := 0
	for n := range kills {
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
		if n%2 == 0 {
			hubs++
			k.kill(k.hub, "the hub")
			time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			k.startHub()
			continue
		}
		i := r.IntN(len(k.machines))
		k.kill(k.machines[i], fmt.Sprint("machine ", i))
		k.note(i)
		k.start(i)
	}
	k.until("all machines run and something has reached the hub", func() bool {
		for i := range k.machines {
			k.note(i)
		}
		return len(k.entries) > 0 && (len(k.findings) > 0 || !k.soon) && k.heard(watch)
	})
	for _, c := range k.machines {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range k.machines {
		_ = c.Wait() // its status says what it has found
		if c.ProcessState.ExitCode() < 0 {
			t.Errorf("machine %d: %v", i, c.ProcessState)
		}
		k.note(i)
	}
	k.until("no process is left", func() bool { return len(k.left()) == 0 })
	k.check(watch)
	t.Logf("%d kills, %d of them of the hub: the hub has acknowledged %d testcases and %d findings", kills, hubs, len(k.entries), len(k.findings))
}

// check compares what was acknowledged with what the hub has.
func (k *killed) check(watch *fleet.Link) {
	t := k.t
	onHub := map[string]bool{}
	for at := uint64(0); ; {
		es, last, n, err := watch.Pull(t.Context(), at, 500)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		for _, e := range es {
			if onHub[e.Key] {
				t.Errorf("testcase %s is there twice", e.Key)
			}
			onHub[e.Key] = true
		}
		at = last
	}
	best, err := watch.Best(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]bool{}
	for _, f := range best {
		stored[f.Finding.ID()] = true
	}
	missing := func(acknowledged, there map[string]bool) (n int) {
		for name := range acknowledged {
			if !there[name] {
				n++
			}
		}
		return n
	}
	if e, f := missing(k.entries, onHub), missing(k.findings, stored); e+f > 0 {
		t.Errorf("%d testcases and %d findings were acknowledged, and the hub does not have them", e, f)
	}
}
