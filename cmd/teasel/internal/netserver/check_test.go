package netserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// execute runs one command by itself.
func execute(cmd *cobra.Command, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

func TestNewModelsPassTheCheck(t *testing.T) {
	for _, args := range [][]string{{"some-protocol"}, {"--text", "chat"}} {
		dir := t.TempDir()
		name := args[len(args)-1]
		args[len(args)-1] = filepath.Join(dir, name)
		if _, _, err := execute(newNew(), args...); err != nil {
			t.Fatal(err)
		}
		out, stderr, err := execute(newCheck(), filepath.Join(dir, name+".yaml"))
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		for _, want := range []string{name, "seed talk", "the same bytes", "state start"} {
			if !strings.Contains(out, want) {
				t.Errorf("check of %s does not say %q:\n%s", name, want, out)
			}
		}
		if _, _, err := execute(newNew(), args...); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("the file was written over: %v", err)
		}
	}
}

func TestCheckSaysWhereTheMistakeIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	model := "teasel-model: 1\nmessages:\n  m:\n    seq:\n      - {id: length, type: u2}\n      - {id: text, type: str, size: lenght}\n"
	if err := os.WriteFile(file, []byte(model), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := execute(newCheck(), file)
	if err == nil || !strings.Contains(err.Error(), file+":6:9: m.text: size uses lenght, but no field before it has that name") {
		t.Errorf("error %v", err)
	}
	if e, ok := err.(*exit.Error); !ok || e.Status != exit.StatusUsage || e.Hint != "did you mean length?" {
		t.Errorf("error %#v", err)
	}
}

func TestExamplesPassTheCheck(t *testing.T) {
	files, err := filepath.Glob("../../../../examples/net/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example models: %v", err)
	}
	if _, stderr, err := execute(newCheck(), files...); err != nil {
		t.Errorf("%v\n%s", err, stderr)
	}
}
