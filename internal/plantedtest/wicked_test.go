package plantedtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	hello = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	echo  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"m"}}}`
	said  = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"m"}]}}`
	tools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`

	bySignal = -1 // in place of an exit status: a signal ends the server
	stays    = -2 // in place of an exit status: the server does not end by itself
)

// TestWicked has a short dialogue with each wicked server. The text after a + is sent, the text after a - is expected: a whole line,
// or a regular expression between slashes. A dot closes the server's stdin.
func TestWicked(t *testing.T) {
	program, err := Build(t.Context(), t.TempDir(), Wicked)
	if err != nil {
		t.Fatal(err)
	}
	unknown := listedModes(t, program)
	for _, elsewhere := range []string{"child", "flood-line", "flood-brackets", "slow-death"} {
		delete(unknown, elsewhere)
	}
	const greeted = `/^\{"jsonrpc":"2.0","id":"init","result":\{"protocolVersion":"2025-11-25"/`
	for _, tc := range []struct {
		mode   string
		talk   []string
		status int
	}{
		{"plain", []string{"+" + hello, "-" + greeted, "+" + echo, "-" + said}, 0},
		{"exit", nil, 3},
		{"garbage", []string{"-Welcome to wicked 1.0!", "-Listening on port 8080 ...", "-\x00\x01\xfe\xff}{", "+" + hello, "-what?"}, 0},
		{"banner", []string{"-Welcome to wicked 1.0!", "+" + hello, "-" + greeted}, 0},
		{"slow-start", []string{"+" + hello, "-" + greeted}, 0},
		{"init-mute", []string{"+" + hello, "+" + echo, "-" + said}, 0},
		{"init-error", []string{"+" + hello, `-/"error":\{"code":-32603/`}, 0},
		{"init-version", []string{"+" + hello, `-/"protocolVersion":"1999-12-31"/`}, 0},
		{"init-no-info", []string{"+" + hello, `-/"capabilities":\{"tools":\{\}\}\}\}$/`}, 0},
		{"init-wrong-types", []string{"+" + hello, `-/"protocolVersion":20251125/`}, 0},
		{"init-exit", []string{"+" + hello}, 1},
		{"flood-notifications", []string{`-/notifications/`, `-/notifications/`}, stays},
		{"flood-garbage", []string{`-/^garbage garbage /`, `-/^garbage garbage /`}, stays},
		{"flood-own", []string{`-{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`, `-{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`}, stays},
		{"flood-stderr", []string{"+" + hello, "-" + greeted}, stays},
		{"flood-stderr-line", []string{"+" + hello, "-" + greeted}, stays},
		{"flood-replies", []string{"+" + echo, "-" + said, `-{"jsonrpc":"2.0","id":"unasked-0","result":{}}`}, stays},
		{"large", []string{"+" + echo, `-/^.{1,100}(\{"type":"text","text":"a"\},){900}/`}, 0},
		{"flood-requests", []string{"+" + echo, "-" + said, `-{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`}, 0},
		{"mute", []string{"+" + hello}, 0},
		{"no-newline", []string{"+" + echo, ".", "-" + said}, 0},
		{"crlf", []string{"+" + echo, "-" + said + "\r"}, 0},
		{"pretty", []string{"+" + echo, `-{"jsonrpc":"2.0",`, `-  "id":1,"result":{"content":[{"type":"text","text":"m"}]}}`}, 0},
		{"close-stdin", []string{"+" + hello, "-" + greeted}, stays},
		{"close-stdout", []string{"+" + hello, "-" + greeted}, 0},
		{"stop-reading", []string{"+" + hello, "-" + greeted, "+" + echo}, stays},
		{"partial", append(repeat(9, "+"+echo, "-"+said), "+"+echo, `-{"jsonrpc":"2.0","id":1,"result":{"co`), 1},
		{"huge", []string{"+" + echo, `-/^.{1,100}(0123456789){900}/`}, 0},
		{"deep", []string{"+" + echo, `-/\[{900}/`}, 0},
		{"stubborn", []string{"+" + echo, "-" + said}, stays},
		{"fork", nil, stays},
		{"fork-session", nil, stays},
		{"exit-each-100", repeat(100, "+"+echo, "-"+said), 0},
		{"leak-files", repeat(50, "+"+echo, "-"+said), 0},
		{"balloon", repeat(3, "+"+echo, "-"+said), 0},
		{"killed", append(repeat(9, "+"+echo, "-"+said), "+"+echo), bySignal},
		{"many-tools", []string{"+" + tools, `-/"name":"tool_00000"/`}, 0},
		{"endless-pages", repeat(3, "+"+tools, `-/"nextCursor":"more"/`), 0},
		{"fresh-pages", []string{"+" + tools, `-/"nextCursor":"page-1"/`, "+" + tools, `-/"nextCursor":"page-2"/`}, 0},
		{"bad-schema", []string{"+" + tools, `-/"\$ref":"#\/\$defs\/nothing"/`}, 0},
		{"twice", []string{"+" + echo, "-" + said, "-" + said}, 0},
		{"out-of-order", []string{"+" + echo, "+" + echo, "+" + echo, "-" + said, "-" + said, "-" + said}, 0},
		{"slow-tool", []string{"+" + tools, `-/"name":"slow"/`, "+" + echo, "-" + said}, 0},
		{"slow-tool-apart", []string{"+" + strings.Replace(echo, "echo", "slow", 1), "+" + echo, "-" + said}, 0},
		{"wrong-id", []string{"+" + echo, `-{"jsonrpc":"2.0","id":"nobody","result":{"content":[]}}`}, 0},
		{"no-tools", []string{"+" + tools, `-{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`}, 0},
		{"null-tools", []string{"+" + tools, `-{"jsonrpc":"2.0","id":2,"result":{"tools":null}}`}, 0},
	} {
		delete(unknown, tc.mode)
		t.Run(tc.mode, func(t *testing.T) {
			s := start(t, program, tc.mode)
			for _, step := range tc.talk {
				switch step[0] {
				case '+':
					s.send(step[1:])
				case '-':
					s.expect(step[1:])
				case '.':
					s.in.Close()
				}
			}
			if tc.mode == "fork" || tc.mode == "fork-session" {
				endChild(t, s, tc.mode == "fork-session")
			}
			if tc.status == stays {
				return // the cleanup of the test kills it
			}
			s.in.Close()
			for range s.lines { // further output is not checked
			}
			_ = s.cmd.Wait() // judged by the status
			if got := s.cmd.ProcessState.ExitCode(); got != tc.status {
				t.Errorf("exit status %d, want %d; stderr: %s", got, tc.status, brief(s.stderr.String()))
			}
		})
	}
	for mode := range unknown {
		t.Errorf("%s is listed and not tested", mode)
	}
}

// listedModes returns the modes that the server lists, and checks that it rejects others.
func listedModes(t *testing.T, program string) map[string]bool {
	t.Helper()
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "\t")
		all[name] = true
	}
	err = exec.Command(program, "nothing").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
		t.Errorf("an unknown mode ends with %v, want status 2", err)
	}
	return all
}

func repeat(n int, steps ...string) []string {
	var all []string
	for range n {
		all = append(all, steps...)
	}
	return all
}

// endChild finds the child that a server has started, checks that it outlives its parent, and kills it.
func endChild(t *testing.T, s *server, session bool) {
	t.Helper()
	s.send(echo)
	s.expect(said)
	announced := regexp.MustCompile(`^child ([0-9]+)\n`)
	deadline := time.Now().Add(answerTimeout)
	for !announced.MatchString(s.stderr.String()) {
		if time.Now().After(deadline) {
			t.Fatalf("no child is announced on stderr: %q", s.stderr.String())
		}
		time.Sleep(time.Millisecond)
	}
	pid, err := strconv.Atoi(announced.FindStringSubmatch(s.stderr.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the child has not outlived its parent: %v", err)
	}
	if runtime.GOOS != "linux" {
		t.Log("a process's session is read from /proc, which only Linux has")
		return
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The fields after the name in parentheses: state, parent, group, session.
	_, rest, _ := strings.Cut(string(data), ") ")
	if own := strings.Fields(rest)[3] == strconv.Itoa(pid); own != session {
		t.Errorf("the child leads a session of its own: %t, want %t", own, session)
	}
}

// TestWickedLines reads the beginning of two endless lines.
func TestWickedLines(t *testing.T) {
	program, err := Build(t.Context(), t.TempDir(), Wicked)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"flood-line", "flood-brackets"} {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, program, mode)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		some := make([]byte, 4<<20)
		if _, err := io.ReadFull(out, some); err != nil || bytes.IndexByte(some, '\n') >= 0 {
			t.Errorf("%s: the line has ended (%v)", mode, err)
		}
		cancel()
		_ = cmd.Wait() // it was killed
	}
}
