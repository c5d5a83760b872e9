package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp"
)

// remains is what a run leaves nothing of, however it ends: what servers have started, and the file that no server may
// read, if there is a place for it.
type remains struct {
	guardian *proc.Guardian // nil: there is none
	canary   *mcp.Canary    // nil: there is none
}

// guard sees to it that nothing is left when teasel is killed.
func (r *remains) guard(stderr io.Writer) {
	g, err := proc.Guard(proc.Kin(), "")
	if err != nil {
		fmt.Fprintf(stderr, "teasel: warning: %v: what servers start may be left behind if teasel is killed\n", err)
		return
	}
	r.guardian = g
}

// place gives the target a canary, away from everything that the user has named, variables that are handed on by name too.
func (r *remains) place(target *mcp.Target, vars []string, stderr io.Writer) {
	env := slices.Clone(vars)
	for i, v := range env {
		if !strings.Contains(v, "=") {
			env[i] = v + "=" + os.Getenv(v)
		}
	}
	placed, err := mcp.PlaceCanary(target.Command, env, target.Dir)
	if err != nil {
		fmt.Fprintf(stderr, "teasel: warning: %v: path traversal is not looked for\n", err)
		return
	}
	r.canary, target.Canary = placed, placed
	if r.guardian != nil {
		for _, path := range placed.Places() {
			_ = r.guardian.Remove(path) // without a guardian it is removed all the same, mostly
		}
	}
}

func (r *remains) close() {
	if r.canary != nil {
		_ = r.canary.Remove() // it is in a directory for temporary files
	}
	if r.guardian != nil {
		_ = r.guardian.Close() // what it should have done is done
	}
}
