package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"teasel": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// status N COMMAND...: the command ends with this exit status
			"status": status,
			// findings DIR VARIABLE RULE: the file of the first finding of that rule
			"findings": finding,
		},
		RequireExplicitExec: true,
	})
}

// status runs teasel and compares its exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		_, got, _ = strings.Cut(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s (%v)", got, args[0], err)
	}
}

// finding sets a variable to the file of the first finding that names a rule.
func finding(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: findings DIR VARIABLE RULE")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "findings", "*.json"))
	ts.Check(err)
	for _, f := range files {
		if strings.Contains(ts.ReadFile(f), `"`+args[2]+`"`) {
			if neg {
				ts.Fatalf("there is a finding of %s: %s", args[2], f)
			}
			ts.Setenv(args[1], f)
			return
		}
	}
	if !neg {
		ts.Fatalf("no finding of %s among %d in %s", args[2], len(files), args[0])
	}
}
