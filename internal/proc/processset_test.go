package proc

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// TestReusedPID: a process of the program is killed even if its number belonged to an older process before.
func TestReusedPID(t *testing.T) {
	const lastPID = "/proc/sys/kernel/ns_last_pid"
	if f, err := os.OpenFile(lastPID, os.O_WRONLY, 0); err != nil {
		t.Skipf("skipped: the number of the next process cannot be chosen here: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 50 { // another process may get the number
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
			t.Fatal("the set lacks a process that existed before the start")
		}
		_ = older.Process.Kill()
		_ = older.Wait()
		if err := os.WriteFile(lastPID, []byte(strconv.Itoa(older.Process.Pid-1)), 0); err != nil {
			t.Skipf("skipped: the number of the next process cannot be chosen here: %v", err)
		}
		if _, err := p.Stdin.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		child := number(t, said)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if alive(child) {
			t.Fatalf("process %d is still alive", child)
		}
		if child == older.Process.Pid {
			return
		}
	}
	t.Skip("skipped: other processes always got the number first")
}

// TestProcessSet: the set has the processes that exist, and no others.
func TestProcessSet(t *testing.T) {
	p := start(t, "exec sleep 1000")
	before, err := newProcessSet()
	if err != nil {
		t.Fatal(err)
	}
	if before[p.PID()] == 0 || before[os.Getpid()] == 0 || before[0] != 0 {
		t.Errorf("the set is %v", before)
	}
	after, err := newProcessSet()
	if err != nil || after[os.Getpid()] != before[os.Getpid()] {
		t.Errorf("our inode was %d and is %d, %v", before[os.Getpid()], after[os.Getpid()], err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err = newProcessSet(); err != nil || after[p.PID()] == before[p.PID()] {
		t.Errorf("process %d is still in the set, %v", p.PID(), err)
	}
}
