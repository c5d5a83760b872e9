package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Close does not wait for ever for a program that was killed and cannot end: a debugger that does not look keeps it.
func TestCloseOfATracedProcess(t *testing.T) {
	const role = "TEASEL_TEST_TRACED"
	if pid, err := strconv.Atoi(os.Getenv(role)); err == nil {
		trace(pid)
	}
	p, err := Start(Command{Args: []string{"sh", "-c", "echo up; cat"}})
	if err != nil {
		t.Fatal(err)
	}
	p.killTime = 100 * time.Millisecond
	if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	tracer := exec.Command(os.Args[0], "-test.run=^TestCloseOfATracedProcess$")
	tracer.Env = append(os.Environ(), fmt.Sprintf("%s=%d", role, p.PID()))
	stdin, err := tracer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := tracer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	if line != "tracing\n" {
		stdin.Close()
		tracer.Wait()
		p.Close()
		t.Skipf("this system lets no process trace another: %q", line)
	}
	if err := p.Close(); err == nil {
		t.Error("Close returned no error")
	}
	if !p.State().Aborted {
		t.Errorf("state %+v, want aborted", p.State())
	}
	stdin.Close() // the tracer ends, and what it kept is ours again
	tracer.Wait()
	<-p.Ended()
	p.reap()
}

// trace keeps a process from ending until standard input ends, and exits.
func trace(pid int) {
	runtime.LockOSThread()
	var status syscall.WaitStatus
	err := syscall.PtraceAttach(pid)
	if err == nil {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	if err == nil {
		err = syscall.PtraceCont(pid, 0)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("tracing")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
