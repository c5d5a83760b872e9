package plantedtest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// The servers in mcp/testdata that Build can compile.
const (
	Planted = "planted" // conforms to the specification except for the bugs that its flag -bugs names
	Wicked  = "wicked"  // misbehaves in the way that its first argument names
)

// Build compiles a server into dir and returns the program's path. It needs the go command, and the working directory
// to be inside of this module. It may be called concurrently with different directories.
func Build(ctx context.Context, dir, server string) (string, error) {
	program := filepath.Join(dir, server)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/teaselfuzz/teasel/mcp/testdata/"+server)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", server, err, out)
	}
	return program, nil
}
