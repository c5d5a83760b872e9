package run

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestEndInsideLine: a server whose input ends in the middle of a line reads nothing behind that.
func TestEndInsideLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "said")
	target := lateTarget()
	target.Command = append([]string{"sh", "-c", `tee "$0.$$" | "$@"`, file}, target.Command...)
	e := open(t, target)
	execute(t, e, script.NewFresh("", append(script.Handshake(session.Versions[len(session.Versions)-1]), script.Step{Line: []byte("half"), NoNewline: true, Close: true})...))
	names, err := filepath.Glob(file + ".*") // one of each process
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("half")) {
			said++
			if !bytes.HasSuffix(data, []byte("\nhalf")) {
				t.Errorf("it was sent %q", data)
			}
		}
	}
	if said != 1 {
		t.Errorf("it was said to %d of %d servers", said, len(names))
	}
}

// TestNothingAfterTheEnd: that nothing can be said any more once the input has ended is no fault of the server's.
func TestNothingAfterTheEnd(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	s := &server{Transport: &conn.Transport{Proc: &proc.Process{Stdin: out}}, out: []byte("{}\n")}
	s.CloseInput()
	r := &round{server: s}
	if err := new(executor).flush(t.Context(), r); err != nil || r.broken || s.written != len(s.out) {
		t.Errorf("%d bytes are done with, %v; the server takes no more: %v", s.written, err, r.broken)
	}
}
