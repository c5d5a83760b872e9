package mcpserver

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// cleanup removes what a run must not leave behind, however it ends: processes that servers have started, and the canary, a file that
// no server may read.
type cleanup struct {
	guardian *proc.Guardian // ends the processes when teasel is killed; nil: there is none
	canary   *script.Canary // nil: there is none
}

// guard starts the guardian.
func (c *cleanup) guard(stderr io.Writer) {
	g, err := proc.Guard(proc.MarkerPrefix(), "")
	if err != nil {
		fmt.Fprintf(stderr, "teasel: warning: %v: what servers start may be left behind if teasel is killed\n", err)
		return
	}
	c.guardian = g
}

// placeCanary gives the target a canary, in no directory that the command or its environment names. vars may have variables without
// a value, which are inherited.
func (c *cleanup) placeCanary(target *mcprun.Target, vars []string, stderr io.Writer) {
	env := slices.Clone(vars)
	for i, v := range env {
		if !strings.Contains(v, "=") {
			env[i] = v + "=" + os.Getenv(v)
		}
	}
	placed, err := script.PlaceCanary(target.Args, env, target.Dir)
	if err != nil {
		fmt.Fprintf(stderr, "teasel: warning: %v: path traversal is not looked for\n", err)
		return
	}
	c.canary, target.Canary = placed, placed
	if c.guardian != nil {
		for _, path := range placed.Places() {
			_ = c.guardian.Remove(path) // if the guardian is gone, close removes it
		}
	}
}

// close removes the canary and ends the guardian.
func (c *cleanup) close() {
	if c.canary != nil {
		_ = c.canary.Remove() // if it fails, a temporary file is left
	}
	if c.guardian != nil {
		_ = c.guardian.Close() // its work is done
	}
}
