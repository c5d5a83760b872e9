package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/compiler"
	"github.com/teaselfuzz/teasel/netproto/conn"
)

func TestMain(m *testing.M) {
	teasel := func() { os.Exit(run(context.Background(), compiler.Invoked(os.Args), os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"teasel": teasel, "teasel-cc": teasel, "teasel-c++": teasel})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	cache := t.TempDir() // one runtime for all scripts
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	goCache, modCache := goCaches(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("GORACE", os.Getenv("GORACE")) // scripts have no environment of ours, and scripts/test.sh sets it
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer free.Close()
			e.Setenv("PORT", strconv.Itoa(free.Addr().(*net.TCPAddr).Port)) // for a server whose port is fixed
			e.Setenv("GOCACHE", goCache)
			e.Setenv("GOMODCACHE", modCache)
			e.Setenv("ME", strconv.Itoa(os.Getuid()))                                                       // a server that runs as nobody may not look into the script's folder
			for name, folder := range map[string]string{"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"} { // scripts have no home
				value := os.Getenv(name)
				if value == "" {
					value = filepath.Join(home, folder)
				}
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// status N COMMAND...: the command ends with this exit status
			"status": status,
			// findings DIR VARIABLE NAME: the file of the first finding with that rule or subject
			"findings": finding,
			// build PROGRAM ARG...: builds a program as teasel cc does
			"build": buildProgram,
			// page PATTERN... -- COMMAND...: the state and the metrics of the page that the command serves come to match the patterns
			"page": servesPage,
			// json FILE PATH=VALUE...: the object in the file has these values, for example findings.0.rule=native/abort
			"json": jsonHas,
		},
		// crates: the crates that examples/rust needs are on this machine. namespaces: network namespaces can be made here
		Condition: func(cond string) (bool, error) {
			if cond == "namespaces" {
				return conn.NamespaceAllowed() == nil, nil
			}
			if cond != "crates" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			fetch := exec.Command("cargo", "fetch", "--locked", "--offline")
			fetch.Dir = filepath.Join(examples, "rust", "fuzz")
			return fetch.Run() == nil, nil
		},
		RequireExplicitExec: true,
	})
}

// goCaches returns the caches of the go command, for programs that are given another home or cache: they would build the standard library
// anew.
func goCaches(t *testing.T) (builds, modules string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	builds, modules, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return builds, modules
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

// jsonHas compares values of an object.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH=VALUE...")
	}
	var root any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&root))
	for _, a := range args[1:] {
		path, want, _ := strings.Cut(a, "=")
		at := root
		for key := range strings.SplitSeq(path, ".") {
			switch v := at.(type) {
			case map[string]any:
				at = v[key]
			case []any:
				n, err := strconv.Atoi(key)
				if key == "length" {
					at = len(v)
				} else if ts.Check(err); n < len(v) {
					at = v[n]
				} else {
					at = nil
				}
			}
		}
		if got := fmt.Sprint(at); got != want {
			ts.Fatalf("%s: %s is %s, want %s", args[0], path, got, want)
		}
	}
}
