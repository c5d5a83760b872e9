package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/servertest"
	"github.com/teaselfuzz/teasel/netproto"
)

// The messages from a client to a server in a capture of tcpdump become seeds of a campaign on that server.
func TestCaptureBecomesSeeds(t *testing.T) {
	redis := servertest.Find(t, "redis")
	redis.Require(t)
	conversation := [][]string{{"SET", "colour", "green"}, {"LPUSH", "list", "one", "two"}, {"EVAL", "return redis.call('get', KEYS[1])", "1", "colour"}}
	file, port := recordRedis(t, redis, conversation)
	if file == "" { // made in the same way: tcpdump -i lo -Z root -w redis.pcap tcp port 24242
		file, port = "testdata/redis.pcap", 24242
	}
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs("../../examples/net/redis.yaml")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"without a model", nil, "messages are bytes, a new connection for each dialogue; 6 seeds, 3 of them from captures"},
		{"with a model", []string{"--model", model}, " seeds, 3 of them from captures"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := append([]string{"teasel", "net", "--no-ui", "--seed", "1", "--runs", "300", "--out", out, "--pcap", fmt.Sprintf("%s:%d", file, port)}, test.args...)
			args = append(append(args, "--connect", "127.0.0.1:{port}", "--"), redis.Command(t, "")...)
			var stdout, stderr bytes.Buffer
			c := &exec.Cmd{Path: program, Args: args, Stdout: &stdout, Stderr: &stderr}
			if err := c.Run(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, stdout.String(), stderr.String())
			}
			if !strings.Contains(stderr.String(), test.says) || !strings.Contains(stdout.String(), "Nothing found") {
				t.Errorf("standard error %s\nwant %q in it; standard output %s", stderr.String(), test.says, stdout.String())
			}
			seeds, err := filepath.Glob(filepath.Join(out, "seeds", "valid", "*"))
			if err != nil {
				t.Fatal(err)
			}
			var text []byte
			for _, seed := range seeds {
				data, err := os.ReadFile(seed)
				if err != nil {
					t.Fatal(err)
				}
				text = append(text, data...)
			}
			for _, command := range conversation {
				if !bytes.Contains(text, []byte(command[0])) {
					t.Errorf("no seed has %q in it, of %d", command[0], len(seeds))
				}
			}
		})
	}
}

// recordRedis has redis-cli talk to a redis server, a connection for each command, and captures that. It returns no file where
// nobody may capture.
func recordRedis(t *testing.T, redis servertest.Server, conversation [][]string) (file string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	args := servertest.Fill(redis.Command(t, ""), port, servertest.Folder(t))
	server := exec.Command(args[0], args[1:]...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	waitFor(t, "an answer of the server", func() bool { return exec.Command("redis-cli", "-p", fmt.Sprint(port), "PING").Run() == nil })
	file = filepath.Join(t.TempDir(), "session.pcap")
	capture := exec.Command("tcpdump", "-i", "lo", "-Z", "root", "-U", "--immediate-mode", "-w", file, "tcp", "port", fmt.Sprint(port))
	said, err := capture.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := capture.Start(); err != nil {
		t.Logf("there is no capture: %v", err)
		return "", 0
	}
	defer func() {
		_ = capture.Process.Kill()
		_ = capture.Wait()
	}()
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || !strings.Contains(line, "listening") {
		t.Logf("there is no capture: %s", line)
		return "", 0
	}
	for _, command := range conversation {
		if text, err := exec.Command("redis-cli", append([]string{"-p", fmt.Sprint(port)}, command...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	waitFor(t, "all connections in the capture", func() bool {
		found, err := netproto.ReadCapture(file, port, nil)
		return err == nil && len(found) == len(conversation)
	})
	return file, port
}

// waitFor waits for what other processes do.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("waited five minutes in vain for %s", what)
}
