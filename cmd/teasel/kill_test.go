package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

// killed is a campaign that is killed again and again.
type killed struct {
	dir       string
	mark      string // in the environment of everything that it starts
	tmp       string // where it leaves the temporary files that it cannot remove any more
	announced []string
}

// newKilled builds one of plantedtest's servers, too.
func newKilled(t *testing.T, program string) (k *killed, server string) {
	t.Helper()
	server, err := plantedtest.Build(t.Context(), t.TempDir(), program)
	if err != nil {
		t.Fatal(err)
	}
	return &killed{dir: filepath.Join(t.TempDir(), "out"), tmp: t.TempDir(),
		mark: fmt.Sprintf("TEASEL_KILLED_TEST=%d.%d", os.Getpid(), time.Now().UnixNano())}, server
}

func (k *killed) command(t *testing.T, args []string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: program, Args: append([]string{"teasel"}, args...), Dir: filepath.Dir(k.dir), Env: append(os.Environ(), k.mark, "TMPDIR="+k.tmp)}
}

// How far a campaign is when the time runs that it is given until it is killed.
const (
	started   = iota
	begun     // it has said something
	announced // it has announced a finding, or none in the time patience
)

const patience = 20 * time.Second

// run starts the command and kills it a while later.
func (k *killed) run(t *testing.T, stage int, delay time.Duration, args ...string) {
	t.Helper()
	cmd := k.command(t, args)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stderr)
	var first string
	end := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	for stage > started {
		line, err := said.ReadString('\n')
		if first += line; err != nil && first == "" {
			t.Fatalf("teasel %s said nothing and ended: %v, %v", strings.Join(args, " "), err, cmd.Wait())
		}
		if err != nil || stage == begun || strings.HasPrefix(line, "FOUND ") {
			break
		}
	}
	end.Reset(delay)
	rest, err := io.ReadAll(said)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("teasel %s ended by itself: %v\n%s%s", strings.Join(args, " "), err, first, rest)
	}
	whole := first + string(rest)
	whole = whole[:strings.LastIndexByte(whole, '\n')+1]
	for line := range strings.Lines(whole) {
		if strings.HasPrefix(line, "FOUND ") {
			k.announced = append(k.announced, strings.TrimSpace(line))
		}
	}
}

// lost returns the findings that were announced and that no file has.
func (k *killed) lost(t *testing.T) (lost []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(k.dir, "findings", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f struct{ Rule, Subject, Fault string }
		if err := json.Unmarshal(data, &f); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		name := fmt.Sprintf("  %s  %s: ", f.Rule, f.Subject)
		if f.Fault != "" { // known by its cause: a simpler input may show it on another subject than the one that was announced
			name = fmt.Sprintf("  %s  ", f.Rule)
		}
		there = append(there, name)
	}
next:
	for _, line := range k.announced {
		for _, f := range there {
			if strings.Contains(line, f) {
				continue next
			}
		}
		lost = append(lost, line)
	}
	return lost
}

// left returns the processes that still carry the mark.
func (k *killed) left() (pids []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(k.mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// gone waits until none is left: they are killed when teasel dies, which takes its time.
func (k *killed) gone(t *testing.T) {
	t.Helper()
	for tries := 0; len(k.left()) > 0; tries++ {
		if tries == 600 {
			t.Fatalf("processes are left: %v", k.left())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestKilled: whenever teasel is killed, every finding that it has announced is on disk, nothing that it has started
// lives on, and the campaign can be carried on.
func TestKilled(t *testing.T) {
	for _, tt := range []struct {
		name, program string
		args          []string // behind the program
		flags         []string
	}{
		{"stdio", plantedtest.Planted, nil, nil},
		{"HTTP", "plantedhttp", []string{"-port", "{port}"}, []string{"--url", "http://127.0.0.1:{port}/mcp"}},
	} {
		t.Run(tt.name, func(t *testing.T) { killTwenty(t, tt.program, tt.args, tt.flags) })
	}
}

func killTwenty(t *testing.T, program string, behind, flags []string) {
	if testing.Short() {
		t.Skip("it starts and kills twenty campaigns")
	}
	t.Parallel()
	k, server := newKilled(t, program)
	r := rand.New(rand.NewPCG(1, 2))
	const kills, findings = 20, 10 // at least
	for i := 0; i < kills || len(k.announced) < findings && i < 4*kills; i++ {
		args := []string{"resume", k.dir, "--no-ui"}
		if i == 0 {
			args = slices.Concat([]string{"mcp", "--no-ui", "--workers", "2", "--seed", "1", "--duration", "10m", "--out", k.dir}, flags, []string{"--", server}, behind)
		}
		stage := [...]int{announced, started, begun, started}[i%4]
		k.run(t, stage, time.Duration(r.IntN(1000))*time.Millisecond, args...)
		if lost := k.lost(t); len(lost) > 0 {
			t.Fatalf("after kill %d these findings are in no file:\n%s", i+1, strings.Join(lost, "\n"))
		}
	}
	t.Logf("%d findings were announced", len(k.announced))
	if len(k.announced) < findings {
		t.Error("too few findings were announced for this test to say anything")
	}
	last := k.command(t, []string{"resume", k.dir, "--no-ui", "--runs", "1000"})
	if out, err := last.CombinedOutput(); last.ProcessState.ExitCode() != 1 {
		t.Errorf("carried on to its end, it failed: %v\n%s", err, out)
	}
	k.gone(t)
}

// TestServerKilled: a server over HTTP that is killed twenty times, or that closes all its connections, costs no finding that was announced,
// and the campaign goes on to its end.
func TestServerKilled(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"server": syscall.SIGKILL, "connections": syscall.SIGUSR1} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("a campaign of half a minute")
			}
			t.Parallel()
			k, server := newKilled(t, "plantedhttp")
			cmd := k.command(t, []string{"mcp", "--no-ui", "--seed", "1", "--duration", "30s", "--out", k.dir, "--url", "http://127.0.0.1:{port}/mcp", "--", server, "-port", "{port}"})
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			kills, running := 0, true
			for running && kills < 20 {
				select {
				case err := <-ended:
					running = false
					t.Errorf("after %d signals it has ended: %v", kills, err)
				case <-time.After(500 * time.Millisecond):
					for _, pid := range k.left() {
						if n, err := strconv.Atoi(pid); err == nil && runs(n, server) && syscall.Kill(n, sig) == nil {
							kills++
							break
						}
					}
				}
			}
			if running {
				<-ended
			}
			for line := range strings.Lines(said.String()) {
				if strings.HasPrefix(line, "FOUND ") {
					k.announced = append(k.announced, strings.TrimSpace(line))
				}
			}
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit status %d, want 1\n%s", code, said.Bytes())
			}
			if lost := k.lost(t); len(lost) > 0 {
				t.Errorf("these findings are in no file:\n%s", strings.Join(lost, "\n"))
			}
			k.gone(t)
			t.Logf("%d signals, %d findings were announced", kills, len(k.announced))
		})
	}
}

// runs reports whether a process runs a program.
func runs(pid int, program string) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && path == program
}

// TestKilledLeavesNothing: when teasel is killed, what a server has started in a session of its own ends too, and no canary is left.
func TestKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	k, server := newKilled(t, plantedtest.Wicked)
	k.run(t, begun, time.Second, "mcp", "--no-ui", "--seed", "1", "--duration", "10m", "--out", k.dir, "--", server, "fork-session")
	k.gone(t)
	if left, err := filepath.Glob(filepath.Join(k.tmp, "teasel-canary-*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}
