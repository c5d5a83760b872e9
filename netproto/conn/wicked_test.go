package conn

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
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

// serverMode is set where the test binary is to be a server that behaves in a certain way.
const serverMode = "TEASEL_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve(mode, os.Args[1])
		return
	}
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil { // a server that ends is to end at once
		panic(err)
	}
	os.Exit(m.Run())
}

// serve is a server of lines: what it does with a connection, its mode or the line says.
func serve(mode, port string) {
	switch mode {
	case "ends":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	case "aborts":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "unmapped":
		place, err := newPlace(1, "")
		fmt.Print(err, " ", place.remove())
		return
	case "namespaces":
		before, _ := os.Readlink("/proc/self/ns/net")
		for range 10 {
			if err := NamespaceAllowed(); err != nil {
				panic(err)
			}
		}
		after, _ := os.Readlink("/proc/self/ns/net")
		fmt.Print(before == after)
		return
	case "deaf":
		time.Sleep(time.Hour)
	case "refused": // it goes on without what it is there for
		fmt.Fprintln(os.Stderr, "bind: Operation not permitted")
		time.Sleep(time.Hour)
	case "elsewhere":
		port = "0" // any that is free: the next one is that of another server
	case "restless":
		go func() {
			for n := 0; n >= 0; n ^= 1 { // for ever
			}
		}()
	case "daemon", "twice", "second", "patient": // goes into the background, in two steps, or when somebody listens there
		next := "lines"
		if mode == "twice" {
			next = "second"
		}
		c := exec.Command(os.Args[0], port)
		c.Env, c.Stderr = append(os.Environ(), serverMode+"="+next), os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: mode != "second"}
		if err := c.Start(); err != nil {
			panic(err)
		}
		for mode == "patient" {
			if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				_ = c.Close()
				return
			}
			time.Sleep(time.Millisecond)
		}
		return
	case "stdio":
		converse(os.Stdin, os.Stdout)
		return
	case "udp":
		p, err := net.ListenPacket("udp", "127.0.0.1:"+port)
		if err != nil {
			panic(err)
		}
		for buf := make([]byte, 1<<16); ; {
			n, from, err := p.ReadFrom(buf)
			if err != nil {
				panic(err)
			}
			if string(buf[:n]) != "silence" {
				_, _ = p.WriteTo([]byte(strings.ToUpper(string(buf[:n]))), from)
			}
		}
	}
	network, at := "tcp", "127.0.0.1:"+port
	if mode == "unix" {
		network, at = "unix", port
	}
	var how net.ListenConfig
	if mode == "alone" {
		how.Control = func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 0) })
		}
	}
	l, err := how.Listen(context.Background(), network, at)
	if err != nil {
		panic(err)
	}
	if mode == "tls" {
		l = encrypted(l)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer c.Close()
			converse(c, c)
		}()
	}
}

type reader interface{ Read([]byte) (int, error) }
type writer interface{ Write([]byte) (int, error) }

func converse(r reader, w writer) {
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch line = strings.TrimSpace(line); line {
		case "silence":
		case "spin":
			for x := 0; ; x++ {
				if x == 1 {
					x = 0
				}
			}
		case "reset":
			_ = w.(*net.TCPConn).SetLinger(0)
			return
		case "bye":
			return
		case "pieces":
			_ = w.(*net.TCPConn).SetNoDelay(false) // as in other languages
			for _, piece := range []string{"PIE", "CES", "\n"} {
				_, _ = w.Write([]byte(piece))
			}
		case "half":
			_, _ = w.Write([]byte("HAL"))
		case "flood":
			for big := make([]byte, 1<<20); ; {
				if _, err := w.Write(big); err != nil {
					return
				}
			}
		case "late":
			runtime.LockOSThread()
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 50e6}, nil)
			_, _ = w.Write([]byte("LATE\n"))
		case "later":
			_ = unix.Nanosleep(&unix.Timespec{Sec: 3600}, nil)
		case "die":
			fmt.Fprintln(os.Stderr, "==1==ERROR: it dies")
			_ = syscall.Kill(os.Getpid(), syscall.SIGABRT)
		case "zombie": // it never waits for what it has started
			if err := exec.Command("true").Start(); err != nil {
				panic(err)
			}
			_, _ = w.Write([]byte("ZOMBIE\n"))
		case "fork":
			out, _ := exec.Command("sh", "-c", "x=0; while [ $x -lt 20000 ]; do x=$((x+1)); done; echo $x").Output()
			_, _ = w.Write(out)
		default:
			_, _ = w.Write([]byte(strings.ToUpper(line) + "\n"))
		}
	}
}

// open starts the test binary as a server.
func open(t *testing.T, mode, address string) (*Server, error) {
	t.Helper()
	return openIn(t, false, mode, address)
}

// openIn starts the test binary as a server, in a network namespace of its own or not.
func openIn(t *testing.T, namespace bool, mode, address string) (*Server, error) {
	t.Helper()
	a, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	port := "{port}"
	switch {
	case a.Network == Unix:
		port = "{socket}"
	case namespace:
		port = a.Port
	}
	c := Command{Args: []string{os.Args[0], port}, Env: []string{serverMode + "=" + mode, "GOMAXPROCS=2"}, Address: a, User: strconv.Itoa(os.Geteuid()), Namespace: namespace}
	if mode == "deaf" || mode == "refused" || mode == "elsewhere" || mode == "restless" {
		c.Start = 2 * time.Second
	}
	s, err := Open(context.Background(), c)
	if err != nil {
		return nil, err
	}
	network := s.network
	t.Cleanup(func() {
		spare := network.spares()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		network.gone(t, spare)
		if left := marked(s.marker()); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
		if _, err := os.Stat(s.place.Dir); err == nil {
			t.Errorf("folder %s is left", s.place.Dir)
		}
	})
	return s, nil
}

// marked returns the processes that have a variable in their environment.
func marked(assignment string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(assignment)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
