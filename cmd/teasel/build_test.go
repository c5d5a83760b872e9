package main

import (
	"context"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// buildProgram builds a program for a script.
func buildProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: build PROGRAM ARG...")
	}
	c := clang.Compiler{}
	if args[1] == "--source-coverage" {
		c.Source, args = true, append(args[:1:1], args[2:]...)
	}
	argv, err := c.Command(context.Background(), append([]string{"-o", ts.MkAbs(args[0])}, args[1:]...))
	ts.Check(err)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = ts.MkAbs(".")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%v: %v\n%s", argv, err, out)
	}
}
