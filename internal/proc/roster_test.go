package proc

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// A process of the program's that has the number of one that was there before it is not taken for that one.
func TestNumberGivenAgain(t *testing.T) {
	const lastPID = "/proc/sys/kernel/ns_last_pid"
	if f, err := os.OpenFile(lastPID, os.O_WRONLY, 0); err != nil {
		t.Skipf("skipped: what number a process gets cannot be said here: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 50 { // another process may get it
		older := exec.Command("sleep", "1000")
		if err := older.Start(); err != nil {
			t.Fatal(err)
		}
		p := start(t, `echo; read line; setsid env -i sh -c 'echo $$; exec sleep 1000' & wait`)
		said := bufio.NewReader(p.Stdout)
		if _, err := said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, ok := p.older[older.Process.Pid]; !ok {
			t.Fatal("the roster lacks what was there before")
		}
		_ = older.Process.Kill()
		_ = older.Wait()
		if err := os.WriteFile(lastPID, []byte(strconv.Itoa(older.Process.Pid-1)), 0); err != nil {
			t.Skipf("skipped: what number a process gets cannot be said here: %v", err)
		}
		if _, err := p.Stdin.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		child := number(t, said)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if alive(child) {
			t.Fatalf("process %d lives", child)
		}
		if child == older.Process.Pid {
			return
		}
	}
	t.Skip("skipped: others were always given the number first")
}

// The roster has who is there, and nobody else.
func TestRoster(t *testing.T) {
	p := start(t, "exec sleep 1000")
	before, err := newRoster()
	if err != nil {
		t.Fatal(err)
	}
	if before[p.PID()] == 0 || before[os.Getpid()] == 0 || before[0] != 0 {
		t.Errorf("the roster is %v", before)
	}
	after, err := newRoster()
	if err != nil || after[os.Getpid()] != before[os.Getpid()] {
		t.Errorf("our inode was %d and is %d, %v", before[os.Getpid()], after[os.Getpid()], err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err = newRoster(); err != nil || after[p.PID()] == before[p.PID()] {
		t.Errorf("process %d is still there, %v", p.PID(), err)
	}
}
