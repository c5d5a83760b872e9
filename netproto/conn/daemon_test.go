package conn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that goes into the background is followed there: it is talked to, its end is seen with its status, and it is started again.
func TestDaemon(t *testing.T) {
	for _, mode := range []string{"daemon", "twice", "patient", "lines"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var dir string
			t.Cleanup(func() { // when the server is closed
				for _, pid := range left(t, func(environ, _ string) bool { return strings.Contains(environ, markerName+"="+dir) }) {
					t.Errorf("process %s is left", pid)
				}
			})
			s, err := open(t, mode, "127.0.0.1:{port}")
			if err != nil {
				t.Fatal(err)
			}
			if s.Daemon() != (mode != "lines") {
				t.Errorf("it is a daemon: %v", s.Daemon())
			}
			for range 2 {
				c, err := s.Connect(context.Background(), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if answer, _ := talk(t, s, c, "hello\n"); answer != "HELLO\n" {
					t.Errorf("it answers %q", answer)
				}
				if _, state := talk(t, s, c, "die\n"); state != Ended {
					t.Errorf("after its death it is %v", state)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
				if d := s.Death(); d.Code != 2 || !strings.Contains(string(s.Output()), "it dies") {
					t.Errorf("it ended with %+v", d)
				}
				if err := s.Restart(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			dir = s.Dir()
		})
	}
}

// What a daemon has left behind on its way into the background does not stay.
func TestDaemonLeavesNothing(t *testing.T) {
	s, err := open(t, "twice", "127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // younger ones are not touched
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	born := fmt.Sprintf(") Z %d ", os.Getpid())
	if pids := left(t, func(_, stat string) bool { return strings.Contains(stat, born) }); len(pids) > 1 { // that of the last start
		t.Errorf("processes %v are not reaped", pids)
	}
}

// left returns the processes of which it holds.
func left(t *testing.T, holds func(environ, stat string) bool) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		environ, _ := os.ReadFile(p + "/environ")
		stat, _ := os.ReadFile(p + "/stat")
		if holds(string(environ), string(stat)) {
			pids = append(pids, filepath.Base(p))
		}
	}
	return pids
}
