package main

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

// TestServerGone: a server that runs already, and ends in the middle of a campaign, is a finding and no failure of teasel's.
func TestServerGone(t *testing.T) {
	t.Parallel()
	program, err := plantedtest.Build(t.Context(), t.TempDir(), "plantedhttp")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	server := exec.CommandContext(t.Context(), program, "-mortal", "-port", address[strings.LastIndexByte(address, ':')+1:])
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	k := &killed{dir: filepath.Join(t.TempDir(), "out"), tmp: t.TempDir(), mark: "TEASEL_GONE_TEST=1"}
	cmd := k.command(t, []string{"mcp", "--no-ui", "--duration", "10m", "--seed", "1", "--out", k.dir, "--url", fmt.Sprintf("http://%s/mcp", address)})
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("%v, want exit status 1\n%s%s", err, out.Bytes(), log.Bytes())
	}
	for _, want := range []string{"mcp/server-gone", "takes no connections any more", "> {", "not teasel's to start again"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.Bytes())
		}
	}
	if files, _ := filepath.Glob(filepath.Join(k.dir, "unconfirmed", "*.json")); len(files) == 0 {
		t.Error("no finding is on disk")
	}
	<-ended
}
