package proc

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOutside: a process waits for something outside if it has a connection to it, or a child that works, and not otherwise.
func TestOutside(t *testing.T) {
	if Outside(os.Getpid()) {
		t.Skip("this process has a connection")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if Outside(os.Getpid()) {
		t.Error("a listener counts")
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if Outside(os.Getpid()) {
		t.Error("a connection to itself, which nobody has accepted, counts")
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if Outside(os.Getpid()) {
		t.Error("a connection to itself counts")
	}
	client.Close()
	server.Close()

	other := exec.Command("sh", "-c", "while :; do :; done")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "a child works", func() bool { return Outside(os.Getpid()) })
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	idle := exec.Command("sleep", "600")
	if err := idle.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "a child sleeps", func() bool { return !Outside(os.Getpid()) })
	_ = idle.Process.Kill()
	_ = idle.Wait() // it was killed
}

// TestOutsideWrapper: a program that a wrapper has started is no child of it, and a child that writes elsewhere is.
func TestOutsideWrapper(t *testing.T) {
	for output, want := range map[string]bool{"": false, "> /dev/zero": true} {
		wrapper := exec.Command("sh", "-c", "sh -c 'while :; do :; done' "+output+" & echo $!; wait")
		said, err := wrapper.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := wrapper.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(said).ReadString('\n')
		if child, _ := strconv.Atoi(strings.TrimSpace(line)); err != nil || child <= 0 {
			t.Fatalf("it said %q, %v", line, err)
		} else {
			waitUntil(t, "the program works", func() bool {
				return works(child) && !works(wrapper.Process.Pid) && (outputOf(child) == "/dev/zero") == want
			})
			if outside, itself := Outside(wrapper.Process.Pid), Works(wrapper.Process.Pid); outside != want || itself == want {
				t.Errorf("with the output %q it waits for something outside: %v, works itself: %v", output, outside, itself)
			}
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
		_ = wrapper.Wait() // its child was killed
	}
}

// TestOutsideConnection: a connection to another process counts for who has made it, and not for who has accepted it.
func TestOutsideConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := exec.Command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$0; read x <&3", portOf(listener))
	if err := client.Start(); err != nil {
		t.Skipf("no client: %v", err)
	}
	defer func() { _ = client.Process.Kill(); _ = client.Wait() }()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	waitUntil(t, "it is connected to us", func() bool { return Outside(client.Process.Pid) })
	if Outside(os.Getpid()) {
		t.Error("a client that waits for us counts")
	}
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String()) // it is well formed
	return port
}

// waitUntil waits until something holds, for which a test has all the time it is given.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("it is not seen that %s", what)
}
