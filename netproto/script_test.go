package netproto

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// The program shows the bug without teasel, and nothing on the clean twin.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	in := dialogue.Raw(request(1, "it's \"me\"\\\n"), request(7, "!!"))
	for name, dies := range map[string]bool{"bad": true, "clean": false} {
		var flags []string
		if !dies {
			flags = []string{"-DCLEAN"}
		}
		target := plantedTarget(t, planted(t, "clang", flags...))
		target.Model = nil
		text, err := target.Script(in, "a \"crash\" of the server", 1, "")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "repro.py")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", file).CombinedOutput()
		if (err != nil) != dies || strings.Contains(string(out), "the server has died: status -4") != dies {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// The program carries on the values that the server gives out, which differ in every run.
func TestScriptCaptures(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	m, err := model.Load("testdata/planted/session.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{"bad": nil, "clean": {"-DCLEAN"}} {
		target := plantedTarget(t, plantedSource(t, "session.c", "clang", flags...))
		target.Model = m
		text, err := target.Script(target.Seeds()[0].Input, "a crash", 1, "")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "repro.py")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", file).CombinedOutput()
		if dies := name == "bad"; (err != nil) != dies || strings.Contains(string(out), "the server has died: status -6") != dies {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// What was sent in the run that a finding tells of is sent where a value cannot be taken from a response in a simple way.
func TestScriptOfOneRun(t *testing.T) {
	m, err := model.Load("testdata/planted/session.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m.Responses = nil
	target := Target{Address: "127.0.0.1:{port}", Model: m}
	e := judge.Evidence{Talk: []judge.Turn{{Received: []byte("hi\n")}, {Name: "hello", Sent: []byte{1}}, {Name: "auth", Sent: []byte("\x02\xfe\"> \n")}, {Sent: make([]byte, 600)}}}
	text, err := target.Script(target.Seeds()[0].Input, "a crash: \x1b[2J\x00\x9b\u009b\u202e\r\n", 1, e.Transcript())
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		t.Errorf("something else than text in\n%q", text)
	}
	if want := `"auth", b"\x02\xfe\"> \x0a")`; !strings.Contains(text, want) {
		t.Errorf("no message %s in\n%s", want, text)
	}
}

// What the program says of a server that was started as the target has it.
func TestScriptStartsServerAsTarget(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	dir := t.TempDir()
	hang := plantedTarget(t, planted(t, "clang"))
	hang.Model = nil
	boot := extended(t, "\nbootstrap: [{send: note}]\n")
	twice := &dialogue.Dialogue{Messages: append(dialogue.Seeds(boot.Model)[0].Messages[:1:1], dialogue.Seeds(boot.Model)[0].Messages[0])}
	twice.Messages[1].Reconnect = true
	for _, tt := range []struct {
		name   string
		target Target
		in     *dialogue.Dialogue
		says   string
		times  int
		dies   bool
	}{
		{"hang", hang, dialogue.Raw(request(8, "\xff")), "goes on using processor time", 1, true},
		{"bootstrap", boot, twice, "> note", 2, false},
		{"environment", Target{Address: "stdio", Command: []string{"/bin/sh", "-c", "echo $PLACE $PWD"}, Env: []string{"PLACE=here"}, Dir: dir},
			dialogue.Raw([]byte("hello")), "here " + dir, 1, false},
		{"user", Target{Address: "stdio", Command: []string{"/bin/sh", "-c", "echo as $(id -u)"}, User: strconv.Itoa(os.Geteuid())},
			dialogue.Raw([]byte("hello")), "as " + strconv.Itoa(os.Geteuid()), 1, false},
	} {
		text, err := tt.target.Script(tt.in, tt.name, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "repro.py")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", file).CombinedOutput()
		if (err != nil) != tt.dies || strings.Count(string(out), tt.says) != tt.times {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
	}
}
