package run

import (
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// A server that cannot be started for a second after it has ended, as one that holds a lock, is started when it can be.
func TestStartsAgainLater(t *testing.T) {
	program, lock := mcptest.BuildServer(t, plantedtest.Wicked), filepath.Join(t.TempDir(), "lock")
	const script = `if [ -n "$(find "$1" -newermt '-1 second' 2>/dev/null)" ]; then echo locked >&2; exit 3; fi
"$0" exit-each-100; status=$?; touch "$1"; exit $status`
	e := open(t, &Target{Command: server.Command{Args: []string{"sh", "-c", script, program, lock}}})
	for range 250 { // two ends of the server
		executeBatch(t, e, call("echo", `{"message":"hi"}`))
	}
}
